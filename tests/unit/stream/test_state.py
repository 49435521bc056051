"""What a key keeps in state: exact through bytes, and what the first release wrote can be read."""

import numpy as np
import pytest

from eml.core import SnapshotDamagedError, SnapshotVersionError
from eml.stream import waiting
from eml.stream.fleet import KeyModel
from eml.stream.window import NOT_STARTED, Window
from tests.unit.stream import golden
from tests.unit.stream.test_fleet import SETTINGS, look_up, records


def test_the_first_releases_model_goes_on():
    model = KeyModel.load("pump", SETTINGS, golden.MODEL.read_bytes(), None)
    assert model.dump() == golden.MODEL.read_bytes()
    results = model.step(records(golden.STREAM + golden.NEXT)[len(golden.STREAM) :], look_up)
    assert not results.evolutions, "it knows the version it is on"
    assert {said.stage for said in results.predictions} == {"inheriting"}
    assert {said.model_revision for said in results.predictions} == {5}
    right = sum(said.label == said.truth for said in results.predictions if said.truth)
    assert right >= 4


def test_the_first_releases_window_and_waiting_records_are_read():
    old, new = Window.load(golden.WINDOW.read_bytes()), golden.window()
    assert (old.started_ms, old.late, old.labels) == (new.started_ms, new.late, new.labels)
    np.testing.assert_array_equal(old.values[0], new.values[0])
    assert waiting.load(golden.WAITING.read_bytes()) == golden.RAWS


def test_bytes_are_the_first_releases():
    assert golden.window().dump() == golden.WINDOW.read_bytes()
    assert waiting.dump(golden.RAWS) == golden.WAITING.read_bytes()


def test_an_empty_window_stays_empty():
    empty = Window.load(Window().dump())
    assert len(empty) == 0
    assert empty.started_ms == NOT_STARTED


def test_a_window_is_emptied_by_taking_it():
    window = golden.window()
    values, labels = window.take()
    assert values.shape == (2, 3)
    assert labels == ["läuft", "steht"]
    assert (len(window), window.started_ms, window.late) == (0, NOT_STARTED, 3)


@pytest.mark.parametrize("load", [waiting.load, Window.load])
@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"X" + b[1:], lambda b: b[:20] + b"?" + b[21:]])
def test_damaged_bytes_are_refused(load, damage):
    whole = (golden.WAITING if load is waiting.load else golden.WINDOW).read_bytes()
    with pytest.raises(SnapshotDamagedError, match="older checkpoint"):
        load(damage(whole))


@pytest.mark.parametrize("load", [waiting.load, Window.load])
def test_a_newer_format_is_refused_with_advice(load):
    whole = (golden.WAITING if load is waiting.load else golden.WINDOW).read_bytes()
    with pytest.raises(SnapshotVersionError, match="upgrade"):
        load(whole[:4] + b"\x02\x00" + whole[6:])
