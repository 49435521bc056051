"""All that Flink's REST interface tells of a job, for whoever searches it."""

import time
from collections.abc import Iterator
from typing import Any

import requests

from eml.local.process import LOOPBACK, free_port

GENERAL = (
    "overview", "config", "jobs", "jobs/overview", "jobmanager/config", "jobmanager/environment", "jobmanager/logs",
    "jobmanager/log", "jobmanager/stdout", "jobmanager/metrics", "jobmanager/thread-dump", "taskmanagers",
    "dataset",
)  # fmt: skip
OF_JOB = (
    "", "/plan", "/config", "/exceptions?maxExceptions=20", "/checkpoints", "/checkpoints/config", "/jobmanager/config",
    "/jobmanager/environment", "/jobmanager/log-url", "/accumulators?includeSerializedValue=true", "/metrics",
    "/resource-requirements",
)  # fmt: skip
OF_TASK = ("", "/accumulators", "/metrics", "/subtasks/accumulators", "/subtasktimes", "/taskmanagers", "/watermarks")
OF_WORKER = ("", "/log", "/logs", "/stdout", "/metrics", "/thread-dump")


class FlinkPage:
    """The page of a job that is started with `options`."""

    def __init__(self) -> None:
        port = free_port()
        self.url = f"http://{LOOPBACK}:{port}"
        rest = {"rest.port": port, "rest.bind-port": port, "rest.address": LOOPBACK, "rest.bind-address": LOOPBACK}
        self.options = [part for name, value in rest.items() for part in ("-D", f"{name}={value}")]

    def get(self, path: str) -> Any:
        """One answer."""
        return requests.get(f"{self.url}/{path}", timeout=20).json()

    def job_id(self) -> str:
        """The one job's id."""
        (job,) = self.get("jobs")["jobs"]
        return str(job["id"])

    def restarts(self) -> int:
        """How often the job was restarted."""
        (found,) = self.get(f"jobs/{self.job_id()}/metrics?get=numRestarts")
        return int(found["value"])

    def wait_running(self, timeout_s: float = 60.0) -> None:
        """Wait until all tasks run."""
        end = time.monotonic() + timeout_s
        while True:
            (job,) = self.get("jobs/overview")["jobs"]
            if job["state"] == "RUNNING" and job["tasks"]["running"] == job["tasks"]["total"]:
                return
            assert time.monotonic() < end, job
            time.sleep(0.2)

    def savepoint(self, folder: str, timeout_s: float = 60.0) -> None:
        """Write a savepoint."""
        path = f"jobs/{self.job_id()}/savepoints"
        asked = requests.post(f"{self.url}/{path}", json={"target-directory": folder}, timeout=20).json()
        end = time.monotonic() + timeout_s
        while (done := self.get(f"{path}/{asked['request-id']}"))["status"]["id"] != "COMPLETED":
            assert time.monotonic() < end, done
            time.sleep(0.2)
        assert "location" in done["operation"], done

    def answers(self) -> Iterator[tuple[str, int, bytes]]:
        """Path, status and body of everything there is to ask."""
        for path in self._paths():
            answer = requests.get(f"{self.url}/{path}", timeout=20)
            yield path, answer.status_code, answer.content
            if path.endswith("/metrics") and answer.ok:
                names = ",".join(metric["id"] for metric in answer.json())
                values = requests.get(f"{self.url}/{path}", params={"get": names[:6000]}, timeout=20)
                yield f"{path}?get", values.status_code, values.content

    def _paths(self) -> Iterator[str]:
        yield from GENERAL
        job = f"jobs/{self.job_id()}"
        yield from (job + path for path in OF_JOB)
        for vertex in self.get(job)["vertices"]:
            yield from (f"{job}/vertices/{vertex['id']}{path}" for path in OF_TASK)
        for worker in self.get("taskmanagers")["taskmanagers"]:
            yield from (f"taskmanagers/{worker['id']}{path}" for path in OF_WORKER)
