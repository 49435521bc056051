"""Stopping and starting: the same command goes on where the job stood, and never begins anew by itself."""

import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from eml.local.stack import Stack
from tests.integration.harness import Job, Predicted, Topics, expected, readings_of, receive, register_versions, send

pytestmark = pytest.mark.slow


def interrupt(job: Job, number: signal.Signals) -> str:
    """Stop a job by a signal, as a terminal or a service manager does; returns its output."""
    assert job.process is not None
    job.process.send_signal(number)
    assert job.process.wait(60) == 0, job.log()[-5000:]
    job.kill()
    return job.log()


def refused(job: Job, *arguments: str) -> str:
    """What a job says that must not start."""
    with job.start(*arguments):
        assert job.process is not None
        assert job.process.wait(120) == 1, job.log()[-5000:]
        return job.log()


def test_fault_4_the_same_command_goes_on_after_a_stop_and_after_a_crash(stack: Stack, tmp_path: Path):
    """Also faults 8 (start = "committed", new group), 18 (a stop that says how to go on) and 19 (a quote in SQL)."""
    topics = Topics.new(stack)
    writers = register_versions(stack, topics.readings)
    messages = readings_of("pump", writers, (60, 30, 30), seed=1)
    kafka: dict[str, object] = {"start": "committed", "transactional_id_prefix": f"it's-{topics.predictions}"}
    with Job(stack, topics, tmp_path, {"kafka": kafka}).start() as job:
        send(stack, topics.readings, messages[:30])
        assert len(receive(job, topics.predictions, 30)) == 30
        said = interrupt(job, signal.SIGINT)
        assert "first start" in said
        assert "the same command goes on from there" in said
        assert "Traceback" not in said
        job.start()
        send(stack, topics.readings, messages[30:60])
        assert len(receive(job, topics.predictions, 60)) == 60
        assert "going on from savepoint file://" in job.log()
        job.kill()
        job.start()
        send(stack, topics.readings, messages[60:90])
        assert len(receive(job, topics.predictions, 90)) == 90
        assert "going on from checkpoint file://" in job.log()
        interrupt(job, signal.SIGTERM)
        job.start()
        send(stack, topics.readings, messages[90:])
        assert Predicted.read(job, 120).said == {"pump": expected(messages)}
        logs = list(tmp_path.glob("flink-eml-*.log"))
    assert len(logs) == 4, "fault 18: a log for each start"


def test_fault_4_nothing_is_begun_anew_unless_asked_for_and_no_second_job_is_started(stack: Stack, tmp_path: Path):
    topics = Topics.new(stack)
    writers = register_versions(stack, topics.readings)
    with Job(stack, topics, tmp_path).start() as job:
        send(stack, topics.readings, readings_of("pump", writers, (30, 0, 0), seed=1))
        assert len(receive(job, topics.predictions, 30)) == 30
        interrupt(job, signal.SIGINT)
    elsewhere: dict[str, dict[str, object]] = {"job": {"checkpoint_dir": (tmp_path / "elsewhere").as_uri()}}
    shutil.copytree(tmp_path / "checkpoints", tmp_path / "elsewhere/of-another-job")
    said = refused(replace(job, settings=elsewhere))
    assert "this job has run before" in said
    assert "--fresh" in said
    with replace(job, settings=elsewhere).start("--fresh") as again:
        assert len(receive(again, topics.predictions, 60)) == 60, "read again, because that was asked for"
        assert "fresh start: ignoring the job's earlier run" in again.log()
        second = Job(stack, topics, tmp_path / "second", elsewhere)
        second.folder.mkdir()
        assert "is running already (process" in refused(second)
        # As from another machine, where the lock is not seen; the stream is idle: only checkpoints show that it runs.
        for lock in (tmp_path / "elsewhere").glob("*/lock"):
            lock.unlink()
        assert "another run of this job is live" in refused(second)
        assert len(receive(again, topics.predictions, 60, 5)) == 60
        assert again.alive()
