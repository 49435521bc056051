"""The heartbeat of a local run: every few seconds a line on the console that says how the job does.

Started by `eml.flink.running` in a thread of its own, which asks Flink's page (`eml.local.flink_rest`) and logs. What
it says was counted anyway, so no record is later for it. Where nothing has changed the line is repeated once a minute.
"""

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from eml.local.errors import FlinkPageError
from eml.local.flink_rest import Checkpoint, Counted, FlinkPage

log = logging.getLogger("eml.job")

REPEAT_S = 60.0  # where nothing changes
MOST_SHOWN = 4  # versions and reasons in a line
VERSION = "predictions_version_"
# A start commits the last transactions of the run before once more. A broker of Kafka 4 has closed what that run
# committed, and Flink counts it as failed: its data is there.
CLOSED = (
    "%d transactions of the run before were closed already, as after any stop; results in them are lost only if the job"
    " was down for longer than kafka.transaction_timeout_ms"
)
LOST = "%d transactions were lost, with the results in them (failedCommittables)"


@dataclass(frozen=True, slots=True)
class Look:
    """What Flink's page said at a time."""

    at_s: float
    counted: Counted
    checkpoint: Checkpoint | None


class Heartbeat:
    """The lines of one run."""

    def __init__(self, page: str, job_id: str, every_s: float) -> None:
        self._page = FlinkPage(page)
        self._job_id = job_id
        self._every_s = every_s
        self._ended = threading.Event()
        self._last: Look | None = None
        self._said_s = -REPEAT_S

    def start(self) -> None:
        """Begin to say it, unless it is not wanted."""
        if self._every_s > 0:
            threading.Thread(target=self._run, name="eml-heartbeat", daemon=True).start()

    def end(self) -> None:
        """Say nothing more."""
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(self._every_s):
            self.beat()

    def beat(self) -> None:
        """Say how the job does now, if that is new."""
        try:
            counted = self._page.counted(self._job_id)
            look = Look(time.monotonic(), counted, self._page.newest_checkpoint(self._job_id))
        except FlinkPageError:
            return  # it starts, or ends
        before, self._last = self._last, look
        if counted.records is None or self._ended.is_set():
            return
        same = before is not None and before.counted == counted
        if same and look.at_s - self._said_s < REPEAT_S:
            return
        first, self._said_s = self._said_s < 0, look.at_s
        log.info("%s", line(before, look, time.time()))
        failed = counted.failed_commits - (before.counted.failed_commits if before else 0)
        if failed > 0:
            log.log(logging.INFO if first else logging.WARNING, CLOSED if first else LOST, failed)


def line(before: Look | None, now: Look, time_s: float) -> str:
    """How the job does: since the look before, or since it started."""
    counted = now.counted
    since = counted.since(before.counted) if before else counted
    versions = {name.removeprefix(VERSION): count for name, count in since.own.items() if name.startswith(VERSION)}
    parts = [
        f"{since.records / max(now.at_s - before.at_s, 0.001):,.0f} records/s"
        if before and since.records is not None
        else f"{counted.records or 0:,} records",
        "lag unknown" if counted.lag is None else f"lag {counted.lag:,}",
        _shares("versions", versions),
        _accuracy(since.own),
        _counts("dead letters", counted.own.get("dead_letters", 0), counted.dead_letters),
        _checkpoint(now.checkpoint, time_s),
    ]
    return ", ".join(part for part in parts if part)


def _accuracy(own: Mapping[str, int]) -> str:
    scored = own.get("scored", 0)
    return f"right {own.get('right', 0) / scored:.1%} of {scored:,} labels" if scored else ""


def _shares(what: str, counts: Mapping[str, int]) -> str:
    """Of the readings that came: `versions 1: 40 %, 2: 60 %`."""
    total = sum(counts.values())
    shown = sorted((item for item in counts.items() if item[1]), key=lambda item: -item[1])[:MOST_SHOWN]
    return f"{what} {' '.join(f'{name}: {count / total:.0%}' for name, count in sorted(shown))}" if total else ""


def _counts(what: str, total: int, counts: Mapping[str, int]) -> str:
    if not total:
        return f"no {what}"
    most = sorted(counts.items(), key=lambda item: -item[1])[:MOST_SHOWN]
    return f"{what} {total:,} ({', '.join(f'{name} {count:,}' for name, count in most)})"


def _checkpoint(checkpoint: Checkpoint | None, time_s: float) -> str:
    if checkpoint is None:
        return "no checkpoint yet"
    return f"checkpoint {checkpoint.id} {max(0, time_s - checkpoint.completed_ms / 1000):.0f} s ago"
