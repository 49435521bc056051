"""Views and their weights: the better one counts more, and probabilities are probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eml.core.memory import Memory
from eml.core.views import FIRST_WEIGHT, FORGET, HEAVIEST, Pooling, RunningAccuracy, View, softmax
from tests.unit.core.helpers import Values


def scores_of(y: Values, quality: float, seed: int) -> Values:
    """Scores of a view that knows the class to a degree."""
    scores = np.random.default_rng(seed).normal(size=(len(y), 3))
    scores[np.arange(len(y)), y] += quality
    return scores


@given(arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.floats(-1e6, 1e6)))
def test_probabilities_are_positive_sum_to_one_and_follow_the_logits(logits):
    p = softmax(logits)
    assert (p >= 0.0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(np.take_along_axis(p, logits.argmax(axis=1)[:, None], 1)[:, 0], p.max(axis=1))


@pytest.mark.parametrize("better", [0, 1])
def test_weight_goes_to_the_better_of_two_views(better):
    pooling = Pooling.start(2.0, 2.0)
    for batch in range(20):
        y = np.random.default_rng(batch).integers(0, 3, 32)
        qualities = [0.1, 0.1]
        qualities[better] = 1.5
        pooling.update([scores_of(y, q, 100 * batch + v) for v, q in enumerate(qualities)], y)
    assert pooling.shares[better] > 0.8
    np.testing.assert_allclose(pooling.shares.sum(), 1.0)


def test_the_weights_follow_when_the_other_view_becomes_the_better_one():
    pooling = Pooling.start(2.0, 2.0)
    for batch in range(80):
        y = np.random.default_rng(batch).integers(0, 3, 32)
        qualities = (1.5, 0.0) if batch < 20 else (0.0, 1.5)
        pooling.update([scores_of(y, q, 100 * batch + v) for v, q in enumerate(qualities)], y)
    assert pooling.shares[1] > 0.8


def test_updates_lower_the_log_loss_of_what_comes_next():
    def loss(pooling: Pooling, y: Values, scores: list[Values]) -> float:
        return float(-np.log(softmax(pooling.logits(scores))[np.arange(len(y)), y]).mean())

    pooling = Pooling.start(2.0, 2.0)
    y = np.random.default_rng(999).integers(0, 3, 500)
    test = [scores_of(y, 1.0, 5), scores_of(y, 0.3, 6)]
    before = loss(pooling, y, test)
    for batch in range(20):
        truth = np.random.default_rng(batch).integers(0, 3, 32)
        pooling.update([scores_of(truth, 1.0, 100 * batch), scores_of(truth, 0.3, 100 * batch + 1)], truth)
    assert loss(pooling, y, test) < before - 0.1


def test_a_single_view_learns_how_sure_it_may_be():
    sure, unsure = Pooling.start(FIRST_WEIGHT), Pooling.start(FIRST_WEIGHT)
    for batch in range(20):
        y = np.random.default_rng(batch).integers(0, 3, 32)
        sure.update([scores_of(y, 4.0, batch)], y)
        unsure.update([scores_of(y, 0.0, batch)], y)
    assert unsure.w[0] < 0.5 < sure.w[0]


@given(st.lists(st.tuples(st.floats(-30, 30), st.integers(0, 1)), min_size=1, max_size=10), st.integers(1, 5))
def test_weights_stay_finite_and_within_bounds_whatever_the_scores(scores, steps):
    s = np.array([[value, -value] for value, _ in scores])
    y = np.array([label for _, label in scores])
    pooling = Pooling.start(2.0, 2.0)
    pooling.update([s, 2.0 * s], y, steps=steps)  # two views that say the same: the curvature is singular
    assert np.isfinite(pooling.w).all()
    assert (pooling.w >= 0.0).all()
    assert (pooling.w <= HEAVIEST).all()
    assert np.isfinite(pooling.curvature).all()


def test_one_confident_mistake_does_not_silence_a_view():
    pooling = Pooling.start(FIRST_WEIGHT)
    scores = np.array([[5.0, -5.0]] * 7 + [[-3.0, 3.0]])  # far better than chance, and sure of itself
    for _ in range(5):
        pooling.update([scores], np.zeros(8, dtype=np.intp))
        assert pooling.w[0] > 0.01


def test_shares_of_no_weight_at_all_are_defined():
    np.testing.assert_array_equal(Pooling.start(0.0, 0.0).shares, [0.0, 0.0])


def test_pooled_logits_are_the_weighted_sum():
    a, b = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    np.testing.assert_allclose(Pooling.start(2.0, 0.5).logits([a, b]), 2.0 * a + 0.5 * b)


# -- one view ------------------------------------------------------------------------------------------------------


def remembered(n: int = 40, d: int = 5) -> tuple[Memory, Values]:
    random = np.random.default_rng(0)
    memory, y = Memory.empty(n, 0.25, d), np.arange(n) % 2
    X = random.normal(size=(n, d)) + 2.0 * y[:, None]
    memory.add(X, np.ones((n, d), dtype=np.bool_), y, random)
    return memory, random.normal(size=(6, d))


def test_a_column_that_a_sample_lacks_is_left_out_on_both_sides():
    memory, X = remembered()
    L = np.random.default_rng(1).normal(size=(3, 5))
    view = View("all", np.arange(5), L)
    view.refresh(memory, 2, np.zeros(5))
    present = np.ones((6, 5), dtype=np.bool_)
    present[2, [1, 3]] = False
    present[4] = False
    D = view.distances(X, present, memory, 3)

    without = View("rest", np.array([0, 2, 4]), L[:, [0, 2, 4]])
    without.refresh(memory, 2, np.zeros(5))
    everything = np.ones((6, 5), dtype=np.bool_)
    np.testing.assert_allclose(D[2], without.distances(X, everything, memory, 3)[2], rtol=1e-5)
    np.testing.assert_array_equal(D[4], 0.0)  # nothing to be told apart by
    complete = [0, 1, 3, 5]
    np.testing.assert_array_equal(D[complete], view.distances(X, everything, memory, 3)[complete])


def test_what_a_sample_lacks_has_no_influence_on_its_distances():
    memory, X = remembered()
    view = View("all", np.arange(5), np.eye(5))
    view.refresh(memory, 2, np.zeros(5))
    present = np.ones((6, 5), dtype=np.bool_)
    present[:, 2] = False
    changed = X.copy()
    changed[:, 2] = 1e6
    np.testing.assert_array_equal(view.distances(X, present, memory, 3), view.distances(changed, present, memory, 3))


def test_the_centre_moves_no_distance():
    memory, X = remembered()
    L, everything = np.eye(5), np.ones((6, 5), dtype=np.bool_)
    one, two = View("all", np.arange(5), L), View("all", np.arange(5), L)
    one.refresh(memory, 2, np.zeros(5))
    two.refresh(memory, 2, np.full(5, 3.0))
    np.testing.assert_allclose(
        one.distances(X, everything, memory, 3), two.distances(X, everything, memory, 3), rtol=1e-4
    )


def test_neighbours_are_found_far_from_the_origin():
    memory, X = remembered()
    far = Memory.empty(40, 0.25, 5)
    far.add(memory.samples(np.arange(40), np.arange(5)) + 1e5, memory.observed, memory.y, np.random.default_rng(0))
    everything = np.ones((6, 5), dtype=np.bool_)
    near_view, far_view = View("all", np.arange(5), np.eye(5)), View("all", np.arange(5), np.eye(5))
    near_view.refresh(memory, 2, np.zeros(5))
    far_view.refresh(far, 2, np.full(5, 1e5))
    expected = near_view.distances(X, everything, memory, 3)
    np.testing.assert_allclose(far_view.distances(X + 1e5, everything, far, 3), expected, rtol=0.1)


def test_a_view_has_no_score_before_it_was_tested_and_recent_batches_count_more():
    tally = RunningAccuracy()
    assert tally.score is None
    right, wrong = np.array([[1.0, 0.0]] * 4), np.array([[0.0, 1.0]] * 4)
    y = np.zeros(4, dtype=np.intp)
    tally.record(right, y)
    assert tally.score == 1.0
    tally.record(wrong, y)
    kept = FORGET ** (4 / 32)
    assert tally.score == pytest.approx(kept / (1 + kept))
