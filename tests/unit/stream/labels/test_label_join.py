"""The join of readings with labels: against a simple model, wherever its log is cut, and as the first release wrote it.

The golden log is written once per version, never again after its release. To write it anew while the version is not
released yet, from the root of the project:

    .venv/bin/python -m tests.unit.stream.labels.test_label_join
"""

from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import FeatureSpace, SnapshotDamagedError, SnapshotVersionError
from eml.stream.labels.label_join import SMALL_LOG, LabelCounts, LabelJoin
from eml.stream.labels.unlabelled import ReadingSource, UnlabelledReading
from eml.stream.wire import SchemaId
from tests.unit.stream.labels.join_model import LIMIT, WAIT_MS, Model

GOLDEN = Path(__file__).parents[3] / "fixtures" / "join-v1.emlj"
OLD = FeatureSpace(("temp", "rpm"))
NEW = FeatureSpace(("temperature", "rpm", "torque"), {"temperature": ("temp",)})


def reading(
    event_id: str, timestamp_ms: int, space: FeatureSpace = OLD, predicted: str | None = "ok"
) -> UnlabelledReading:
    values = np.arange(len(space), dtype=np.float64) + timestamp_ms
    values[-1] = np.nan
    source = ReadingSource("readings", SchemaId(len(space)), 1, space)
    fresh = None if predicted is None else f"not {predicted}"
    event_time = None if timestamp_ms % 2 else timestamp_ms - 5
    return UnlabelledReading(
        event_id, event_time, 3, timestamp_ms + 7, timestamp_ms, source, values, predicted, fresh, fresh is not None, 12
    )


def same(one: UnlabelledReading | None, other: UnlabelledReading | None) -> bool:
    """Equal in every part and in every bit of the values."""
    if one is None or other is None:
        return one is other
    if one.values.tobytes() != other.values.tobytes():
        return False
    none = np.empty(0)
    return replace(one, values=none) == replace(other, values=none)


def counts(**named: int) -> LabelCounts:
    return LabelCounts(**named)


# -- what becomes of readings and labels ---------------------------------------------------------------------------


def test_a_label_finds_its_reading():
    join = LabelJoin(LIMIT, WAIT_MS)
    waiting = reading("a", 10)
    assert join.add_reading(waiting) is None
    assert len(join) == 1
    assert join.add_label("a", "ok", 20) is waiting
    assert len(join) == 0
    assert join.take_counts() == counts(joined=1)
    assert join.take_counts() == counts()


def test_an_early_label_waits_for_its_reading():
    join = LabelJoin(LIMIT, WAIT_MS)
    assert join.add_label("a", "ok", 10) is None
    assert join.add_reading(reading("a", 20)) == "ok"
    assert join.take_counts() == counts(early=1, joined=1)


def test_the_first_label_stands():
    join = LabelJoin(LIMIT, WAIT_MS)
    join.add_label("a", "ok", 10)
    assert join.add_label("a", "bad", 11) is None
    assert join.add_reading(reading("a", 12)) == "ok"
    assert join.add_label("a", "ok", 13) is None
    assert join.add_label("a", "bad", 14) is None
    assert join.take_counts() == counts(early=1, joined=1, duplicates=1, contradictions=2)


def test_a_label_inside_the_reading_stands_against_an_early_one():
    join = LabelJoin(LIMIT, WAIT_MS)
    join.add_label("a", "bad", 10)
    join.add_label("b", "ok", 10)
    assert join.add_labelled("a", "ok", 11)
    assert join.add_labelled("b", "ok", 11)
    assert join.add_label("a", "ok", 12) is None
    assert join.take_counts() == counts(early=2, contradictions=1, duplicates=2)


def test_a_reading_is_learnt_once():
    join = LabelJoin(LIMIT, WAIT_MS)
    join.add_reading(reading("a", 10))
    assert join.add_reading(reading("a", 11)) is None
    assert join.add_label("a", "ok", 12) is not None
    assert join.add_reading(reading("a", 13)) is None
    assert not join.add_labelled("a", "ok", 14)
    assert not join.add_labelled("a", "bad", 15)
    assert join.take_counts() == counts(joined=1, repeated=4, contradictions=1)


