"""`eml capture` on the command line: its options, what it prints, and the import of what it runs only when it runs."""

import argparse
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from eml.terminal import OK, add_settings, examples, load_settings, positive, progress, set_run

LONGEST_MS = 15  # digits of milliseconds since 1970


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml capture`."""
    parser = subparsers.add_parser(
        "capture",
        help="records from Kafka and their schemas into a file, for replay",
        epilog=examples(
            "eml capture pump-7.jsonl --key pump-7",
            "eml capture dip.jsonl --key pump-7 --from 2026-03-31T14:00:00Z --to 2026-03-31T14:10:00Z",
        ),
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="to write (JSON Lines)")
    add_settings(parser)
    parser.add_argument(
        "--key", action="append", default=[], metavar="NAME", help="only this (repeatable; default all)"
    )
    for option, what in (("--from", "no record before this time"), ("--to", "no record after this time")):
        help_ = f"{what}, by Kafka's timestamps: 2026-03-31T14:05:00.250Z, or milliseconds since 1970"
        parser.add_argument(option, dest=f"{option[2:]}_ms", type=time_ms, metavar="TIME", help=help_)
    parser.add_argument("--records", type=positive, metavar="N", help="at most, the oldest (default all)")
    set_run(parser, _run)


def time_ms(text: str) -> int:
    """A moment, for argparse: ISO 8601, in UTC where it names no zone, or milliseconds since 1970."""
    if text.isdecimal() and len(text) <= LONGEST_MS:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        what = "a time is written 2026-03-31T14:05:00.250Z, or as milliseconds since 1970"
        raise argparse.ArgumentTypeError(f"{what}, not {text!r}") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)


def _run(arguments: argparse.Namespace) -> int:
    from eml.local.capture import capture  # noqa: PLC0415  numpy and the like would slow `eml --help`
    from eml.local.topic_reader import Wanted  # noqa: PLC0415

    chosen = Wanted(frozenset(arguments.key), arguments.records, arguments.from_ms, arguments.to_ms)
    with progress("reading Kafka"):
        captured = capture(load_settings(arguments), arguments.file, chosen)
    records, keys = sum(captured.records.values()), len(captured.records)
    sys.stdout.write(f"{arguments.file}: {records} records of {keys} keys, {captured.schemas} schemas\n")
    if captured.unusable:
        sys.stderr.write(f"Left out: {captured.unusable} records whose key is missing or no text (UTF-8).\n")
    return OK
