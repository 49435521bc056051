"""What the linear rivals share: moments are those of all rows, whatever the batches and whatever classes came late."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import FeatureSpace
from eml.evaluate.rivals.linear import (
    PENALTIES,
    Classes,
    Moments,
    RunningStandard,
    chosen_penalty,
    ridge,
    selection,
    survivors,
)


def made(seed=0, count=60, width=4):
    random = np.random.default_rng(seed)
    return 5.0 + random.normal(size=(count, width)) @ random.normal(size=(width, width)), random.normal(size=(count, 2))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 1000))
def test_moments_are_those_of_all_batches_together(sizes, seed):
    rows, targets = made(seed, sum(sizes))
    moments, start = Moments(4), 0
    for size in sizes:
        moments.update(rows[start : start + size], targets[start : start + size])
        start += size
    centred = rows - rows.mean(axis=0)
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0))
    np.testing.assert_allclose(moments.scatter, centred.T @ centred, atol=1e-9)
    np.testing.assert_allclose(moments.cross, centred.T @ targets, atol=1e-9)
    np.testing.assert_allclose(moments.target_squares, targets.var(axis=0) * len(targets), atol=1e-9)


def test_moments_of_mapped_rows_need_no_row():
    rows, targets = made()
    matrix = np.random.default_rng(1).normal(size=(4, 3))
    moments, direct = Moments(4), Moments(3)
    moments.update(rows, targets)
    direct.update(rows @ matrix, targets)
    for name in ("mean", "scatter", "cross", "target_mean", "target_squares", "count"):
        np.testing.assert_allclose(getattr(moments.mapped(matrix), name), getattr(direct, name), atol=1e-9)


def test_a_class_that_comes_late_was_absent_before():
    rows, _ = made(count=6)
    labels = ["a", "b", "a", "c", "c", "a"]
    classes, moments, at_once = Classes(), Moments(4), Moments(4)
    for start in (0, 3):
        moments.update(rows[start : start + 3], classes.indicators(labels[start : start + 3]))
    at_once.update(rows, classes.indicators(labels))
    np.testing.assert_allclose(moments.cross, at_once.cross, atol=1e-9)
    np.testing.assert_allclose(moments.target_mean, [3 / 6, 1 / 6, 2 / 6])


def test_ridge_is_the_minimum_of_its_objective():
    rows, targets = made()
    moments = Moments(4)
    moments.update(rows, targets)
    model, penalty, deviation = ridge(moments, np.zeros((4, 2))), chosen_penalty(moments), rows.std(axis=0)

    def objective(weights):
        residual = (rows - rows.mean(axis=0)) @ weights - (targets - targets.mean(axis=0))
        return (residual**2).sum() + penalty * ((weights * deviation[:, None]) ** 2).sum()

    random, least = np.random.default_rng(2), objective(model.weights)
    assert all(objective(model.weights + 1e-3 * random.normal(size=(4, 2))) > least for _ in range(20))


@pytest.mark.parametrize("noise", [0.1, 3.0, 30.0])
def test_the_penalty_has_the_smallest_cross_validation_score_of_all_rows(noise):
    rows, targets = made(count=30, width=8)
    targets = rows[:, :2] / rows[:, :2].std(axis=0) + noise * targets
    moments = Moments(8)
    for start in range(0, 30, 10):
        moments.update(rows[start : start + 10], targets[start : start + 10])
    inputs, aims = (rows - rows.mean(axis=0)) / rows.std(axis=0), targets - targets.mean(axis=0)

    def score(penalty):
        hat = inputs @ np.linalg.solve(inputs.T @ inputs + penalty * np.eye(8), inputs.T)
        return ((aims - hat @ aims) ** 2).sum() / (1 - (1 + np.trace(hat)) / 30) ** 2

    assert chosen_penalty(moments) == min(PENALTIES, key=score)


def test_noise_is_penalised_more_than_a_signal():
    rows, noise = made(count=40, width=8)
    chosen = []
    for targets in (rows[:, :2], noise):
        moments = Moments(8)
        moments.update(rows, targets)
        chosen.append(chosen_penalty(moments))
    assert chosen[0] < chosen[1]


def test_without_evidence_against_it_the_start_stays():
    random = np.random.default_rng(3)
    rows, start = random.normal(size=(200, 4)), random.normal(size=(4, 2))
    moments = Moments(4)
    moments.update(rows, rows @ start + 7.0)
    model = ridge(moments, start)
    np.testing.assert_allclose(model.weights, start, atol=1e-9)
    np.testing.assert_allclose(model.intercept, 7.0)


def test_rows_are_standardised_by_the_rows_learnt_and_no_others():
    rows, _ = made()
    standard = RunningStandard(4)
    standard.update(rows[:30])
    standard.update(rows[30:])
    applied = standard.apply(rows)
    np.testing.assert_allclose(applied.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(applied.std(axis=0), 1.0)
    assert standard.apply(rows[:1] + 1e6) == pytest.approx((rows[:1] + 1e6 - rows.mean(axis=0)) / rows.std(axis=0))


def test_survivors_are_found_under_their_new_names_and_places():
    old = FeatureSpace(("a", "b", "c"))
    new = FeatureSpace(("d", "see", "b"), aliases={"see": ("c",)})
    assert survivors(old, new) == ([2, 1], [1, 2])
    np.testing.assert_array_equal(np.array([[10.0, 20.0, 30.0]]) @ selection([2, 0], 3), [[30.0, 10.0]])
