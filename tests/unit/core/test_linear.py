"""The linear view: the optimum it looks for, missing values, classes, and its way through evolutions."""

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.core import linear as linear_view
from eml.core.arrays import Array
from eml.core.linear import FEWER_STEPS, LEAST, RARE, STEPS, Linear, fit, is_too_wide, penalties
from eml.core.memory import Memory
from eml.core.statistics import Statistics
from tests.unit.core.helpers import SMALL, World, accuracy, space

RNG = np.random.default_rng(4)


def remembered(X: Array, y: list[int], observed: Array | None = None) -> tuple[Memory, Statistics]:
    """A memory of some samples, and their statistics."""
    there = np.isfinite(X) if observed is None else observed.astype(np.bool_)
    memory, statistics = Memory.empty(len(X), 0.25, X.shape[1]), Statistics.empty(X.shape[1])
    values = np.where(there, X, 0.0)
    memory.add(values, there, np.array(y, dtype=np.intp), np.random.default_rng(0))
    statistics.update(values, there)
    return memory, statistics


def two_sides(n: int, d: int = 5, seed: int = 0) -> tuple[Array, list[int]]:
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, (X @ np.arange(1, d + 1) > 0).astype(int).tolist()


def test_a_fit_comes_to_the_optimum_of_its_objective():
    Z = np.hstack([RNG.normal(size=(80, 3)), np.ones((80, 1))]).astype(np.float32)
    y, weights, shrink = RNG.integers(0, 3, 80), RNG.uniform(0.5, 2.0, 80), np.array([1.0, 2.0, 4.0])

    def objective(flat: Array) -> float:
        W = flat.reshape(3, 4)
        logits = Z @ W.T
        lost = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(80), y]
        return float(weights @ lost + 0.5 * (W**2 * np.append(shrink, 0.01)).sum())

    W = fit(Z, y, weights, np.zeros((3, 4)), shrink)
    for _ in range(5):
        W = fit(Z, y, weights, W, shrink)
    best = minimize(objective, np.zeros(12)).x
    assert objective(W.ravel()) == pytest.approx(objective(best), rel=1e-4)
    slope = np.linalg.norm([objective(W.ravel() + h) - objective(W.ravel() - h) for h in 1e-3 * np.eye(12)])
    assert slope < 0.02


def test_two_sides_of_a_plane_are_told_apart_from_few_samples():
    X, y = two_sides(60)
    linear = Linear.empty(5)
    linear.fit(*remembered(X, y), 2)
    unseen, truth = two_sides(400, seed=1)
    right = linear.logits(unseen, np.isfinite(unseen)).argmax(axis=1) == truth
    assert right.mean() > 0.9


def test_a_missing_value_adds_nothing():
    X, y = two_sides(60)
    linear = Linear.empty(5)
    linear.fit(*remembered(X, y), 2)
    there = np.ones((1, 5), dtype=np.bool_)
    there[0, 2] = False
    centre = linear.centre.copy()
    at_centre = X[:1].copy()
    at_centre[0, 2] = centre[2]
    np.testing.assert_allclose(
        linear.logits(X[:1], there), linear.logits(at_centre, np.ones((1, 5), dtype=np.bool_)), atol=1e-5
    )


def test_a_feature_that_few_exemplars_have_is_trusted_less():
    observed = np.ones((100, 3), dtype=np.bool_)
    observed[50:, 1] = False
    observed[2:, 2] = False
    np.testing.assert_allclose(penalties(observed), [1.0, 2.0, RARE])


def test_rare_classes_are_not_outvoted():
    """Of two classes on top of each other the one that came nine times as often is called more often, not always."""
    X = np.random.default_rng(0).normal(size=(1000, 2))
    y = (np.arange(1000) % 10 == 0).astype(int)
    X[y == 1] += 1.0
    linear = Linear.empty(2)
    linear.fit(*remembered(X, y.tolist()), 2)
    said = linear.logits(X, np.isfinite(X)).argmax(axis=1)
    assert 0.05 < (said[y == 1] == 1).mean() < 0.95
    assert (said[y == 0] == 0).mean() > 0.8


def test_a_class_that_comes_late_is_known_from_its_first_fit_on():
    X, y = two_sides(60)
    linear = Linear.empty(5)
    linear.fit(*remembered(X, y), 2)
    X[:10] += 8.0
    y = [2] * 10 + y[10:]
    linear.fit(*remembered(X, y), 3)
    assert linear.logits(X[:10], np.isfinite(X[:10])).argmax(axis=1).tolist() == [2] * 10


