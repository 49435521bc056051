"""The memory of exemplars: bounded, balanced, repeatable, and fading."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core.memory import Memory
from tests.unit.core.helpers import Values


def offer(memory: Memory, y: list[int], seed: int = 0, start: int = 0) -> Values:
    """Offer samples whose values are their numbers from `start` on."""
    d = 2
    X = np.arange(start, start + len(y), dtype=np.float64)[:, None] + np.zeros(d)
    present = np.ones((len(y), d), dtype=np.bool_)
    return memory.add(X, present, np.array(y, dtype=np.intp), np.random.default_rng(seed))


def filled(y: list[int], capacity: int, refresh: float = 0.25, seed: int = 0) -> Memory:
    memory = Memory.empty(capacity, refresh, 2)
    offer(memory, y, seed)
    return memory


BATCHES = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=25), min_size=1, max_size=8)


@given(batches=BATCHES, capacity=st.integers(5, 30), refresh=st.floats(0, 1))
def test_the_memory_is_bounded_and_every_class_keeps_a_place(batches, capacity, refresh):
    memory = Memory.empty(capacity, refresh, 2)
    seen: set[int] = set()
    for number, batch in enumerate(batches):
        before = memory.X.copy(), memory.y.copy()
        rows = offer(memory, batch, seed=number, start=1000 * (number + 1))
        seen |= set(batch)
        assert len(memory) == len(memory.X) == len(memory.observed) <= capacity
        assert set(memory.y.tolist()) == seen
        for sample, row in enumerate(rows):  # the rows it answers are where the samples are
            if row >= 0:
                assert memory.X[row, 0] == 1000 * (number + 1) + sample
                assert memory.y[row] == batch[sample]
        untouched = np.setdiff1d(np.arange(len(before[1])), rows)
        np.testing.assert_array_equal(memory.X[untouched], before[0][untouched])
        np.testing.assert_array_equal(memory.y[untouched], before[1][untouched])


@given(batches=BATCHES, capacity=st.integers(5, 30))
def test_nothing_is_turned_away_while_there_is_room(batches, capacity):
    memory = Memory.empty(capacity, 0.25, 2)
    for number, batch in enumerate(batches):
        room = capacity - len(memory)
        rows = offer(memory, batch, seed=number)
        if len(batch) <= room:
            assert sorted(rows.tolist()) == list(range(capacity - room, capacity - room + len(batch)))


@pytest.mark.parametrize("rare", [0.02, 0.3])
def test_classes_are_balanced_however_rare_they_are(rare):
    random = np.random.default_rng(0)
    memory = Memory.empty(60, 0.25, 2)
    for number in range(100):
        offer(memory, (random.random(32) < rare).astype(int).tolist(), seed=number)
    assert np.bincount(memory.y).tolist() == [30, 30]


def test_a_class_that_comes_late_gets_its_share():
    memory = filled([0] * 100 + [1] * 100, 60)
    offer(memory, [2] * 40)
    counts = np.bincount(memory.y)
    assert counts[2] == 20
    assert counts.sum() == 60
    assert counts.min() >= 19


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(0, 100))
def test_the_same_chances_keep_the_same_exemplars(y, seed):
    one, two = filled(y, 10, seed=seed), filled(y, 10, seed=seed)
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)


def test_other_chances_keep_other_exemplars():
    y = [0, 1] * 100
    assert not np.array_equal(filled(y, 10, seed=1).X, filled(y, 10, seed=2).X)


def test_without_refreshing_every_sample_of_the_past_is_as_likely_as_a_new_one():
    kept = np.concatenate([filled([0] * 200, 20, refresh=0.0, seed=s).X[:, 0] for s in range(300)])
    counts = np.histogram(kept, bins=4, range=(0, 200))[0] / len(kept)
    np.testing.assert_allclose(counts, 0.25, atol=0.03)


def test_refreshing_fades_the_past():
    ages = [np.median(filled([0] * 1000, 20, refresh=refresh).X[:, 0]) for refresh in (0.0, 0.1, 0.5)]
    assert ages[0] < ages[1] < ages[2]
    assert filled([0] * 1000, 20, refresh=0.5).X.min() > 500  # half enter: a place is overwritten every 40 samples


def test_offers_are_counted_by_class():
    memory = filled([0, 2, 2], 10)
    assert memory.seen.tolist() == [1, 0, 2]
    offer(memory, [4])
    assert memory.seen.tolist() == [1, 0, 2, 0, 1]


def test_remapping_keeps_values_and_knows_nothing_of_new_columns():
    memory = Memory.empty(10, 0.25, 3)
    X = np.arange(12, dtype=np.float64).reshape(4, 3)
    present = X % 5 != 0
    memory.add(X, present, np.array([0, 1, 0, 1]), np.random.default_rng(0))
    memory.move_columns([2, None, 0])
    np.testing.assert_array_equal(memory.X[:, [0, 2]], X[:, [2, 0]])
    np.testing.assert_array_equal(memory.observed[:, [0, 2]], present[:, [2, 0]])
    assert not memory.observed[:, 1].any()
    assert not memory.X[:, 1].any()


def test_new_exemplars_know_nothing_of_the_columns_behind_the_active_ones():
    memory = filled([0, 0], 2)
    memory.move_columns([0, 1, 0])  # a third column, of a vanished feature
    assert memory.observed[:, 2].all()
    rows = np.concatenate([offer(memory, [0] * 20, seed=s) for s in range(3)])
    assert (rows >= 0).any()
    assert not memory.observed[:, 2].any()


def test_keeping_forgets_the_rest():
    memory = filled([0, 1, 0, 1], 10)
    memory.keep(np.array([3, 0]))
    assert memory.X[:, 0].tolist() == [3.0, 0.0]
    assert memory.y.tolist() == [1, 0]
    assert len(memory.observed) == 2


@given(y=st.lists(st.integers(0, 4), min_size=1, max_size=40), count=st.integers(1, 45), seed=st.integers(0, 99))
def test_a_sample_of_the_memory_is_even_over_the_classes(y, count, seed):
    memory = filled(y, 40)
    rows = memory.sample(count, np.random.default_rng(seed))
    assert len(rows) == len(set(rows.tolist())) == min(count, len(memory))
    assert rows.tolist() == sorted(rows.tolist())
    drawn, there = (np.bincount(labels, minlength=5) for labels in (memory.y[rows], memory.y))
    level = drawn.max()
    assert all(got >= min(have, level - 1) for got, have in zip(drawn, there, strict=True))


def test_a_sample_of_the_memory_is_drawn_by_chance():
    memory = filled([0, 1] * 20, 40)
    drawn = {tuple(memory.sample(4, np.random.default_rng(seed))) for seed in range(10)}
    assert len(drawn) > 5


def test_samples_are_doubles_of_the_rows_and_columns_asked_for():
    memory = filled([0, 1, 0], 10)
    values = memory.samples(np.array([2, 0]), np.array([1]))
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, [[2.0], [0.0]])
