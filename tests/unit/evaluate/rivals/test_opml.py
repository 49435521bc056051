"""OPML: the closed form is the minimiser it is said to be, and stays a metric; triplets are made of the latest."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eml.evaluate.rivals import opml
from eml.evaluate.rivals.opml import STEP, OnePassMetric, updated


def triplet(seed, width=5):
    """A factor, and differences of samples of norm at most 1 that violate the margin."""
    random = np.random.default_rng(seed)
    same, other = (random.normal(size=width) for _ in range(2))
    factor = np.eye(width) + 0.1 * random.normal(size=(width, width))
    return factor, 1.9 * same / np.linalg.norm(same), 0.4 * other / np.linalg.norm(other)


def objective(factor, start, same, other):
    hinge = 1.0 + ((factor @ same) ** 2).sum() - ((factor @ other) ** 2).sum()
    return 0.5 * ((factor - start) ** 2).sum() + 0.5 * STEP * hinge


@given(st.integers(0, 1000))
def test_the_closed_form_is_the_minimiser(seed):
    start, same, other = triplet(seed)
    best = updated(start, same, other, STEP)
    slope = best - start + STEP * best @ (np.outer(same, same) - np.outer(other, other))
    np.testing.assert_allclose(slope, 0.0, atol=1e-10)
    random = np.random.default_rng(seed)
    for size in (1e-2, 1e-1, 1.0):
        near = best + size * random.normal(size=best.shape)
        assert objective(near, start, same, other) > objective(best, start, same, other)


@given(st.integers(0, 1000))
def test_it_pulls_the_one_and_pushes_the_other_most(seed):
    start, same, other = triplet(seed)
    best = updated(start, same, other, STEP)

    def margin(factor):
        return ((factor @ other) ** 2).sum() - ((factor @ same) ** 2).sum()

    assert margin(best) > margin(start)


def test_a_kept_margin_changes_nothing():
    factor = np.eye(3)
    assert updated(factor, np.zeros(3), np.array([1.5, 0.0, 0.0]), STEP) is factor


def test_the_metric_stays_positive_and_finite_over_a_long_stream():
    random = np.random.default_rng(0)
    metric = OnePassMetric(4, 0)
    metric.learn(random.standard_t(2, size=(3000, 4)), random.integers(0, 3, size=3000).tolist())  # far outliers
    product = metric.factor.T @ metric.factor
    assert np.isfinite(product).all()
    assert np.linalg.eigvalsh(product).min() > 0.0


def test_a_triplet_is_made_of_the_latest_of_its_class_and_of_another(monkeypatch):
    seen = []

    def spy(factor, same, other, _step):
        seen.append((same[0], other[0]))
        return factor

    monkeypatch.setattr(opml, "updated", spy)
    metric = OnePassMetric(1, 0)
    metric.learn(np.array([[16.0], [1.0], [2.0], [4.0], [8.0]]), ["x", "y", "z", "x", "z"])
    # the fourth follows 16 of its class and 2 of z; the fifth 2 of its class and 4 of x
    assert [(16 * same, 16 * other) for same, other in seen] == [(-12.0, 2.0), (6.0, 4.0)]