def test_columns_move_with_their_weights_and_new_ones_have_none():
    X, y = two_sides(60)
    linear = Linear.empty(5)
    linear.fit(*remembered(X, y), 2)
    W = linear.W.copy()
    linear.retire("gone", 0)
    linear.move([4, None, 2])
    np.testing.assert_array_equal(linear.W[:, 0], W[:, 4])
    np.testing.assert_array_equal(linear.W[:, 1], 0.0)
    linear.bring_back("gone", 1)
    np.testing.assert_array_equal(linear.W[:, 1], W[:, 0])
    assert not linear.retired


def test_levels_of_their_own_add_what_their_column_did():
    X = np.random.default_rng(1).integers(0, 3, (90, 2)).astype(np.float64)
    y = (X[:, 0] > 1).astype(int).tolist()
    linear = Linear.empty(2)
    linear.fit(*remembered(X, y), 2)
    before = linear.logits(X, np.isfinite(X))
    source, new = np.array([0, 0, 0, 1]), np.array([True, True, True, False])
    linear.move(source.tolist(), np.array([0.0, 1.0, 2.0, 1.0]), new)
    spelled = np.column_stack([X[:, 0] == level for level in (0, 1, 2)] + [X[:, 1]]).astype(np.float64)
    np.testing.assert_allclose(linear.logits(spelled, np.isfinite(spelled)), before, atol=1e-4)


def test_survivors_take_over_and_a_returning_feature_has_its_weights():
    """f0 and f1 tell the same; f0 vanishes, and later comes back."""
    rng = np.random.default_rng(0)

    def draw(n: int, *columns: int) -> tuple[Array, list[int]]:
        y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, 4))
        X[:, 0] += 3.0 * (2 * y - 1)
        X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=n)
        return X[:, list(columns)], y.tolist()

    learner = EvolvingMetricLearner(space(0, 1, 2), replace(SMALL, memory_size=200))
    learner.learn(*draw(200, 0, 1, 2))
    learner.evolve(space(1, 2, 3))
    weights = learner.explain().linear_weights
    assert weights["f1"] > 0.8
    assert weights["f3"] == 0.0
    assert accuracy(learner, *draw(200, 1, 2, 3)) > 0.95
    learner.learn(*draw(32, 1, 2, 3))
    learner.evolve(space(2, 3, 0))
    assert learner.explain().linear_weights["f0"] > 0.5
    assert accuracy(learner, *draw(200, 2, 3, 0)) > 0.9


def test_weights_are_told_of_features_and_add_up_to_one():
    learner = EvolvingMetricLearner(FeatureSpace(("a", "mode"), categories=frozenset({"mode"})), SMALL)
    rng = np.random.default_rng(2)
    mode = rng.integers(1, 4, 200).astype(np.float64)
    learner.learn(np.column_stack([rng.normal(size=200), mode]), (mode == 2).tolist())
    weights = learner.explain().linear_weights
    assert set(weights) == {"a", "mode"}
    assert sum(weights.values()) == pytest.approx(1.0)
    assert weights["mode"] > weights["a"]


def test_a_learner_without_the_linear_view_has_none():
    learner = EvolvingMetricLearner(space(0, 1, 2), replace(SMALL, linear=False))
    learner.learn(*World(features=3).draw(100, 1))
    assert learner.explain().linear_weights == {}
    assert set(learner.explain().views) == {"all"}


# -- one device against its neighbours -----------------------------------------------------------------------------


