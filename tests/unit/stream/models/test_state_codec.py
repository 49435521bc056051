"""What a key keeps in state: exact through bytes, and what this release wrote goes on."""

import pytest

from eml.core import SnapshotDamagedError, SnapshotVersionError
from eml.stream import waiting_records
from eml.stream.keys import KeyName
from eml.stream.models import state_codec
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


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"X" + b[1:], lambda b: b[:20] + b"?" + b[21:]])
def test_damaged_bytes_are_refused(damage):
    with pytest.raises(SnapshotDamagedError, match="older checkpoint"):
        waiting_records.load(damage(golden_state.WAITING.read_bytes()))


def test_a_newer_format_is_refused_with_advice():
    whole = golden_state.WAITING.read_bytes()
    with pytest.raises(SnapshotVersionError, match="upgrade"):
        waiting_records.load(whole[:4] + b"\x03\x00" + whole[6:])
