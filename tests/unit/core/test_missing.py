"""Samples with missing values: their distances are those of a memory embedded without the columns they lack."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eml.core import missing
from eml.core.memory import Memory
from eml.core.views import View
from tests.unit.core.helpers import Values

CLASSES, NEIGHBOURS = 3, 5


def remembered(X: Values, centre: Values, L: Values) -> tuple[View, Memory]:
    """A view with exemplars X of all classes but the last, which has none."""
    n, d = X.shape
    memory = Memory.empty(n, 0.25, d)
    memory.add(X, np.ones((n, d), dtype=np.bool_), np.arange(n) % (CLASSES - 1), np.random.default_rng(0))
    view = View("all", np.arange(d), L)
    view.refresh(memory, CLASSES, centre)
    return view, memory


def reference(view: View, memory: Memory, x: Values, there: Values) -> Values:
    """Distances (C,) in double precision with the columns left out on both sides."""
    L = view.L[:, there]
    exemplars = (memory.X[:, there].astype(np.float64) - view.centre[there]) @ L.T
    gaps = exemplars - L @ (x - view.centre)[there]
    out = np.full(CLASSES, np.inf)
    for c in range(CLASSES - 1):
        mine = gaps[memory.y == c]
        near = mine[np.argsort((mine**2).sum(axis=1), kind="stable")[:NEIGHBOURS]]
        ranks = np.arange(1, len(near) + 1)
        means = np.cumsum(near, axis=0) / ranks[:, None]
        out[c] = ((means**2).sum(axis=1) / ranks).sum() / (1 / ranks).sum()
    return out


def compared(view: View, memory: Memory, X: Values, there: Values, rtol: float) -> None:
    D = view.distances(X, there, memory, NEIGHBOURS)
    expected = np.array([reference(view, memory, x, t) for x, t in zip(X, there, strict=True)])
    np.testing.assert_allclose(D, expected, rtol=rtol, atol=1e-7 * float((view.L**2).sum()))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(("d", "k"), [(1, 1), (3, 2), (20, 20), (70, 12), (12, 16)])
def test_distances_are_those_without_the_missing_columns(d, k, share):
    random = np.random.default_rng(d)
    view, memory = remembered(random.normal(size=(60, d)), random.normal(size=d) * 0.1, random.normal(size=(k, d)))
    X, there = random.normal(size=(80, d)), random.random((80, d)) >= share
    compared(view, memory, X, there, 1e-4)


def test_features_at_large_offsets_keep_their_small_differences():
    random = np.random.default_rng(1)
    offsets = np.array([0.0, 1e4, -3e4, 50.0, 0.0, 2e3])
    view, memory = remembered(random.normal(size=(60, 6)) + offsets, offsets + 0.1, random.normal(size=(6, 6)))
    X, there = random.normal(size=(40, 6)) + offsets, random.random((40, 6)) >= 0.3
    compared(view, memory, X, there, 1e-2)  # single precision rounds the centre


@pytest.mark.parametrize("heavy", [1e2, 1e4, 1e6])
def test_a_missing_column_that_outweighs_all_others_leaves_no_error_behind(heavy):
    random = np.random.default_rng(2)
    L = random.normal(size=(8, 8))
    L[:, 3] *= heavy
    view, memory = remembered(random.normal(size=(60, 8)), np.zeros(8), L)
    X, there = random.normal(size=(40, 8)), np.ones((40, 8), dtype=np.bool_)
    there[:, 3] = False
    D = view.distances(X, there, memory, NEIGHBOURS)
    expected = np.array([reference(view, memory, x, t) for x, t in zip(X, there, strict=True)])
    np.testing.assert_allclose(D, expected, rtol=1e-3)


@given(of_x=st.integers(-12, 12), of_column=st.integers(-12, 12))
@settings(max_examples=30)
def test_units_of_features_do_not_matter(of_x, of_column):
    random = np.random.default_rng(3)
    X, L = random.normal(size=(40, 5)), random.normal(size=(4, 5))
    units = np.array([10.0**of_x, 10.0**of_column, 1.0, 1.0, 1.0])
    Q, there = random.normal(size=(10, 5)), random.random((10, 5)) >= 0.4
    (one, of_one), (two, of_two) = remembered(X, np.zeros(5), L), remembered(X * units, np.zeros(5), L / units)
    np.testing.assert_allclose(
        two.distances(Q * units, there, of_two, NEIGHBOURS), one.distances(Q, there, of_one, NEIGHBOURS), rtol=1e-3
    )


def test_the_largest_values_give_finite_distances():
    random = np.random.default_rng(4)
    X = random.normal(size=(40, 5))
    X[::3] *= 1e15
    view, memory = remembered(X, np.zeros(5), random.normal(size=(4, 5)) * 1e3)
    Q, there = random.normal(size=(30, 5)) * 1e15, random.random((30, 5)) >= 0.4
    D = view.distances(Q, there, memory, NEIGHBOURS)
    assert np.isfinite(D[:, : CLASSES - 1]).all()
    assert (D >= 0.0).all()


def test_the_smallest_pieces_give_the_same_bits(monkeypatch):
    random = np.random.default_rng(5)
    view, memory = remembered(random.normal(size=(60, 20)), np.zeros(20), random.normal(size=(20, 20)))
    X, there = random.normal(size=(90, 20)), random.random((90, 20)) >= 0.3
    D = view.distances(X, there, memory, NEIGHBOURS)
    monkeypatch.setattr(missing, "AT_ONCE", 1)
    np.testing.assert_array_equal(view.distances(X, there, memory, NEIGHBOURS), D)


def test_the_columns_are_made_anew_after_the_memory_changed():
    random = np.random.default_rng(6)
    view, memory = remembered(random.normal(size=(60, 4)), np.zeros(4), np.eye(4))
    X, there = random.normal(size=(5, 4)), np.array([[True, False, True, True]] * 5)
    compared(view, memory, X, there, 1e-4)
    memory.add(X, np.ones((5, 4), dtype=np.bool_), np.zeros(5, dtype=np.intp), random)
    view.refresh(memory, CLASSES, np.full(4, 0.5))
    compared(view, memory, X, there, 1e-4)