class Work:
    """Counts the multiply-adds of every fit."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fits: list[int] = []
        self.exemplars: list[list[int]] = []  # of each class, in every fit
        monkeypatch.setattr(linear_view, "fit", self.fit)

    def fit(self, Z, y, weights, start, penalty, steps):
        self.fits.append(2 * Z.shape[0] * Z.shape[1] * len(start) * steps)
        self.exemplars.append(np.bincount(y, minlength=len(start)).tolist())
        return fit(Z, y, weights, start, penalty, steps)


def taught(classes: int, d: int, config: LearnerConfig = SMALL, n: int = 120) -> EvolvingMetricLearner:
    """A learner of samples of so many classes, about equally many of each."""
    learner = EvolvingMetricLearner(space(*range(d)), config)
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    learner.learn(rng.normal(size=(classes, d))[y] + rng.normal(size=(n, d)), y.tolist())
    return learner


def test_a_fit_within_its_budget_takes_all_exemplars_and_steps():
    linear = Linear.empty(64)
    linear.set_classes(10)
    assert linear.budget(1024, young=True) == (1024, STEPS)
    assert linear.budget(1024, young=False) == (1024, FEWER_STEPS)


@pytest.mark.parametrize("budget", [2**15, 2**16, 2**18])
def test_the_work_of_a_fit_is_bounded_and_its_exemplars_are_drawn_evenly(monkeypatch, budget):
    monkeypatch.setattr(linear_view, "WORK", budget)
    work = Work(monkeypatch)
    learner = taught(classes=4, d=20)
    assert max(work.fits) <= budget
    assert max(work.fits) > budget / 4
    assert max(max(counts) - min(counts) for counts in work.exemplars if sum(counts) < 100) <= 1
    assert learner.explain().views["linear"].weight > 0.0


def test_a_fit_beyond_its_budget_is_the_same_after_a_restore(monkeypatch):
    monkeypatch.setattr(linear_view, "WORK", 2**16)
    learner = taught(classes=4, d=20)
    again = EvolvingMetricLearner.restore(learner.snapshot())
    X, y = World(features=20).draw(40, 5)
    for one in (learner, again):
        one.learn(X, y)
    np.testing.assert_array_equal(learner.predict_many(X).scores, again.predict_many(X).scores)


def test_a_view_of_too_many_features_and_classes_is_let_go_and_comes_back(monkeypatch):
    """Three classes are affordable, the fourth is not; after an evolution to fewer features all four are."""
    d = 20
    monkeypatch.setattr(linear_view, "WORK", FEWER_STEPS * LEAST * 3 * 2 * (d + 1) * 3)
    learner = taught(classes=3, d=d)
    assert "linear" in learner.explain().views
    rng = np.random.default_rng(1)
    learner.learn(rng.normal(size=(20, d)), [3] * 20)
    assert "linear" not in learner.explain().views
    assert set(learner.explain().linear_weights.values()) == {0.0}
    learner.evolve(space(*range(d + 1)))
    learner.learn(rng.normal(size=(20, d + 1)), rng.integers(0, 4, 20).tolist())
    assert "linear" not in learner.explain().views
    assert learner.predict_many(rng.normal(size=(3, d + 1))).scores.shape == (3, 4)
    learner.evolve(space(*range(8)))
    assert "linear" in learner.explain().views
    again = EvolvingMetricLearner.restore(learner.snapshot())
    assert again.snapshot() == learner.snapshot()


def test_a_class_too_many_after_an_evolution_leaves_the_fresh_start_its_metric(monkeypatch):
    d = 20
    monkeypatch.setattr(linear_view, "WORK", FEWER_STEPS * LEAST * 3 * 2 * (d + 1) * 3)
    learner = taught(classes=3, d=d)
    learner.evolve(space(*range(2, d + 2)))
    rng = np.random.default_rng(1)
    learner.learn(rng.normal(size=(30, d)), rng.integers(0, 3, 30).tolist())
    assert {"linear", "fresh"} <= set(learner.explain().views)
    learner.learn(rng.normal(size=(30, d)), rng.integers(0, 4, 30).tolist())
    assert "fresh" in learner.explain().views
    assert "linear" not in learner.explain().views
    scores = learner.predict_many(rng.normal(size=(3, d))).scores
    np.testing.assert_allclose(scores.sum(axis=1), 1.0)
    learner.learn(rng.normal(size=(60, d)), rng.integers(0, 4, 60).tolist())
    assert EvolvingMetricLearner.restore(learner.snapshot()).snapshot() == learner.snapshot()


@pytest.mark.slow
def test_many_classes_and_features_cost_about_what_the_metric_alone_does():
    assert is_too_wide(2000, 256)
    assert not is_too_wide(1000, 256)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(64, 2000)), rng.integers(0, 256, 64).tolist()

    def seconds(config: LearnerConfig) -> float:
        learner = taught(256, 2000, config, n=512)
        start = time.process_time()
        learner.learn(X, y)
        return time.process_time() - start

    with_it, without = seconds(LearnerConfig()), seconds(LearnerConfig(linear=False))
    assert with_it < 3.0 * without + 0.1
