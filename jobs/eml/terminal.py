"""What the commands of `eml` share: options, messages, exit statuses, colours.

Called by `eml.cli` and by every command's module; imports nothing heavy, so `eml --help` stays quick. It knows no
command, and of our errors only that they carry the exit status to end with.
"""

import argparse
import difflib
import functools
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from eml.settings import Settings

OK = 0
PROBLEM = 1  # the command ran and what it looked at is not well, or it failed
USAGE = 2  # the command line or the settings are wrong
UNREACHABLE = 3  # broker or registry cannot be reached, or refuse us
INTERRUPTED = 130  # by Ctrl-C, as shells count it
STATUSES = {  # for the help and the documentation
    OK: "all went well",
    PROBLEM: "the command failed, or what it looked at is not well",
    USAGE: "the command line or the settings are wrong",
    UNREACHABLE: "Kafka or the schema registry cannot be reached, or refuses us",
    INTERRUPTED: "ended by Ctrl-C",
}
SETTINGS_FILE = Path("eml.toml")  # taken where it lies in the current folder and no other is named
QUIET_S = 1.0  # until a wait is worth a word
COLOURS = {"ok": 32, "warn": 33, "fail": 31, "bold": 1, "dim": 2}  # ANSI's numbers

Run = Callable[[argparse.Namespace], int]


class CommandError(Exception):
    """What ends a command: one line that names the setting or option and the fix."""

    def __init__(self, message: str, status: int = PROBLEM) -> None:
        super().__init__(message)
        self.exit_status = status


class _HelpFormatter(argparse.HelpFormatter):
    """Breaks a text into lines, but for one that has lines of its own: examples keep them."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line that names the nearest known name; its subparsers are of this class, too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  argparse's own
        kwargs.setdefault("formatter_class", _HelpFormatter)
        super().__init__(*args, **kwargs)

    def error(self, message: str) -> NoReturn:
        """End with one line and the status of a wrong command line."""
        self.exit(USAGE, f"{self.prog}: {message} (`{self.prog} --help` shows what there is)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401
        """Refuse an option that this command does not have; a subparser takes all that follows its name."""
        if self._subparsers is None:  # before argparse misses what was meant
            given = sys.argv[1:] if args is None else list(args)
            self._refuse_unknown(one for one in given[: [*given, "--"].index("--")] if one.startswith("--"))
        namespace, others = super().parse_known_args(args, namespace)
        self._refuse_unknown(others)
        return namespace, others

    def _refuse_unknown(self, options: Iterable[str]) -> None:
        for option in options:
            name = option.partition("=")[0]
            known = name.startswith("--") and any(each.startswith(name) for each in self._option_string_actions)
            if option.startswith("-") and not known:
                self.error(f"there is no option {option}{_nearest(name, self._option_string_actions)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401
        if action.choices is None or value in action.choices:
            return
        what = "command" if isinstance(action, argparse._SubParsersAction) else "such choice"
        known = [str(choice) for choice in action.choices]
        raise argparse.ArgumentError(
            None if what == "command" else action,
            f"there is no {what} {str(value)!r}{_nearest(str(value), known)} (known: {', '.join(known)})",
        )


def _nearest(name: str, known: Iterable[str]) -> str:
    """A question with the nearest known name, or nothing."""
    near = difflib.get_close_matches(name, known, n=1)
    return f": did you mean {near[0]}?" if near else ""


# -- what every command has --------------------------------------------------------------------------------------------


def set_run(parser: argparse.ArgumentParser, run: Run, extra: str = "local") -> None:
    """Have the command run `run`, and end in one line where that fails; `extra` has the packages it needs."""
    parser.add_argument("--debug", action="store_true", help="show the Python traceback of an error")
    parser.set_defaults(run=functools.partial(_guarded, run, parser.prog, extra))


def _guarded(run: Run, name: str, extra: str, arguments: argparse.Namespace) -> int:
    try:
        status = run(arguments)
        sys.stdout.flush()  # a reader that went away is noticed here, not at the interpreter's end
    except BrokenPipeError:  # as under `| head`: the reader has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the exit would try to flush once more
        return OK
    except KeyboardInterrupt as stop:  # may say what is kept
        sys.stderr.write(f"{name}: interrupted{'; ' if str(stop) else ''}{stop}\n")
        return INTERRUPTED
    except Exception as error:
        if arguments.debug:
            traceback.print_exc()
        message, status = _explained(error, extra)
        if message is None:
            raise
        sys.stderr.write(f"{name}: {message}\n")
    return status


def _explained(error: Exception, extra: str) -> tuple[str | None, int]:
    """What to say and to end with; no message for a fault of our own, whose traceback is wanted."""
    if isinstance(error, ModuleNotFoundError) and not (error.name or "eml").startswith("eml"):
        return f"the package {error.name} is not installed: pip install 'eml[{extra}]'", PROBLEM
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}", PROBLEM
    from eml.core.errors import EmlError  # noqa: PLC0415  numpy would slow `eml --help`

    if isinstance(error, CommandError | EmlError):
        return str(error), getattr(error, "exit_status", PROBLEM)
    return None, PROBLEM


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\n".join(["examples:", *(f"  {line}" for line in lines)])


def positive(text: str) -> int:
    """A number of things, for argparse."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a positive whole number is needed, not {text!r}")
    return int(text)


# -- settings ----------------------------------------------------------------------------------------------------------


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add which settings a command takes."""
    parser.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help=f"of the job (default: the one EML_SETTINGS names, else {SETTINGS_FILE} in this folder if it is there)",
    )
    add_overrides(parser, "one setting, over file and environment (repeatable): -S kafka.start=latest")


def add_overrides(parser: argparse.ArgumentParser, explained: str) -> None:
    """Add single settings; `overrides` reads them."""
    parser.add_argument(
        "-S",
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help=explained,
    )


def settings_file(given: Path | None) -> Path | None:
    """The file that is meant; None: no file."""
    if given is not None:
        return given
    if os.environ.get("EML_SETTINGS"):
        return Path(os.environ["EML_SETTINGS"])
    return SETTINGS_FILE if SETTINGS_FILE.is_file() else None


def load_settings(arguments: argparse.Namespace) -> "Settings":
    """The settings that `add_settings` names; SettingsError says all that is wrong with them."""
    from eml.settings import load  # noqa: PLC0415  not for `eml --help`

    return load(settings_file(arguments.settings), overrides=overrides(arguments.overrides))


def overrides(pairs: Sequence[str]) -> dict[str, str]:
    """The values of `-S SECTION.KEY=VALUE`."""
    for pair in pairs:
        name, equals, _ = pair.partition("=")
        if not equals or "." not in name:
            raise CommandError(f"-S wants SECTION.KEY=VALUE, as kafka.start=latest, not {pair!r}", USAGE)
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}


# -- what is printed ---------------------------------------------------------------------------------------------------


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the choice of figures for programs."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def write_json(value: object, *, line: bool = False) -> None:
    """Print a value as JSON; `line`: on one line, as a stream of them needs it."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=None if line else 2) + "\n")
    sys.stdout.flush()


def paint(text: str, style: str) -> str:
    """The text in a style of COLOURS where stdout is a terminal that wants colours."""
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else f"\033[{COLOURS[style]}m{text}\033[0m"


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Say what takes so long: on stderr, only on a terminal, only after a second."""
    if not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(QUIET_S, _say, [f"{text} ..."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        _say("\r\033[K")  # takes the line away again


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
