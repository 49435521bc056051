"""`eml capture` on the command line: its options, what it prints, and the import of what it runs only when it runs."""

import argparse
import sys
from pathlib import Path

from eml.terminal import OK, add_settings, load_settings, positive, set_run


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml capture`."""
    parser = subparsers.add_parser("capture", help="records from Kafka and their schemas into a file, for replay")
    parser.add_argument("file", type=Path, metavar="FILE", help="to write (JSON Lines)")
    add_settings(parser)
    parser.add_argument(
        "--key", action="append", default=[], metavar="NAME", help="only this (repeatable; default all)"
    )
    parser.add_argument("--records", type=positive, metavar="N", help="at most, the oldest (default all)")
    set_run(parser, _run)


def _run(arguments: argparse.Namespace) -> int:
    from eml.local.capture import capture  # noqa: PLC0415  numpy and the like would slow `eml --help`

    captured = capture(load_settings(arguments), arguments.file, arguments.key, arguments.records)
    records, keys = sum(captured.records.values()), len(captured.records)
    sys.stdout.write(f"{arguments.file}: {records} records of {keys} keys, {captured.schemas} schemas\n")
    if captured.unusable:
        sys.stderr.write(f"Left out: {captured.unusable} records whose key is missing or no text (UTF-8).\n")
    return OK
