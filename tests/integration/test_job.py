"""The job on a real broker, a real registry and Flink with real Python workers."""

from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest

from eml.local.fleet import VERSIONS
from eml.local.stack import Stack
from eml.stream.output.encoder import read_evolution
from tests.integration.harness import (
    Job,
    Predicted,
    Topics,
    expected,
    read_scores,
    readings_of,
    receive,
    register_versions,
    send,
)

pytestmark = pytest.mark.slow

KEYS = 50
PER_KEY = (40, 30, 30)  # records under each version
ALONE = (160, 120, 120)  # of one key that goes further


class Fleet:
    """Fifty machines and one that goes further, through three versions, all in one topic."""

    def __init__(self, stack: Stack) -> None:
        self.topics = Topics.new(stack)
        self.writers = register_versions(stack, self.topics.readings)
        self.messages = {
            key: readings_of(key, self.writers, PER_KEY, seed)
            for seed, key in enumerate(f"machine-{number}" for number in range(KEYS))
        }
        self.messages["alone"] = readings_of("alone", self.writers, ALONE, KEYS)
        rounds = zip_longest(*self.messages.values())  # all machines send at the same time
        self.in_order = [message for together in rounds for message in together if message]
        send(stack, self.topics.readings, self.in_order)


@pytest.fixture(scope="module")
def fleet(stack: Stack) -> Fleet:
    return Fleet(stack)


@dataclass(frozen=True)
class Outcome:
    """What a job wrote."""

    predicted: Predicted
    scores: dict[tuple[int, int], bytes]
    evolutions: list[dict[str, object]]

    @classmethod
    def of(cls, fleet: Fleet, job: Job) -> "Outcome":
        events = 2 * len(fleet.messages)
        return cls(
            Predicted.read(job, len(fleet.in_order)),
            read_scores(job, fleet.in_order),
            [read_evolution(record.value) for record in receive(job, job.topics.evolutions, events, 30)],
        )


@pytest.fixture(scope="module")
def unbroken(stack: Stack, fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The job with the settings as they come, at parallelism 1; every record has exactly one prediction."""
    with Job(stack, fleet.topics, tmp_path_factory.mktemp("job")).start() as job:
        return Outcome.of(fleet, job)


def test_predictions_are_the_learners_own_to_the_last_bit(fleet: Fleet, unbroken: Outcome):
    assert unbroken.predicted.said.keys() == fleet.messages.keys()
    for key, messages in fleet.messages.items():
        assert unbroken.predicted.said[key] == expected(messages), key
    assert unbroken.predicted.said["alone"][-1][0] is not None


def test_evolution_events_say_what_changed(fleet: Fleet, unbroken: Outcome):
    evolutions = [event for event in unbroken.evolutions if event["kind"] == "evolution"]
    assert Counter((e["key"], e["new_version"]) for e in evolutions) == Counter(
        (key, version) for key in fleet.messages for version in (2, 3)
    )
    for event in evolutions:
        old, new = VERSIONS[event["old_version"] - 1], VERSIONS[event["new_version"] - 1]  # type: ignore[operator]
        change = old.diff(new)
        assert tuple(event["vanished"]) == change.vanished  # type: ignore[arg-type]
        assert tuple(event["survived"]) == change.survived  # type: ignore[arg-type]
        assert tuple(event["augmented"]) == change.augmented  # type: ignore[arg-type]
        assert event["renamed"] == change.renamed
        assert event["new_schema_id"] == fleet.writers[event["new_version"] - 1].schema_id  # type: ignore[operator]
        assert event["warm"]
        assert not event["announced"]


def test_neither_micro_batches_nor_parallelism_change_a_byte(
    stack: Stack, fleet: Fleet, unbroken: Outcome, tmp_path: Path
):
    topics = Topics.new(stack, readings=fleet.topics.readings)
    with Job(stack, topics, tmp_path, {"job": {"parallelism": 2, "micro_batch_ms": 150}}).start() as job:
        assert Predicted.read(job, len(fleet.in_order)).bytes == unbroken.predicted.bytes
        assert read_scores(job, fleet.in_order) == unbroken.scores
