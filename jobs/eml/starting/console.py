"""The console of a local run: what workers log, and why tasks fail, from Flink's log file and its page.

Called by `eml.flink.running` about once a second. Shows what was logged by `eml` in Python workers (`eml.flink.notices`
limits how often), and every failure of a task once. Decides nothing.
"""

import logging
import re
from pathlib import Path

from eml.local.errors import FlinkPageError
from eml.local.flink_rest import FlinkPage

log = logging.getLogger("eml.job")

# Flink logs a worker's record under the path and line of the Python file.
WORKER_LINE = re.compile(r"^\S+ \S+ (INFO|WARN|ERROR)\s+\S*/eml/\S+\.py:\d+\s.*? - (.*)$")
PYTHON_ERROR = re.compile(r"^(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b.*$", re.MULTILINE)
ANSWER_TIMEOUT_S = 1.0
CHUNK = 1_000_000  # bytes of the log per look: what comes faster is shown later
LINES = 20  # per look


class Console:
    """What was shown so far of one run."""

    def __init__(self, page: str) -> None:
        self._page = FlinkPage(page, ANSWER_TIMEOUT_S)
        self._log: Path | None = None
        self._at = 0
        self._rest = b""
        self._failures: set[int] = set()

    def follow(self, file: Path | None) -> None:
        """Show what comes into this log from now on."""
        self._log = file
        self._at = file.stat().st_size if file else 0

    def show(self, job_id: str) -> None:
        """Show what is new."""
        self._show_worker_lines()
        self._show_failures(job_id)

    def _show_worker_lines(self) -> None:
        if self._log is None:
            return
        try:
            with self._log.open("rb") as file:
                file.seek(self._at)
                piece = file.read(CHUNK)
        except OSError:
            return
        self._at += len(piece)
        *lines, self._rest = (self._rest + piece).split(b"\n")
        found = [match for line in lines if (match := WORKER_LINE.match(line.decode(errors="replace")))]
        for match in found[:LINES]:
            log.log(logging.INFO if match[1] == "INFO" else logging.WARNING, "%s", match[2])
        if len(found) > LINES:
            log.warning("%d more lines are in %s", len(found) - LINES, self._log)

    def _show_failures(self, job_id: str) -> None:
        try:
            failures = self._page.failures(job_id)
        except FlinkPageError:
            return
        for failure in failures:
            if failure.get("timestamp") not in self._failures:
                self._failures.add(failure["timestamp"])
                task = failure.get("taskName") or "the job"
                log.warning(
                    "%s failed: %s. Flink restarts it; %s", task, reason(failure.get("stacktrace", "")), self._where()
                )

    def _where(self) -> str:
        return f"details are in {self._log}" if self._log else "details are in Flink's log"


def reason(stacktrace: str) -> str:
    """The line of a Java stack trace that says most: Python's own error, else the innermost cause."""
    python = PYTHON_ERROR.findall(stacktrace.partition("Traceback (most recent call last)")[2].partition("\n\tat ")[0])
    if python:
        return str(python[-1])[:500]
    causes = [line for line in stacktrace.splitlines() if line.startswith("Caused by: ")]
    first = stacktrace.partition("\n")[0]
    return (causes[-1].removeprefix("Caused by: ") if causes else first)[:500]
