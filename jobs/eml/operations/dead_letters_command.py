"""`eml dead-letters` on the command line: its options, and the import of what it runs only when it runs."""

import argparse
import logging
from collections.abc import Sequence

from eml.terminal import (
    OK,
    USAGE,
    CommandError,
    add_json,
    add_settings,
    examples,
    load_settings,
    positive,
    set_run,
)

LISTED = 20  # of the newest
NAMES = "PARTITION/OFFSET of the dead letter, TOPIC/PARTITION/OFFSET of its record, or its number in the list"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml dead-letters`."""
    parser = subparsers.add_parser("dead-letters", help="records that could not be used: list, look at, send again")
    actions = parser.add_subparsers(title="what to do", metavar="ACTION", required=True)
    _add_list(actions)
    _add_show(actions)
    _add_replay(actions)


def _add_list(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser(
        "list",
        help="how many of each reason, and the newest",
        epilog=examples("eml dead-letters list", "eml dead-letters list --reason not-finite --key pump-7 --json"),
    )
    parser.add_argument("-n", "--last", type=positive, default=LISTED, metavar="N", help=f"show N (default {LISTED})")
    _add_filter(parser)
    add_json(parser)
    add_settings(parser)
    set_run(parser, _list)


def _add_show(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser(
        "show",
        help="one of them: why, its fields as far as they can be decoded, its bytes",
        epilog=examples(
            "eml dead-letters show 1", "eml dead-letters show 0/17", "eml dead-letters show readings/2/4711"
        ),
    )
    parser.add_argument("name", metavar="NAME", help=NAMES)
    parser.add_argument("--whole", action="store_true", help="all bytes, not the first 1,024 alone")
    add_json(parser)
    add_settings(parser)
    set_run(parser, _show)


def _add_replay(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser(
        "replay",
        help="send them again to where they came from, as they are or repaired",
        description="Sends records again once the cause is mended. What the job would refuse again is left out.",
        epilog=examples(
            "eml dead-letters replay --reason unknown-schema         # the registry has the schema now",
            "eml dead-letters replay 0/17 --field temperature=null   # NaN was sent: a missing value instead",
            "eml dead-letters replay 0/18 --with-schema 7            # without a frame, or with a wrong id",
        ),
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{NAMES} (repeatable)")
    parser.add_argument("--all", action="store_true", help="all that the topic holds")
    _add_filter(parser)
    parser.add_argument(
        "--field", action="append", default=[], metavar="NAME=VALUE", help="give a field another value (repeatable)"
    )
    parser.add_argument(
        "--with-schema",
        type=_schema_id,
        metavar="ID",
        help="the schema that wrote the bytes, or that JSON is written with",
    )
    parser.add_argument("--new-key", metavar="TEXT", help="send it with this key instead of its own")
    parser.add_argument("--dry-run", action="store_true", help="say what would be sent, and send nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--unchecked", action="store_true", help="send also what would be a dead letter again")
    add_json(parser)
    add_settings(parser)
    set_run(parser, _replay)


def _add_filter(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", action="append", default=[], metavar="R", help="only these (repeatable)")
    parser.add_argument("--key", action="append", default=[], metavar="DEVICE", help="only of this (repeatable)")


def _schema_id(text: str) -> int:
    if not text.isdecimal() or len(text) > 10 or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"a schema's id is a whole number, not {text!r}")
    return int(text)


# -- running -----------------------------------------------------------------------------------------------------------


def _list(arguments: argparse.Namespace) -> int:
    from eml.operations.dead_letters import Filter, print_list  # noqa: PLC0415  numpy would slow `eml --help`

    wanted = Filter(frozenset(arguments.reason), frozenset(arguments.key))
    print_list(load_settings(arguments), wanted, arguments.last, as_json=arguments.json)
    return OK


def _show(arguments: argparse.Namespace) -> int:
    from eml.local.topic_reader import TopicConsumer  # noqa: PLC0415  numpy would slow `eml --help`
    from eml.operations.dead_letter_view import show  # noqa: PLC0415
    from eml.operations.dead_letters import named  # noqa: PLC0415

    settings = load_settings(arguments)
    with TopicConsumer(settings.kafka) as consumer:
        (found,) = named(consumer, settings, [arguments.name])
    show(settings, found, whole=arguments.whole, as_json=arguments.json)
    return OK


def _replay(arguments: argparse.Namespace) -> int:
    from eml.operations.dead_letter_repair import Repair  # noqa: PLC0415  numpy would slow `eml --help`
    from eml.operations.dead_letter_replay import Options, replay  # noqa: PLC0415
    from eml.operations.dead_letters import Filter  # noqa: PLC0415

    logging.getLogger("eml").addHandler(logging.NullHandler())  # errors say what the job would log
    wanted = Filter(frozenset(arguments.reason), frozenset(arguments.key))
    chosen = (bool(arguments.names), bool(arguments.reason or arguments.key), arguments.all)
    if sum(chosen) != 1:
        raise CommandError("say which: names, or --reason and --key, or --all", USAGE)
    options = Options(
        names=arguments.names,
        wanted=wanted,
        repair=Repair(_fields(arguments.field), arguments.with_schema, arguments.new_key),
        dry_run=arguments.dry_run,
        yes=arguments.yes,
        unchecked=arguments.unchecked,
        as_json=arguments.json,
    )
    return replay(load_settings(arguments), options)


def _fields(pairs: Sequence[str]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise CommandError(f"--field wants NAME=VALUE, as temperature=20.5, not {pair!r}", USAGE)
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}
