"""OPMV: each step is the minimiser it is said to be, views come to agree, and survivors carry what was learnt over."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import FeatureSpace
from eml.evaluate.rivals import opmv
from eml.evaluate.rivals.opmv import RIDGE, Opmv, shared, stepped

BEFORE = FeatureSpace(("a", "b", "c", "d"))
AFTER = FeatureSpace(("c", "d", "e", "f"))


def problem(seed, rows=200, space=BEFORE, signal=(0.5, 0.5, 0.5, 0.5)):
    """Four features that each tell the classes a little apart, on scales of their own."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, size=rows)
    samples = random.normal(size=(rows, 4)) + np.outer(np.where(labels, 1.0, -1.0), signal)
    return 10.0 + samples * scales(space), labels.tolist()


def scales(space):
    return np.array([10.0 ** (ord(name) % 3) for name in space.names])


def accuracy(method, rows, labels):
    return np.mean([got == true for got, true in zip(method.predict(rows), labels, strict=True)])


@given(st.integers(0, 1000), st.floats(0.1, 5.0), st.floats(0.5, 50.0))
def test_a_step_is_the_minimiser(seed, pull, inertia):
    random = np.random.default_rng(seed)
    start, row, goal = random.normal(size=(2, 3)), random.normal(size=3), random.normal(size=2)
    best = stepped(start, row, goal, pull, inertia)
    slope = np.outer(pull * best @ row - goal, row) + RIDGE * best + inertia * (best - start)
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)


def disagreement(method, rows):
    """Mean difference of the views' scores, as a share of the scores."""
    first, second = method.scores(rows)
    return np.abs(first - second).mean() / (np.abs(first) + np.abs(second)).mean()


def two_views(agreement, rows):
    method = Opmv(BEFORE, 0, 0, agreement=agreement)
    method.announce(AFTER)
    samples, labels = problem(1, rows)
    method.learn(samples, labels)
    return method


def test_views_agree_more_after_learning_than_before():
    asked = problem(2)[0]
    assert disagreement(two_views(1.0, 400), asked) < 0.8 * disagreement(two_views(1.0, 5), asked)


def test_views_agree_more_than_two_that_know_nothing_of_each_other():
    asked = problem(2)[0]
    assert disagreement(two_views(1.0, 200), asked) < 0.9 * disagreement(two_views(0.0, 200), asked)


def test_more_weight_on_agreement_brings_a_samples_two_scores_together():
    samples, labels = problem(1, 2)
    gaps = []
    for agreement in (0.0, 1.0, 5.0):
        method = two_views(agreement, 50)
        method.learn(samples[:1], labels[:1])
        first, second = method.scores(samples[:1])
        gaps.append(np.abs(first - second).max())
    assert gaps[0] > gaps[1] > gaps[2]


@pytest.mark.parametrize("announced", [True, False])
def test_survivors_carry_over_what_was_learnt(announced):
    # the survivors tell classes apart, each its own way; the others next to nothing, which takes samples to find out
    old, new = (0.1, 0.1, 0.8, -0.6), (0.8, -0.6, 0.1, 0.1)
    asked = problem(2, 1000, AFTER, new)
    gains = []
    for seed in range(10, 20):  # a first batch of 8 may be a lucky one
        method, fresh = Opmv(BEFORE, 0, 0), Opmv(AFTER, 0, 0)
        if announced:
            method.announce(AFTER)
        method.learn(*problem(1, 400, BEFORE, old))
        method.evolve(AFTER)
        assert accuracy(method, *asked) > 0.75
        for each in (method, fresh):
            each.learn(*problem(seed, 8, AFTER, new))
        gains.append(accuracy(method, *asked) - accuracy(fresh, *asked))
    assert np.mean(gains) > 0.02


