"""What a key keeps in state: exact through bytes, and what this release wrote goes on."""

import numpy as np
import pytest

from eml.core import SnapshotDamagedError, SnapshotVersionError
from eml.stream import waiting_records
from eml.stream.keys import KeyName
from eml.stream.models import state_codec
from eml.stream.models.window import NOT_STARTED, Window
from tests.unit.stream.models import golden_state
from tests.unit.stream.models.test_key_model import SETTINGS, look_up, records


def test_this_releases_state_goes_on_where_it_was():
    rest = records(golden_state.STREAM + golden_state.NEXT * 5 + [1, 2] * 10)[len(golden_state.STREAM) :]
    kept = state_codec.load(KeyName("pump"), SETTINGS, golden_state.parts())
    then = kept.step(rest, look_up)
    now = golden_state.model().step(rest, look_up)
    assert [said.label for said in then.predictions] == [said.label for said in now.predictions]
    assert [(event.kind, event.recovery) for event in then.evolutions] == [
        (event.kind, event.recovery) for event in now.evolutions
    ]
    assert (then.scored, then.right) == (now.scored, now.right)


def test_waiting_records_are_read_and_written_as_ever():
    assert waiting_records.load(golden_state.WAITING.read_bytes()) == golden_state.RAWS
    assert waiting_records.dump(golden_state.RAWS) == golden_state.WAITING.read_bytes()


def test_a_window_is_the_same_through_bytes_and_emptied_by_taking_it():
    window = Window()
    window.add(np.array([[1.5, np.nan, -2.0], [0.0, 1e300, 5.0]]), ["läuft", "steht"], 1_763_270_000_123)
    again = Window.load(*window.dump())
    values, labels = again.take()
    np.testing.assert_array_equal(values, window.take()[0])
    assert labels == ["läuft", "steht"]
    assert (len(again), again.started_ms) == (0, NOT_STARTED)
    assert len(Window.load(*again.dump())) == 0


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"X" + b[1:], lambda b: b[:20] + b"?" + b[21:]])
def test_damaged_bytes_are_refused(damage):
    with pytest.raises(SnapshotDamagedError, match="older checkpoint"):
        waiting_records.load(damage(golden_state.WAITING.read_bytes()))


def test_a_newer_format_is_refused_with_advice():
    whole = golden_state.WAITING.read_bytes()
    with pytest.raises(SnapshotVersionError, match="upgrade"):
        waiting_records.load(whole[:4] + b"\x03\x00" + whole[6:])
