"""The job on a standalone Flink: submitted with the documented command, moved by a savepoint, and as an application."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eml.local.stack import Stack
from tests.integration.cluster import Cluster, ClusterJob
from tests.integration.harness import (
    Predicted,
    Said,
    Topics,
    expected,
    readings_of,
    register_versions,
    send,
)

pytestmark = pytest.mark.slow

MACHINES = 6
PER_MACHINE = (60, 50, 40)  # records under each version


class Fleet:
    """Machines that send at the same time, through three versions."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.topics = Topics.new(stack, partitions=2)
        writers = register_versions(stack, self.topics.readings)
        self.streams = {
            f"press-{seed}": readings_of(f"press-{seed}", writers, PER_MACHINE, seed) for seed in range(MACHINES)
        }

    def send(self, begin: int, end: int) -> None:
        """Each machine's records from one number up to another."""
        together = zip(*(stream[begin:end] for stream in self.streams.values()), strict=True)
        send(self.stack, self.topics.readings, [message for at_once in together for message in at_once])

    def said(self, end: int) -> dict[str, list[Said]]:
        """What the learner alone says of the records up to a number."""
        return {key: expected(stream[:end]) for key, stream in self.streams.items()}


@pytest.fixture
def fleet(stack: Stack) -> Fleet:
    return Fleet(stack)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path) as cluster:
        yield cluster


def predicted(job: ClusterJob, per_machine: int) -> dict[str, list[Said]]:
    """What was written; fails where a record has no prediction, or two."""
    return Predicted.read(job, MACHINES * per_machine).said


def test_a_job_is_submitted_stopped_with_a_savepoint_and_goes_on_with_more_tasks(
    fleet: Fleet, cluster: Cluster, tmp_path: Path
):
    first, second, third = 80, 110, 150  # in version 2, its end, the end of version 3
    fleet.send(0, first)
    job = ClusterJob(fleet.stack, fleet.topics, tmp_path, cluster=cluster.start()).start()
    assert predicted(job, first) == fleet.said(first)
    fleet.send(first, second)
    savepoint = cluster.stop_with_savepoint(job.job_id)
    assert cluster.state(job.job_id) == "FINISHED"
    fleet.send(second, third)
    job.settings = {"job": {"parallelism": 2, "micro_batch_ms": 500}}
    job.start("-s", savepoint)
    assert predicted(job, third) == fleet.said(third)


def test_what_is_wrong_is_said_at_the_submission(fleet: Fleet, cluster: Cluster, tmp_path: Path):
    job = ClusterJob(fleet.stack, fleet.topics, tmp_path, cluster=cluster)  # which is not even asked
    job.settings = {"kafka": {"readings_topic": "no-such-topic"}}
    with pytest.raises(AssertionError, match=r"'no-such-topic' .* does not exist: create it"):
        job.start()


def test_an_application_that_was_killed_goes_on_by_itself_until_it_is_cancelled(
    fleet: Fleet, cluster: Cluster, tmp_path: Path
):
    job = ClusterJob(fleet.stack, fleet.topics, tmp_path, {"job": {"connector_jar": "cluster"}}, cluster=cluster)
    arguments = ("--settings", str(job.file()), "--restore", "auto")
    fleet.send(0, 80)
    cluster.start_application(*arguments)
    assert predicted(job, 80) == fleet.said(80)
    fleet.send(80, 110)
    cluster.kill()
    fleet.send(110, 150)
    cluster.start_application(*arguments)
    assert predicted(job, 150) == fleet.said(150)
    cluster.cancel()
    assert "application status CANCELED" in cluster.log()