def test_learning_tells_classes_apart_and_new_features_add_to_it():
    method = Opmv(BEFORE, 0, 0)
    method.announce(AFTER)
    method.learn(*problem(1, 300))
    assert accuracy(method, *problem(2, 1000)) > 0.75
    method.evolve(AFTER)
    asked = problem(2, 1000, AFTER)
    survivors_only = accuracy(method, *asked)
    method.learn(*problem(3, 300, AFTER))
    assert accuracy(method, *asked) > max(survivors_only, 0.75)


def test_before_any_label_and_without_survivors_it_cannot_tell():
    method = Opmv(BEFORE, 0, 0)
    assert method.predict(np.zeros((2, 4))) == [None, None]
    method.learn(*problem(1))
    method.evolve(FeatureSpace(("x", "y")))
    assert method.predict(np.zeros((2, 2))) == [None, None]


def test_a_class_that_comes_late_is_learnt_in_both_views():
    method = Opmv(BEFORE, 0, 0)
    method.announce(AFTER)
    method.learn(*problem(1))
    rows = problem(2)[0] + 5.0 * scales(BEFORE)
    method.learn(np.concatenate([rows, problem(3)[0]]), ["late"] * len(rows) + problem(3)[1])
    assert method.predict(rows).count("late") > 0.9 * len(rows)


def test_one_evolution_after_another_keeps_two_views():
    method = Opmv(BEFORE, 0, 0)
    spaces = [AFTER, FeatureSpace(("e", "f", "g", "h")), FeatureSpace(("g", "h", "i", "j"))]
    current = BEFORE
    for seed, space in enumerate(spaces):
        method.learn(*problem(seed, space=current))
        method.announce(space)
        current = space
        method.evolve(space)
        assert len(method.views) == 2
        assert accuracy(method, *problem(10 + seed, space=space)) > 0.6


def test_the_same_rows_give_the_same_answers_and_asking_teaches_nothing():
    methods = [two_views(1.0, 100) for _ in range(2)]
    methods[0].predict(1e4 * problem(5)[0])
    asked = problem(2)[0]
    assert methods[0].predict(asked) == methods[1].predict(asked)


def test_shared_columns_are_found_from_either_side_of_a_renaming():
    old, new = FeatureSpace(("a", "b")), FeatureSpace(("z", "c"), aliases={"z": ("b",)})
    assert shared(old, new) == ([1], [0])
    assert shared(new, old) == ([0], [1])


@pytest.mark.slow
def test_enough_rounds_give_the_best_pair_of_views_that_agree_on_the_sample(monkeypatch):
    monkeypatch.setattr(opmv, "ROUNDS", 2000)
    method = two_views(1.0, 30)
    samples, labels = problem(7, 1)
    starts = [view.weights.copy() for view in method.views]
    method.learn(samples, labels)
    seen = [view.rows(method._scale.apply(samples), BEFORE)[0] for view in method.views]
    ends = [view.weights for view in method.views]
    scores = [weights @ row for weights, row in zip(ends, seen, strict=True)]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-6)
    target = 2.0 * method._classes.indicators(labels)[0] - 1.0
    # at the best pair the two objectives' slopes are opposite multiples of the rows: the constraint's multiplier
    multipliers = []
    for begin, end, row, score in zip(starts, ends, seen, scores, strict=True):
        slope = np.outer(score - target, row) + RIDGE * end + np.sqrt(31) * (end - begin)
        multipliers.append(slope @ row / (row @ row))
        np.testing.assert_allclose(slope, np.outer(multipliers[-1], row), atol=1e-6)
    np.testing.assert_allclose(multipliers[0], -multipliers[1], atol=1e-6)


def test_a_view_that_was_not_announced_begins_with_the_survivors_weights():
    method = Opmv(BEFORE, 0, 0)
    method.learn(*problem(1, 400))
    method.evolve(AFTER)
    rows, labels = problem(2, 1000, AFTER)
    second = method.scores(rows)[1]
    assert np.mean(np.array(method._classes.labels)[second.argmax(axis=1)] == np.array(labels)) > 0.65
