"""`eml status` on the command line: how a job does, in a few lines.

Called by `eml.cli`; calls `status`, imported only when the command runs.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from eml.terminal import (
    OK,
    PROBLEM,
    add_json,
    add_settings,
    examples,
    load_settings,
    paint,
    positive,
    progress,
    set_run,
    write_json,
)

if TYPE_CHECKING:
    from eml.operations.status import Status

LAST = 2_000  # predictions that the mix of versions is made of


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml status`."""
    parser = subparsers.add_parser(
        "status",
        help="how a job does: is it running, its newest checkpoint, its lag, devices by schema version",
        description="Asks Flink, Kafka and the newest predictions. Ends with 1 where the job does not run or"
        " something has no answer.",
        epilog=examples("eml status", "eml status --flink http://jobmanager:8081 --json | jq .lag.records"),
    )
    parser.add_argument("--flink", metavar="URL", help="Flink's page (default: of this job's run on this machine)")
    parser.add_argument(
        "--last",
        type=positive,
        default=LAST,
        metavar="N",
        help="predictions to look at for versions (default %(default)s)",
    )
    add_json(parser)
    add_settings(parser)
    set_run(parser, _run)


def _run(arguments: argparse.Namespace) -> int:
    from eml.operations.status import look  # noqa: PLC0415  numpy would slow `eml --help`

    settings = load_settings(arguments)
    with progress("asking"):
        status = look(settings, arguments.flink, arguments.last)
    if arguments.json:
        write_json(asdict(status))
    else:
        for name, said in _lines(status):
            sys.stdout.write(f"{name:<13} {said}\n")
    return OK if status.is_well else PROBLEM


def _lines(status: "Status") -> Iterator[tuple[str, str]]:
    from eml.operations.status import ago  # noqa: PLC0415

    if job := status.job:
        state = paint(job["state"], "ok" if job["runs"] else "warn")
        tasks = f"{job['tasks_running']} of {job['tasks']} tasks run"
        yield "job", f"{job['name']} {state}, {tasks}, since {ago(job['started_ms'])}, {job['page']}"
        checkpoint = status.checkpoint
        yield (
            "checkpoint",
            f"{checkpoint['id']}, {ago(checkpoint['completed_ms'])} ago, {checkpoint['bytes']} bytes in"
            f" {checkpoint['took_ms']} ms, {checkpoint['path']}"
            if checkpoint
            else "none yet",
        )
    if lag := status.lag:
        read = f"{lag['committed']} of {lag['partitions']} partitions have committed offsets"
        yield "lag", f"{lag['records']} readings to read; {read}"
    if (versions := status.devices_by_version) is not None:
        mix = ", ".join(f"version {version}: {count}" for version, count in versions.items())
        yield "devices", f"{mix or 'none'} (of the newest {status.predictions} predictions)"
    if status.dead_letters:
        yield "dead letters", ", ".join(f"{reason} {count}" for reason, count in status.dead_letters.items())
    for problem in status.problems:
        yield "", paint(problem, "fail")
