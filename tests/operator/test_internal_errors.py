"""An error nobody foresaw concerns the record it happens at: no other record, no other key, and no restart."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eml.core import EvolvingMetricLearner
from eml.settings import JobSettings
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.output.encoder import Encoder, read_prediction
from eml.stream.output.predictions import PredictedReadings
from eml.stream.records import Raw
from tests.operator.test_operator import BUCKET, SETTINGS, STREAM, Task, in_pieces, predictions
from tests.unit.stream.models.test_key_model import records

BAD = 33  # the reading at fault


class UnforeseenError(Exception):
    """A mistake of ours."""


def values_of(raws: list[Raw], number: int) -> float:
    """Something that only one reading has: its last feature."""
    return float(np.frombuffer((raws[number].value or b"")[-8:], "<f8")[0])


def failing(monkeypatch: pytest.MonkeyPatch, method: str, marked: float) -> None:
    """Let a method of the learner fail on samples with this value."""
    real: Callable[..., Any] = getattr(EvolvingMetricLearner, method)

    def fail(self: EvolvingMetricLearner, X: Any, *more: Any) -> Any:
        if (np.asarray(X) == marked).any():
            raise UnforeseenError("secret words")
        return real(self, X, *more)

    monkeypatch.setattr(EvolvingMetricLearner, method, fail)


def sent(task: Task, raws: list[Raw], size: int) -> tuple[list[bytes], list[Any]]:
    rows = [row for piece in in_pieces(raws, size) for row in task.send("pump", piece)]
    return predictions(rows), [letter for row in rows for letter in row["dead_letters"]]


@pytest.mark.parametrize("size", [1, 7, 120])
def test_a_reading_that_cannot_be_served_is_a_dead_letter_and_the_model_is_as_it_was_before_it(monkeypatch, size):
    raws = records(STREAM)
    without = predictions(Task().send("pump", raws[:BAD] + raws[BAD + 1 :]))
    failing(monkeypatch, "answers", values_of(raws, BAD))
    task = Task()
    said, letters = sent(task, raws, size)
    assert said == without
    ((_, content, headers),) = letters
    assert content == raws[BAD].value
    assert headers["eml.errors.reason"] == b"internal"
    assert headers["__connect.errors.exception.class.name"] == b"UnforeseenError"
    assert headers["__connect.errors.offset"] == str(BAD).encode()
    assert task.runtime.counters["internal_errors"].count == 1
    assert predictions(task.send("other", records([1] * 5)))


@pytest.mark.parametrize("times", [1, 1000])
def test_readings_that_fail_together_are_served_one_after_another_by_the_model_as_it_was(monkeypatch, times):
    raws, tried = records([1] * 60 + [2] * 60), []
    without, _ = sent(Task(), raws, 20)
    real: Callable[..., Any] = KeyModel.serve

    def fail(self: KeyModel, readings: Any, newest: Any) -> Any:
        results = real(self, readings, newest)
        tried.append(results)
        if len(tried) <= times:
            raise UnforeseenError("after all of them were predicted and learnt")
        return results

    monkeypatch.setattr(KeyModel, "serve", fail)
    task = Task()
    assert sent(task, raws, 20) == (without, [])
    assert len(tried) == 6, "each call is tried together first"
    assert "internal_errors" not in task.runtime.counters or not task.runtime.counters["internal_errors"].count


def test_after_a_restart_the_same_record_does_not_loop(monkeypatch):
    raws = records(STREAM)
    failing(monkeypatch, "answers", values_of(raws, BAD))
    task = Task()
    first = sent(task, raws[:60], 20)
    again = sent(Task(runtime=task.runtime), raws[60:], 20)
    unbroken = sent(Task(), raws, 20)
    assert (first[0] + again[0], len(first[1] + again[1])) == (unbroken[0], 1)


@pytest.mark.parametrize("size", [5, 120])
def test_labelled_readings_that_cannot_be_learnt_are_dropped_and_the_key_goes_on(monkeypatch, size, caplog):
    raws = records([1] * 120, labelled=1.0)
    failing(monkeypatch, "learn", values_of(raws, BAD))
    task = Task()
    said, letters = sent(task, raws, size)
    assert len(said) == 120
    assert not letters, "every reading has its prediction"
    assert task.runtime.counters["labels_not_learnt"].count == 7, "what waited in its window"
    last = read_prediction(said[-1])
    assert last["label"] is not None
    assert last["model_revision"] == 15 + 5, "of those before all windows are learnt, and of those behind"
    assert "UnforeseenError in fail" in caplog.text
    assert "secret words" not in caplog.text


def test_what_cannot_be_written_is_a_dead_letter_too(monkeypatch):
    raws = records([1] * 20)
    real = Encoder.predictions

    def predictions(self: Encoder, key: KeyName, said: PredictedReadings) -> list[bytes]:
        if 7 in said.names.offsets:
            raise UnforeseenError
        return real(self, key, said)

    monkeypatch.setattr(Encoder, "predictions", predictions)
    said, letters = sent(Task(), raws, 20)
    assert len(said) == 19
    assert [headers["eml.errors.reason"] for _, _, headers in letters] == [b"internal"]


def test_a_setting_stops_the_task_instead(monkeypatch):
    raws = records(STREAM)
    failing(monkeypatch, "answers", values_of(raws, BAD))
    task = Task(replace(SETTINGS, job=JobSettings(on_internal_error="stop")))
    with pytest.raises(UnforeseenError):
        task.send("pump", raws)


@pytest.mark.parametrize("part", ["index", "model", "window"])
def test_a_key_whose_state_is_damaged_does_not_stop_its_neighbours(part):
    task = Task()
    task.send("pump", records([1] * 40))
    task.send("other", records([1] * 40))
    task.runtime.states[part].damage(BUCKET, "pump")
    task = Task(runtime=task.runtime)
    (row,) = task.send("pump", records([1] * 3))
    assert [headers["eml.errors.reason"] for _, _, headers in row["dead_letters"]] == [b"internal"] * 3
    assert b"older checkpoint" in row["dead_letters"][0][2]["__connect.errors.exception.message"]
    assert len(predictions(task.send("other", records([1] * 3)))) == 3


def test_records_that_wait_behind_one_that_fails_go_on_waiting(monkeypatch):
    raws = records([1] * 40 + [2] * 20)
    without = predictions(Task().send("pump", raws[:BAD] + raws[BAD + 1 :]))
    failing(monkeypatch, "answers", values_of(raws, BAD))
    task = Task()
    task.registry.down = {20}
    said = predictions(task.send("pump", raws))
    task.registry.down = set()
    said += predictions(task.pass_time(600))
    assert said == without
