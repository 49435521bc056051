"""`eml tail` on the command line: its options, and the import of what it runs only when it runs."""

import argparse

from eml.terminal import OK, add_json, add_settings, examples, load_settings, positive, set_run

KINDS = ("predictions", "evolutions", "dead-letters", "scores")
LAST = 10  # records, as `tail` prints lines


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml tail`."""
    parser = subparsers.add_parser(
        "tail",
        help="the last predictions, evolutions, dead letters or scores, and those to come",
        description="The last committed records of one of the job's output topics, in the order of Kafka's timestamps.",
        epilog=examples(
            "eml tail predictions -f                     # and all that come",
            "eml tail evolutions -n 3 --key pump-7       # what happened to one device",
            "eml tail dead-letters --json | jq .reason",
        ),
    )
    parser.add_argument("kind", choices=KINDS, metavar="KIND", help=f"what to print: {', '.join(KINDS)}")
    parser.add_argument("-n", "--last", type=positive, default=LAST, metavar="N", help=f"how many (default {LAST})")
    parser.add_argument("-f", "--follow", action="store_true", help="go on with the records that come, until Ctrl-C")
    parser.add_argument("--key", action="append", default=[], metavar="DEVICE", help="only of this (repeatable)")
    add_json(parser)
    add_settings(parser)
    set_run(parser, _run)


def _run(arguments: argparse.Namespace) -> int:
    from eml.operations.tail import tail  # noqa: PLC0415  numpy and the like would slow `eml --help`

    tail(
        load_settings(arguments),
        arguments.kind,
        arguments.last,
        frozenset(arguments.key),
        follow=arguments.follow,
        as_json=arguments.json,
    )
    return OK
