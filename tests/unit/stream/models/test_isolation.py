"""A micro-batch that made our own code fail: only the record at fault is lost."""

from collections.abc import Sequence

import pytest

from eml.core import EvolvingMetricLearner
from eml.stream.errors import RegistryUnavailableError
from eml.stream.keys import KeyName
from eml.stream.models import state_codec
from eml.stream.models.isolation import INTERNAL, Isolation
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import Results
from eml.stream.records import Raw
from eml.stream.wire import SchemaId
from tests.unit.stream.models.test_key_model import SETTINGS, look_up, records, run

NAME = KeyName("pump")
RAWS = records([1] * 20)


def load(parts: state_codec.StateParts) -> KeyModel:
    return state_codec.load(NAME, SETTINGS, parts)


def isolated(faults: Sequence[int]) -> tuple[Results, Isolation]:
    """All records, where those with these numbers make the code fail after they changed the model."""

    def step(model: KeyModel, raws: Sequence[Raw]) -> Results:
        results = model.step(raws, look_up)
        if any(raw.position.offset in faults for raw in raws):
            raise ZeroDivisionError
        return results

    isolation = Isolation(load, step, state_codec.StateParts())
    return isolation.run(RAWS), isolation


@pytest.mark.parametrize("faults", [[0], [7], [19], [3, 4], [0, 10, 19]])
def test_only_the_records_at_fault_are_dead_letters_and_the_others_get_what_they_would_have_got(faults):
    results, isolation = isolated(faults)
    assert [letter.raw.position.offset for letter in results.dead_letters] == faults
    assert {letter.reason for letter in results.dead_letters} == {INTERNAL}
    without = [raw for raw in RAWS if raw.position.offset not in faults]
    assert results.predictions == run(without).predictions
    assert isolation.failures == len(faults)
    model = KeyModel(NAME, SETTINGS)
    model.step(without, look_up)
    assert state_codec.take_all(isolation.model) == state_codec.take_all(model)


def test_where_only_learning_fails_the_window_is_dropped_and_no_record(monkeypatch):
    learn = EvolvingMetricLearner.learn

    def fails(self: EvolvingMetricLearner, rows: object, labels: Sequence[str]) -> None:
        if self.revision == 8:
            raise ZeroDivisionError
        learn(self, rows, labels)  # type: ignore[arg-type]

    raws = records([1] * 12, labelled=1.0)
    before = KeyModel(NAME, SETTINGS)
    before.step(raws[:9], look_up)  # eight windows of one reading; the ninth reading waits for another
    monkeypatch.setattr(EvolvingMetricLearner, "learn", fails)
    isolation = Isolation(load, lambda model, piece: model.step(piece, look_up), state_codec.take_all(before))
    results = isolation.run(raws[9:])
    assert not results.dead_letters
    assert [prediction.position.offset for prediction in results.predictions] == [9, 10, 11]
    assert results.not_learnt == isolation.failures == 3


def test_what_waits_for_a_schema_waits_with_all_behind_it():
    def away(schema_id: SchemaId):
        if schema_id == 20:
            raise RegistryUnavailableError("away", 700)
        return look_up(schema_id)

    def step(model: KeyModel, raws: Sequence[Raw]) -> Results:
        if len(raws) > 4:
            raise ZeroDivisionError
        return model.step(raws, away)

    raws = records([1] * 6 + [2] + [1] * 9)
    results = Isolation(load, step, state_codec.StateParts()).run(raws)
    assert len(results.predictions) == 6
    assert results.waiting == raws[6:]
    assert results.retry_after_ms == 700