def test_a_reading_that_comes_again_with_its_label_is_learnt_then():
    join = LabelJoin(LIMIT, WAIT_MS)
    join.add_reading(reading("a", 10))
    assert join.add_labelled("a", "ok", 11)
    assert join.add_label("a", "ok", 12) is None
    assert join.take_counts() == counts(repeated=1, duplicates=1)
    assert len(join) == 0


def test_the_oldest_make_room():
    join = LabelJoin(2, WAIT_MS)
    for event_id in "abc":
        join.add_reading(reading(event_id, 10))
        join.add_label(event_id.upper(), "ok", 10)
    assert join.take_counts() == counts(early=3, unlabelled=1, unmatched=1)
    assert [join.add_label(event_id, "ok", 10) is not None for event_id in "abc"] == [False, True, True]


def test_nothing_waits_longer_than_the_limit_by_the_largest_timestamp():
    join = LabelJoin(LIMIT, WAIT_MS)
    join.add_reading(reading("a", 1000))
    join.add_label("b", "ok", 1000)
    join.add_label("c", "ok", 1000 + WAIT_MS)
    assert join.counts == counts(early=2)
    assert join.add_label("a", "ok", 1001 + WAIT_MS) is None
    assert join.counts == counts(early=3, unlabelled=1, unmatched=1)


def test_what_is_late_has_its_time_and_a_clock_from_the_future_closes_nothing():
    join = LabelJoin(LIMIT, WAIT_MS)
    join.add_label("x", "ok", 10**15)
    join.add_reading(reading("a", 1000))
    assert join.add_label("a", "ok", 1001) is not None


# -- against a model, through its log ------------------------------------------------------------------------------


class Logged:
    """A join as the operator keeps one: its log grows, is rewritten, and at times is all that is left of it."""

    def __init__(self) -> None:
        self.join, self.pieces = LabelJoin(LIMIT, WAIT_MS), list[bytes]()

    def keep(self, how: str) -> None:
        if how == "whole":
            self.pieces = [self.join.take_all()]
        else:
            piece = self.join.take_changes()
            self.pieces += [] if piece is None else [piece]
            assert self.join.take_changes() is None, "nothing happened since"
        if how == "restart":
            before, self.join = self.join, LabelJoin.load(LIMIT, WAIT_MS, self.pieces)
            self.join.counts = before.counts
            assert self.join.is_outgrown == before.is_outgrown


IDS = st.sampled_from("abcdefg")
LABELS = st.sampled_from(["ok", "bad"])
STEPS = st.sampled_from([-20, 0, 1, 1, 7, 30, WAIT_MS + 1])  # of time, now and then backwards
EVENTS = st.lists(
    st.tuples(st.sampled_from(["reading", "labelled", "label"]), IDS, LABELS, STEPS, st.sampled_from([OLD, NEW])),
    max_size=60,
)
KEEPS = st.sampled_from(["nothing", "changes", "changes", "whole", "restart"])


def happen(join: LabelJoin | Model, now: int, event: tuple[str, str, str, int, FeatureSpace]) -> Any:
    what, event_id, label, _, space = event
    if what == "reading":
        return join.add_reading(reading(event_id, now, space, label))
    return join.add_labelled(event_id, label, now) if what == "labelled" else join.add_label(event_id, label, now)


@given(EVENTS, st.data())
def test_it_does_what_the_model_does_wherever_its_log_is_cut(events, data):
    model, logged, now = Model(), Logged(), 1000
    for event in events:
        now += event[3]
        expected, got = happen(model, now, event), happen(logged.join, now, event)
        assert same(got, expected) if isinstance(got, UnlabelledReading) else got == expected
        assert logged.join.counts == model.counts
        how = data.draw(KEEPS)
        if how != "nothing":
            logged.keep(how)
    everything = [buffer.items() for buffer in (logged.join._unlabelled, logged.join._early, logged.join._known)]
    for got, expected in zip(everything, (model.unlabelled, model.early, model.known), strict=True):
        assert [row[:2] for row in got] == [tuple(row[:2]) for row in expected]


@given(EVENTS, st.data())
def test_what_is_kept_does_not_depend_on_the_pieces(events, data):
    one, other, now = Logged(), Logged(), 1000
    for event in events:
        now += event[3]
        for logged in (one, other):
            happen(logged.join, now, event)
            how = data.draw(KEEPS)
            if how != "nothing":
                logged.keep(how)
    assert one.join.take_all() == other.join.take_all()


