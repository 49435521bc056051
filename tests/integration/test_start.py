"""What is wrong is said before anything runs, with what to do."""

from pathlib import Path

import pytest

from eml.local.stack import Stack
from tests.integration.harness import Job, Topics

pytestmark = pytest.mark.slow


def refused(job: Job, status: int = 1) -> str:
    """What a job says that must not start."""
    with job.start():
        assert job.process is not None
        assert job.process.wait(90) == status, job.log()
        return job.log()


def test_topics_and_transactions_are_checked(stack: Stack, tmp_path: Path):
    wrong = {"evolutions_topic": "no-such-topic", "transaction_timeout_ms": 2_000_000_000}
    said = refused(Job(stack, Topics.new(stack), tmp_path, {"kafka": wrong}))
    assert "'no-such-topic' (kafka.evolutions_topic) does not exist: create it" in said
    assert "kafka.transaction_timeout_ms is 2000000000, the brokers allow" in said
    assert "Traceback" not in said


def test_more_tasks_than_partitions_are_refused(stack: Stack, tmp_path: Path):
    said = refused(Job(stack, Topics.new(stack, partitions=2), tmp_path, {"job": {"parallelism": 3}}))
    assert "has 2 partitions, fewer than job.parallelism 3: add partitions, or lower the parallelism" in said


def test_a_broker_or_a_registry_that_does_not_answer_is_named(stack: Stack, tmp_path: Path):
    job = Job(stack, Topics.new(stack), tmp_path, {"kafka": {"bootstrap_servers": "127.0.0.1:9"}})
    assert "no answer from the brokers at 127.0.0.1:9" in refused(job, 3)
    job = Job(stack, job.topics, tmp_path, {"registry": {"url": "http://127.0.0.1:9/api"}})
    assert "http://127.0.0.1:9/api" in refused(job, 3)
