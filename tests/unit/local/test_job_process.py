"""The job as a process: what is run, how it is seen to run or not, and its end. No Flink: it needs a JVM."""

import json
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from eml.local.errors import LocalError, StartError
from eml.local.job_process import JobProcess
from eml.local.process import LOOPBACK
from eml.local.state import process_id, wait_for_end

FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""  # a job with a process of its own, as Flink's Java is one


class OtherProgram(JobProcess):
    """Runs a program in place of the job."""

    program = FAMILY

    def command(self) -> list[str]:
        return [sys.executable, "-c", self.program]


def test_the_text_is_all_that_sets_the_job(tmp_path, monkeypatch):
    monkeypatch.setenv("EML_KAFKA_BOOTSTRAP_SERVERS", "other:9092")
    monkeypatch.setenv("EML_CACHE", "kept")
    job = JobProcess("[registry]\n", tmp_path, {"a.b": "c"}, environment={"OMP_NUM_THREADS": "2"})
    command = job.command()
    assert (tmp_path / "eml.toml").read_text() == "[registry]\n"
    assert command[:3] == ["/usr/bin/env", "-u", "EML_KAFKA_BOOTSTRAP_SERVERS"]
    assert not any("EML_CACHE" in part for part in command)
    assert "OMP_NUM_THREADS=2" in command
    program = command[command.index(sys.executable) :]
    assert program[1:5] == ["-m", "eml.job", "--settings", str(tmp_path / "eml.toml")]
    assert {"a.b=c", f"rest.bind-port={job.port}", f"rest.bind-address={LOOPBACK}"} <= set(program)


@pytest.mark.slow
def test_a_job_that_cannot_start_says_why(tmp_path):
    with JobProcess("[kafka]\nbotstrap_servers = 'x'\n", tmp_path) as job:
        job.start()
        with pytest.raises(StartError, match="did you mean"):
            job.wait_until_running()
        assert not job.alive


def test_a_job_that_does_not_come_up_in_time_is_an_error_with_the_end_of_its_log(tmp_path, monkeypatch):
    monkeypatch.setattr(OtherProgram, "timeout_s", 1.0)
    monkeypatch.setattr(OtherProgram, "program", "import time; print('still at it', flush=True); time.sleep(600)")
    with OtherProgram("", tmp_path) as job:
        job.start()
        with pytest.raises(StartError, match="still at it"):
            job.wait_until_running()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_its_end_is_the_end_of_all_it_started(tmp_path, end):
    job = OtherProgram("", tmp_path)
    job.start()
    try:
        job.check()
        child = process_id(_first_number(job.log))
        supervisor = process_id(job.pid or 0)
        (tmp_path / "tmp" / "scrap").touch()
    finally:
        getattr(job, end)()
    assert wait_for_end([child, supervisor], 5)
    assert not (tmp_path / "tmp").exists()
    with pytest.raises(LocalError, match="The job ended"):
        job.check()
    job.stop()  # once more is no error


def _first_number(log: Path) -> int:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if (text := log.read_text()).endswith("\n"):
            return int(text)
        time.sleep(0.05)
    raise AssertionError("the program did not start")


class Overview(BaseHTTPRequestHandler):
    """Flink's page, as far as it is asked."""

    answer: object = None

    def do_GET(self) -> None:
        body = json.dumps(self.answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def flink(tmp_path: Path) -> Iterator[JobProcess]:
    """A job on whose port a page answers."""
    job = JobProcess("", tmp_path)
    with HTTPServer((LOOPBACK, job.port), Overview) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield job
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("answer", "runs"),
    [
        ({"jobs": []}, False),
        ({"jobs": [{"state": "INITIALIZING", "tasks": {}}]}, False),
        ({"jobs": [{"state": "RUNNING", "tasks": {"total": 3, "running": 2}}]}, False),
        ({"jobs": [{"state": "RUNNING", "tasks": {"total": 3, "running": 3}}]}, True),
        ({"jobs": [{"state": "FAILED", "tasks": {"total": 3, "running": 3}}]}, False),
        ({"errors": ["not yet"]}, False),
    ],
)
def test_it_runs_when_flink_says_so_of_the_job_and_all_its_tasks(flink, monkeypatch, answer, runs):
    monkeypatch.setattr(Overview, "answer", answer)
    assert flink.healthy() is runs


def test_it_does_not_run_where_nobody_answers(tmp_path):
    assert not JobProcess("", tmp_path).healthy()


def test_it_waits_only_for_a_job_that_was_started(tmp_path):
    with pytest.raises(LocalError, match="not started"):
        JobProcess("", tmp_path).wait_until_running()
    assert not any(tmp_path.iterdir())