def test_a_limit_that_was_lowered_holds_from_the_next_reading_on():
    join = LabelJoin(5, WAIT_MS)
    for event_id in "abcde":
        join.add_reading(reading(event_id, 10))
    lower = LabelJoin.load(2, WAIT_MS, [join.take_all()])
    lower.add_reading(reading("f", 10))
    assert len(lower) == 2
    assert lower.counts == counts(unlabelled=4)
    piece = lower.take_changes()
    assert piece is not None
    assert len(LabelJoin.load(2, WAIT_MS, [join.take_all(), piece])) == 2


# -- the log -------------------------------------------------------------------------------------------------------


def test_a_space_is_written_once():
    join = LabelJoin(10, WAIT_MS)
    sizes, spaces = [], [FeatureSpace(tuple(f"feature_{i}" for i in range(50))) for _ in range(3)]
    for number, space in enumerate(spaces):  # equal, not the same: as a restored schema would be
        join.add_reading(reading(str(number), 10, space))
        sizes.append(len(join.take_changes() or b""))
    assert sizes[1] < sizes[0] - 500
    assert sizes[2] < sizes[1] + 10, "but for the clock's last timestamps"
    assert len(LabelJoin.load(10, WAIT_MS, [join.take_all()])) == 3


def test_a_log_is_rewritten_seldom_and_stays_bounded():
    logged, wholes, longest = Logged(), 0, 0
    logged.join = LabelJoin(20, 10**6)
    for number in range(3000):
        logged.join.add_reading(reading(f"event {number}", 1000 + number))
        logged.join.add_label(f"event {number - 10}", "ok", 1000 + number)
        logged.keep("changes")
        longest = max(longest, sum(map(len, logged.pieces)))
        if logged.join.is_outgrown:
            logged.keep("whole")
            wholes += 1
    assert 0 < wholes < 40
    assert longest < 2 * SMALL_LOG
    assert LabelJoin.load(20, 10**6, logged.pieces).take_all() == logged.join.take_all()


def test_values_of_a_loaded_reading_are_its_own():
    join = LabelJoin(LIMIT, WAIT_MS)
    for event_id in "ab":
        join.add_reading(reading(event_id, 10))
    loaded = LabelJoin.load(LIMIT, WAIT_MS, [join.take_all()]).add_label("a", "ok", 11)
    assert loaded is not None
    assert loaded.values.base is None
    assert loaded.values.flags.writeable


def golden() -> LabelJoin:
    """Two versions of readings, one value missing, a label that is early, one that was settled, all after a cut."""
    join = LabelJoin(LIMIT, WAIT_MS)
    join.add_reading(reading("gone", 1_763_270_000_000))
    join.add_label("gone", "läuft", 1_763_270_000_001)
    join.add_reading(reading("first", 1_763_270_000_002))
    join.add_reading(reading("second", 1_763_270_000_003, NEW, None))
    join.add_label("third", "steht", 1_763_270_000_004)
    return join


def test_the_first_releases_log_goes_on():
    assert golden().take_all() == GOLDEN.read_bytes()
    join = LabelJoin.load(LIMIT, WAIT_MS, [GOLDEN.read_bytes()])
    assert join.take_all() == GOLDEN.read_bytes()
    assert same(join.add_label("second", "steht", 1_763_270_000_005), reading("second", 1_763_270_000_003, NEW, None))
    assert join.add_reading(reading("third", 1_763_270_000_006)) == "steht"
    assert join.add_label("gone", "steht", 1_763_270_000_007) is None
    assert astuple(join.counts) == astuple(counts(joined=2, contradictions=1))


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"X" + b[1:], lambda b: b[:20] + b"?" + b[21:]])
def test_damaged_bytes_are_refused(damage):
    with pytest.raises(SnapshotDamagedError, match="older checkpoint"):
        LabelJoin.load(LIMIT, WAIT_MS, [damage(GOLDEN.read_bytes())])


def test_a_newer_format_is_refused_with_advice():
    data = GOLDEN.read_bytes()
    with pytest.raises(SnapshotVersionError, match="upgrade"):
        LabelJoin.load(LIMIT, WAIT_MS, [data[:4] + b"\x02\x00" + data[6:]])


if __name__ == "__main__":
    GOLDEN.write_bytes(golden().take_all())
