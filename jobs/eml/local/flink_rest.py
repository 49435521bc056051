"""What Flink's REST interface says of its jobs: their states, what they counted, checkpoints and failures of tasks.

Called by a local run's console, by `job_process` and by `eml status`, of a cluster, too. Asks only; changes nothing.
Flink refreshes the numbers every ten seconds (`metrics.fetcher.update-interval`).
"""

import http.client
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

from eml.local.errors import FlinkPageError

TIMEOUT_S = 3.0
RUNNING = "RUNNING"
OPERATOR = "evolving_metric_learning."  # before the names of what our operator counts
SOURCE = "Source__"  # before those of the Kafka source
LAG = ".pendingRecords"
FAILED_COMMITS = ".failedCommittables"
NAMES_PER_REQUEST = 50  # they stand in the address


@dataclass(frozen=True, slots=True)
class FlinkJob:
    """A job that Flink knows."""

    id: str
    name: str
    state: str
    started_ms: int
    tasks: int
    tasks_running: int

    @property
    def runs(self) -> bool:
        """Whether all its tasks run: a job is called running while they still start, which takes seconds."""
        return self.state == RUNNING and 0 < self.tasks == self.tasks_running


@dataclass(frozen=True, slots=True)
class Counted:
    """What a job's tasks counted, in all, since they started."""

    records: int | None  # read from Kafka; None: not known yet
    lag: int | None  # records that wait in Kafka
    failed_commits: int  # transactions that were lost
    own: Mapping[str, int]  # by the names of `eml.flink.metrics`; what is 0 may be left out

    @property
    def dead_letters(self) -> dict[str, int]:
        """By reason."""
        start = "dead_letters_"
        found = {name.removeprefix(start): count for name, count in self.own.items() if name.startswith(start)}
        return {reason.replace("_", "-"): count for reason, count in found.items()}

    def since(self, before: "Counted") -> "Counted":
        """What was counted after an earlier look; where tasks were started again in between, since they were."""
        records = None if self.records is None else _more(before.records or 0, self.records)
        own = {name: _more(before.own.get(name, 0), count) for name, count in self.own.items()}
        return Counted(records, self.lag, _more(before.failed_commits, self.failed_commits), own)


def _more(before: int, now: int) -> int:
    return now - before if now >= before else now


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One that is complete."""

    id: int
    path: str
    completed_ms: int
    took_ms: int
    bytes: int


class FlinkPage:
    """Flink's page at an address; FlinkPageError where it does not answer as Flink does."""

    def __init__(self, url: str, timeout_s: float = TIMEOUT_S) -> None:
        self._url = urlsplit(url)
        self._timeout_s = timeout_s

    def jobs(self) -> list[FlinkJob]:
        """All jobs, the newest first."""
        found = [_job(job) for job in self._object("/jobs/overview").get("jobs", [])]
        return sorted(found, key=lambda job: -job.started_ms)

    def counted(self, job_id: str) -> Counted:
        """What a job has counted so far."""
        sums = dict(self._sums(job_id))
        source = {name: value for name, value in sums.items() if name.startswith(SOURCE)}
        records = [value for name, value in source.items() if name.endswith(".numRecordsIn")]
        lag = [value for name, value in source.items() if name.endswith(LAG)]
        return Counted(
            sum(records) if records else None,
            sum(lag) if lag else None,
            sum(value for name, value in sums.items() if name.endswith(FAILED_COMMITS)),
            {name.removeprefix(OPERATOR): value for name, value in sums.items() if name.startswith(OPERATOR)},
        )

    def newest_checkpoint(self, job_id: str) -> Checkpoint | None:
        """None: there is none yet."""
        found = (self._object(f"/jobs/{job_id}/checkpoints").get("latest") or {}).get("completed")
        if not found:
            return None
        return Checkpoint(
            int(found["id"]),
            str(found.get("external_path") or ""),
            int(found["latest_ack_timestamp"]),
            int(found["end_to_end_duration"]),
            int(found["state_size"]),
        )

    def failures(self, job_id: str) -> list[dict[str, Any]]:
        """Why tasks failed, as Flink says it, the oldest first."""
        history = self._object(f"/jobs/{job_id}/exceptions").get("exceptionHistory", {}).get("entries", [])
        return sorted(history, key=lambda one: one.get("timestamp", 0))

    # -- asking ----------------------------------------------------------------------------------------------------

    def _sums(self, job_id: str) -> Iterator[tuple[str, int]]:
        """Metrics of all tasks that `counted` wants, by name."""
        for vertex in self._object(f"/jobs/{job_id}").get("vertices", []):
            path = f"/jobs/{job_id}/vertices/{vertex['id']}/subtasks/metrics"
            wanted = [name for name in (str(one["id"]) for one in self._list(path)) if _is_wanted(name)]
            for names in _pieces(wanted):
                for one in self._list(f"{path}?get={quote(','.join(names))}&agg=sum"):
                    if isinstance(one.get("sum"), int | float) and math.isfinite(one["sum"]):
                        yield str(one.get("id")), round(one["sum"])

    def _object(self, path: str) -> dict[str, Any]:
        answer = self._get(path)
        return answer if isinstance(answer, dict) else {}

    def _list(self, path: str) -> list[dict[str, Any]]:
        answer = self._get(path)
        return answer if isinstance(answer, list) else []

    def _get(self, path: str) -> object:
        secure = self._url.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        try:
            connection = connect(self._url.hostname or "", self._url.port, timeout=self._timeout_s)
            try:
                connection.request("GET", self._url.path.rstrip("/") + path)
                answer = connection.getresponse()
                return json.loads(answer.read()) if answer.status == HTTPStatus.OK else None
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise FlinkPageError(f"Flink's page at {self._url.geturl()} does not answer: {error}") from None


def _job(job: Mapping[str, Any]) -> FlinkJob:
    tasks = job.get("tasks", {})
    return FlinkJob(
        str(job.get("jid", "")),
        str(job.get("name", "")),
        str(job.get("state", "")),
        int(job.get("start-time", 0)),
        int(tasks.get("total", 0)),
        int(tasks.get("running", 0)),
    )


def _is_wanted(name: str) -> bool:
    if name.startswith(SOURCE):
        return name.endswith((".numRecordsIn", LAG))
    if name.startswith(OPERATOR):  # Flink's own of the operator, and distributions, are no counters
        return name.removeprefix(OPERATOR).islower() and "recovery_" not in name
    return name.endswith(FAILED_COMMITS)


def _pieces(names: list[str]) -> Iterable[list[str]]:
    return (names[start : start + NAMES_PER_REQUEST] for start in range(0, len(names), NAMES_PER_REQUEST))
