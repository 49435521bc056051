"""A standalone Flink, as it ships in the package pyflink: its own folders and ports, for this machine only.

Started with Flink's own scripts, a session cluster (`flink run` submits jobs to it) or an application (the cluster of
one job). Everything it starts is in process groups of its own, so that nothing is left when it is stopped.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pyflink
import requests
from ruamel.yaml import YAML

from eml.local.jars import connector_jar
from eml.local.process import LOOPBACK, free_port
from tests.integration.harness import Job

FLINK_HOME = Path(pyflink.__file__).parent
PYTHON = ("-pyclientexec", sys.executable, "-pyexec", sys.executable)
ENTRY = ("--job-classname", "org.apache.flink.client.python.PythonDriver", *PYTHON, "-pym", "eml.job")
START_S = 300  # a few seconds; a busy machine takes longer
GRACE_S = 20


class Cluster:
    """One JobManager and one TaskManager with two slots."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.page = f"http://{LOOPBACK}:{free_port()}"
        self._groups: list[int] = []
        for name in ("conf", "lib", "log", "pid"):
            (folder / name).mkdir()
        for file in FLINK_HOME.glob("conf/log4j*"):
            (folder / "conf" / file.name).symlink_to(file)
        for jar in (*FLINK_HOME.glob("lib/*.jar"), connector_jar()):
            (folder / "lib" / jar.name).symlink_to(jar)
        (folder / "conf/workers").write_text("localhost\n")
        (folder / "conf/config.yaml").write_text("".join(f"{name}: {value}\n" for name, value in self._options()))

    def _options(self) -> Iterable[tuple[str, object]]:
        packaged = YAML(typ="safe").load(FLINK_HOME / "conf/config.yaml")
        return {
            "env.java.opts.all": packaged["env"]["java"]["opts"]["all"],  # what Java 17 must open to Flink
            "rest.address": LOOPBACK,
            "rest.bind-address": LOOPBACK,
            "rest.port": self.page.rpartition(":")[2],
            "jobmanager.rpc.address": LOOPBACK,
            "jobmanager.rpc.port": free_port(),
            "jobmanager.bind-host": LOOPBACK,
            "jobmanager.memory.process.size": "1200m",
            "taskmanager.host": LOOPBACK,
            "taskmanager.bind-host": LOOPBACK,
            "taskmanager.numberOfTaskSlots": 2,
            "taskmanager.memory.process.size": "1600m",
        }.items()

    # -- starting and stopping -------------------------------------------------------------------------------------

    def start(self) -> Self:
        """A session cluster, ready for jobs."""
        self._script("start-cluster.sh")
        self._wait_for_taskmanager()
        return self

    def start_application(self, *arguments: str) -> Self:
        """The cluster of one job, with the job's own arguments; it submits the job itself."""
        self._script("standalone-job.sh", "start", *ENTRY, *arguments)
        self._script("taskmanager.sh", "start")
        self._wait_for_taskmanager()
        return self

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """-9 for all of it."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        end = time.monotonic() + GRACE_S
        while self.running() and time.monotonic() < end:
            time.sleep(0.2)
        for group in self._groups:  # Python's workers may stay when their TaskManager goes
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        self._groups.clear()
        for file in self.folder.glob("pid/*.pid"):
            file.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def pids(self) -> list[int]:
        """Of the JobManager and the TaskManager."""
        return [int(line) for file in self.folder.glob("pid/*.pid") for line in file.read_text().split()]

    def running(self) -> bool:
        return any(_runs(pid) for pid in self.pids())

    # -- jobs ------------------------------------------------------------------------------------------------------

    def submit(self, settings: Path, *options: str) -> str:
        """`flink run` as deploy/README.md has it; returns the job's id."""
        said = self.flink("run", "-d", *options, *PYTHON, "-pym", "eml.job", "--settings", str(settings))
        return _found(r"submitted with JobID (\w+)", said)

    def stop_with_savepoint(self, job_id: str) -> str:
        """`flink stop`; returns the savepoint's path."""
        savepoints = (self.folder / "savepoints").as_uri()
        return _found(r"Savepoint completed. Path: (\S+)", self.flink("stop", "--savepointPath", savepoints, job_id))

    def cancel(self) -> None:
        """Cancel all jobs, and wait until an application's JobManager has ended with them."""
        for job in requests.get(f"{self.page}/jobs", timeout=10).json()["jobs"]:
            requests.patch(f"{self.page}/jobs/{job['id']}?mode=cancel", timeout=10).raise_for_status()
        end = time.monotonic() + START_S
        while all(_runs(pid) for pid in self.pids()):
            assert time.monotonic() < end, self.log()
            time.sleep(0.2)

    def state(self, job_id: str) -> str:
        return str(requests.get(f"{self.page}/jobs/{job_id}", timeout=10).json()["state"])

    def flink(self, *arguments: str) -> str:
        """What the command line says; it must not fail."""
        done = subprocess.run(  # noqa: S603
            [str(FLINK_HOME / "bin/flink"), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self._environment(),
            timeout=START_S,
            check=False,
        )
        assert not done.returncode, done.stdout[-5000:]
        return done.stdout

    def log(self) -> str:
        files = sorted(self.folder.glob("log/*"))
        return "\n".join(f"{file.name}:\n{file.read_text(errors='replace')[-5000:]}" for file in files)

    # -- scripts ---------------------------------------------------------------------------------------------------

    def _script(self, name: str, *arguments: str) -> None:
        """Run a script that starts a process, both in a group of their own."""
        output = self.folder / "log" / f"{name}.out"  # no pipe: what was started would keep it open
        with output.open("w") as file:
            script = subprocess.Popen(  # noqa: S603
                [str(FLINK_HOME / "bin" / name), *arguments],
                stdout=file,
                stderr=subprocess.STDOUT,
                env=self._environment(),
                start_new_session=True,
            )
        self._groups.append(script.pid)
        assert not script.wait(START_S), output.read_text()

    def _environment(self) -> dict[str, str]:
        folders = {f"FLINK_{name.upper()}_DIR": str(self.folder / name) for name in ("conf", "lib", "log", "pid")}
        return {**os.environ, "FLINK_HOME": str(FLINK_HOME), "OMP_NUM_THREADS": "1", **folders}

    def _wait_for_taskmanager(self) -> None:
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            with contextlib.suppress(requests.RequestException):
                if requests.get(f"{self.page}/overview", timeout=5).json().get("taskmanagers"):
                    return
            time.sleep(0.5)
        raise AssertionError(self.log())


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match, text[-5000:]
    return match[1]


@dataclass
class ClusterJob(Job):
    """The job on a cluster; `process` stays None."""

    cluster: Cluster = field(kw_only=True)
    job_id: str = ""

    def start(self, *arguments: str) -> "ClusterJob":
        """Submit it, with options of `flink run`."""
        self.job_id = self.cluster.submit(self.file(), *arguments)
        return self

    def file(self) -> Path:
        """The settings, written."""
        file = self.folder / "eml.toml"
        file.write_text(self.toml())
        return file

    def alive(self) -> bool:
        """Whether its cluster runs, and the job has not ended on it."""
        ended = {"FAILED", "FINISHED", "CANCELED"}
        return self.cluster.running() and not (self.job_id and self.cluster.state(self.job_id) in ended)

    def log(self) -> str:
        return self.cluster.log()
