"""The running job from outside: its restarts and failures by Flink's REST address, its memory by /proc.

Used by the tests of this folder and by the soak; knows no record.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from eml.local.process import LOOPBACK, free_port

MEGABYTE = 1_048_576
TIMEOUT_S = 10


@dataclass
class Watch:
    """A job of a process group, with Flink's REST address on a port of its own."""

    port: int = field(default_factory=free_port)
    highest: dict[str, float] = field(default_factory=dict)  # MB by kind of process
    _job_id: str = ""

    @property
    def options(self) -> list[str]:
        """For the job's command line."""
        values = {
            "rest.port": self.port,
            "rest.bind-port": self.port,
            "rest.address": LOOPBACK,
            "rest.bind-address": LOOPBACK,
        }
        return [part for name, value in values.items() for part in ("-D", f"{name}={value}")]

    def _get(self, path: str) -> Any:
        with requests.Session() as session:
            session.trust_env = False  # no proxy for this machine
            return session.get(f"http://{LOOPBACK}:{self.port}{path}", timeout=TIMEOUT_S).json()

    def running(self) -> bool:
        """Whether all tasks run."""
        try:
            jobs = self._get("/jobs/overview").get("jobs", [])
        except (requests.RequestException, ValueError):
            return False
        if jobs:
            self._job_id = jobs[0]["jid"]
        return any(job["state"] == "RUNNING" and 0 < job["tasks"]["total"] == job["tasks"]["running"] for job in jobs)

    def restarts(self) -> int:
        """How often the job was restarted."""
        found = self._get(f"/jobs/{self._job_id}/metrics?get=numRestarts")
        return int(float(found[0]["value"])) if found else 0

    def failures(self) -> list[str]:
        """The root of each failure so far, as the last `Caused by` of its trace says it."""
        entries = self._get(f"/jobs/{self._job_id}/exceptions").get("exceptionHistory", {}).get("entries", [])
        return [_root(entry.get("stacktrace", "")) for entry in entries]

    def counter(self, name: str) -> int | None:
        """The sum of one of our counters over all tasks; None where there is none of that name."""
        total: int | None = None
        for vertex in self._get(f"/jobs/{self._job_id}").get("vertices", []):
            path = f"/jobs/{self._job_id}/vertices/{vertex['id']}/metrics"
            names = [each["id"] for each in self._get(path) if each["id"].endswith(f".{name}")]
            if names:
                values = self._get(f"{path}?get={','.join(names)}")
                total = (total or 0) + sum(int(float(each["value"])) for each in values)
        return total

    def memory(self, group: int) -> dict[str, float]:
        """MB in memory now, of the JVM, the Python workers and the client; the highest so far are kept."""
        found: dict[str, float] = {}
        for folder in Path("/proc").iterdir():
            try:
                if not folder.name.isdigit() or os.getpgid(int(folder.name)) != group:
                    continue
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                pages = int((folder / "statm").read_text().split()[1])
            except (OSError, IndexError):  # it has ended
                continue
            found[_kind(command)] = found.get(_kind(command), 0.0) + pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
        for kind, megabytes in found.items():
            self.highest[kind] = max(self.highest.get(kind, 0.0), megabytes)
        return found


def _kind(command: bytes) -> str:
    if b"java" in command.split(b" ")[0]:
        return "JVM"
    return "worker" if b"pyflink.fn_execution" in command or b"beam_boot" in command else "client"


def _root(trace: str) -> str:
    causes = [line for line in trace.splitlines() if line.startswith("Caused by:") or "Error:" in line]
    return (causes[-1] if causes else trace[:300]).strip()
