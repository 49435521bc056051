"""The job on a real broker, a real registry and Flink with real Python workers."""

from collections import Counter
from itertools import zip_longest
from pathlib import Path

import pytest

from eml.local.fleet import VERSIONS
from eml.local.stack import Stack
from eml.stream.outputs import read_evolution, read_prediction
from tests.integration import reference
from tests.integration.harness import Job, Message, Topics, readings_of, receive, register_versions, send

pytestmark = pytest.mark.slow

KEYS = 50
PER_KEY = (40, 30, 30)  # records under each version
ALONE = (160, 120, 120)  # of one key that goes further
Place = tuple[int, int]


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

    def expected(self) -> dict[str, list[tuple[object, ...]]]:
        """What the learner alone says of every key's records: label, scores, margin."""
        return {key: _said(messages) for key, messages in self.messages.items()}


def _said(messages: list[Message]) -> list[tuple[object, ...]]:
    samples = [message.sample for message in messages if message.sample]
    return [
        (said.label, dict(said.scores), None if said.label is None else said.margin)
        for said in reference.predictions(samples)
    ]


@pytest.fixture(scope="module")
def fleet(stack: Stack) -> Fleet:
    return Fleet(stack)


class Outcome:
    """What a job wrote, as bytes by the place of the reading."""

    def __init__(self, fleet: Fleet, job: Job) -> None:
        written = receive(job, job.topics.predictions, len(fleet.in_order))
        self.count = len(written)
        self.predictions: dict[Place, bytes] = {}
        self.by_key: dict[str, list[tuple[object, ...]]] = {}
        for fields, value in sorted(((read_prediction(r.value), r.value) for r in written), key=_place):
            self.predictions[_place((fields, value))] = value
            self.by_key.setdefault(str(fields["key"]), []).append((fields["label"], fields["scores"], fields["margin"]))
        self.evolutions = [read_evolution(r.value) for r in receive(job, job.topics.evolutions, 2 * KEYS + 2, 30)]


def _place(item: tuple[dict[str, object], bytes]) -> Place:
    fields = item[0]
    return fields["source_partition"], fields["source_offset"]  # type: ignore[return-value]


@pytest.fixture(scope="module")
def unbroken(stack: Stack, fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The job with the settings as they come, at parallelism 1."""
    with Job(stack, fleet.topics, tmp_path_factory.mktemp("job")).start() as job:
        return Outcome(fleet, job)


def test_every_record_has_one_prediction(fleet: Fleet, unbroken: Outcome):
    assert unbroken.count == len(unbroken.predictions) == len(fleet.in_order)


def test_predictions_are_the_learners_own_to_the_last_bit(fleet: Fleet, unbroken: Outcome):
    expected = fleet.expected()
    assert unbroken.by_key.keys() == expected.keys()
    for key, said in expected.items():
        assert unbroken.by_key[key] == said, key
    assert any(label is not None for label, _, _ in expected["machine-0"])


def test_evolution_events_say_what_changed(fleet: Fleet, unbroken: Outcome):
    assert Counter((e["key"], e["new_version"]) for e in unbroken.evolutions) == Counter(
        (key, version) for key in fleet.messages for version in (2, 3)
    )
    for event in unbroken.evolutions:
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
    with Job(stack, topics, tmp_path, {"job": {"parallelism": 2, "micro_batch_ms": 900}}).start() as job:
        outcome = Outcome(fleet, job)
    assert outcome.predictions == unbroken.predictions
    assert outcome.count == unbroken.count
