"""`eml replay` on the command line: its options, what it prints, and the import of what it runs only when it runs."""

import argparse
import os
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from eml.terminal import OK, add_settings, examples, overrides, positive, set_run, settings_file

if TYPE_CHECKING:
    from eml.local.record_lines import Entry


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml replay`."""
    parser = subparsers.add_parser(
        "replay",
        help="a file of records through the logic of the job, without Flink",
        epilog=examples("eml replay pump-7.jsonl | jq .prediction.label", "eml replay pump-7.jsonl --summary"),
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="schemas and records (JSON Lines), see `eml capture`")
    add_settings(parser)
    parser.add_argument("--key", action="append", metavar="NAME", help="only this key (repeatable; default all)")
    parser.add_argument(
        "--cut", type=positive, default=1, metavar="N", help="records per micro-batch (default 1; changes nothing)"
    )
    parser.add_argument("--summary", action="store_true", help="a table with a line per key instead of all results")
    set_run(parser, _run)


def _run(arguments: argparse.Namespace) -> int:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read with numpy's import: sums in the order of the job's
    from eml.local import record_file, replay_output, replay_settings  # noqa: PLC0415  numpy would slow `eml --help`
    from eml.local.replay import Replay  # noqa: PLC0415

    settings = replay_settings.load(settings_file(arguments.settings), overrides=overrides(arguments.overrides))
    entries = record_file.read(arguments.file, settings.kafka.readings_topic, settings.kafka.labels_topic)
    chosen = _of_keys(entries, arguments.key, arguments.file)
    replay = Replay(settings, arguments.cut)
    said = replay.run(chosen)
    if arguments.summary:
        deque(said, maxlen=0)  # the table comes at the end
        sys.stdout.write(replay_output.summary(replay.figures))
    else:
        sys.stdout.writelines(f"{replay_output.line_of(each)}\n" for each in said)
    return OK


def _of_keys(entries: "list[Entry]", keys: list[str] | None, file: Path) -> "list[Entry]":
    """The records of some keys, and all schemas."""
    from eml.local.errors import RecordFileError  # noqa: PLC0415
    from eml.local.record_lines import Arrived  # noqa: PLC0415

    if not keys:
        return entries
    there = dict.fromkeys(entry.key for entry in entries if isinstance(entry, Arrived))
    for key in keys:
        if key not in there:
            known = ", ".join(list(there)[:10])
            raise RecordFileError(f"{file}: holds no record of key {key!r}: there are {known}")
    return [entry for entry in entries if not isinstance(entry, Arrived) or entry.key in keys]
