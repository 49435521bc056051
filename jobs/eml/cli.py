"""The command line, `eml COMMAND ...`.

Called by the console script; calls the `add_parser` of each subcommand's module, listed in `COMMANDS`, and then the
function that module chose. It knows no command's options and none of the learning.
"""

import argparse
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from eml import __version__
from eml.bench import command as bench
from eml.evaluate import command as evaluate
from eml.local import capture_command, replay_command, stack_command, topics_command
from eml.local import command as local
from eml.operations import (
    check_command,
    dead_letters_command,
    doctor_command,
    init_command,
    status_command,
    tail_command,
)
from eml.terminal import OK, STATUSES, USAGE, Parser, examples, set_run
from eml.watch import command as watch

AddParser = Callable[["argparse._SubParsersAction[argparse.ArgumentParser]"], None]

# One line per subcommand. Its `add_parser(subparsers)` adds a parser and ends with `set_run(parser, function)` of
# `terminal`; the function takes the parsed arguments and returns the exit status.
COMMANDS: tuple[AddParser, ...] = (  # as a user meets them
    local.add_parser,
    stack_command.add_parser,
    init_command.add_parser,
    doctor_command.add_parser,
    topics_command.add_parser,
    status_command.add_parser,
    watch.add_parser,
    tail_command.add_parser,
    dead_letters_command.add_parser,
    check_command.add_parser,
    capture_command.add_parser,
    replay_command.add_parser,
    bench.add_parser,
    evaluate.add_parser,
)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser: argparse.ArgumentParser = Parser(
        prog="eml", description="Evolving metric learning for sensor fleets.", epilog=_statuses()
    )
    parser.add_argument("--version", action="version", version=f"eml {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for add_parser in COMMANDS:
        add_parser(subparsers)
    _add_completion(subparsers, parser)
    return parser


def _add_completion(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]", whole: argparse.ArgumentParser
) -> None:
    completion = subparsers.add_parser(
        "completion",
        help="completion of commands and options for a shell",
        description="Prints a script that has the shell complete commands, options and files.",
        epilog=examples('eval "$(eml completion bash)"        # or in ~/.bashrc', 'eval "$(eml completion zsh)"'),
    )
    completion.add_argument("shell", choices=("bash", "zsh"))
    set_run(completion, lambda arguments: _complete(whole, arguments.shell))


def _complete(parser: argparse.ArgumentParser, shell: str) -> int:
    import shtab  # noqa: PLC0415  an optional extra

    for each in parsers(parser):
        for action in each._actions:  # noqa: SLF001  argparse lists them nowhere else
            if action.type is Path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks
    sys.stdout.write(shtab.complete(parser, shell))
    return OK


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser and those of its subcommands."""
    yield parser
    for action in parser._actions:  # noqa: SLF001  argparse lists its subcommands nowhere else
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from parsers(inner)


def _statuses() -> str:
    return "\n".join(["exit status:", *(f"  {number:<5} {meaning}" for number, meaning in STATUSES.items())])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command named by `argv` and return its exit status; 2, with the help, where none is named."""
    logging.getLogger("eml").addHandler(logging.NullHandler())  # a command says itself what is wrong
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if "run" not in arguments:
        parser.print_help(sys.stderr)
        return USAGE
    status: int = arguments.run(arguments)
    return status
