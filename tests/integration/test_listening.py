"""Fault 0: nothing the job, its workers or the stack open may be reached from another machine; and what it shows."""

import os
import re
import time
from pathlib import Path

import pytest
import requests

from eml.local.process import free_port
from eml.local.stack import Stack
from tests.integration.harness import Job, Topics, readings_of, receive, register_versions, send
from tests.integration.listening import listeners

pytestmark = pytest.mark.slow


class PlainJob(Job):
    """The job as a user starts it: no worker mode and no log folder is set."""

    def _environment(self) -> dict[str, str]:
        left_out = ("_python_worker_execution_mode", "FLINK_LOG_DIR")
        return {name: value for name, value in super()._environment().items() if name not in left_out}


def test_fault_0_every_socket_is_on_loopback_and_the_page_takes_no_commands(stack: Stack, tmp_path: Path):
    topics = Topics.new(stack)
    writers = register_versions(stack, topics.readings)
    port = free_port()
    settings: dict[str, object] = {"log_dir": str(tmp_path / "logs"), "metrics_port": port, "heartbeat_s": 2}
    with PlainJob(stack, topics, tmp_path, {"job": settings}).start() as job:
        send(stack, topics.readings, readings_of("pump", writers, (20, 0, 0), seed=1))
        receive(job, topics.predictions, 20)  # the workers and their servers are up
        found = listeners(os.getpid())  # the stack, too, where the tests have started it
        assert len({one.pid for one in found}) >= 2, "the job's Python and its Java process"
        assert not [one for one in found if not one.loopback]
        assert port in {one.port for one in found}
        assert_counted(job, f"http://127.0.0.1:{port}/metrics")
        page = re.findall(r"Flink's page: (http://127\.0\.0\.1:\d+)", job.log())
        assert len(page) == 1, job.log()
        assert requests.get(f"{page[0]}/jobs/overview", timeout=5).json()["jobs"][0]["state"] == "RUNNING"
        config = requests.get(f"{page[0]}/config", timeout=5).json()["features"]
        assert config == {**config, "web-submit": False, "web-cancel": False}
        assert requests.get(f"{page[0]}/jars", timeout=5).status_code == 404, "there is no place for jars"


def assert_counted(job: Job, address: str) -> None:
    """Prometheus gets the operator's counts, and the console says them; both are some seconds behind."""
    predicted = re.compile(r"^flink_taskmanager_job_task_operator_predictions\{.*\} 20\.0$", re.MULTILINE)
    told = re.compile(r"eml\.job: .*records.*, versions 1: 100%, right [\d.]+% of \d+ labels, no dead letters, ")
    end = time.monotonic() + 60
    while not (predicted.search(requests.get(address, timeout=5).text) and told.search(job.log())):
        assert time.monotonic() < end, f"{requests.get(address, timeout=5).text[-3000:]}\n{job.log()[-3000:]}"
        time.sleep(0.5)
