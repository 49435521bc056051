"""OPIDe: between its two classifiers, nearer to the better one; before an evolution it is OPID."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eml.core import FeatureSpace
from eml.evaluate.rivals.opid import Opid
from eml.evaluate.rivals.opide import Opide

OLD, NEW = FeatureSpace(("v", "s", "t")), FeatureSpace(("s", "t", "n"))


def evolved(seed, telling, count=120):
    """Classes that s and n tell with noise; `telling`: how much n says."""
    random = np.random.default_rng(seed)
    method = Opide(OLD, 0, 0)
    method.learn(*rows_of(random, 200, telling)[:2])
    method.evolve(NEW)
    _, labels, rows = rows_of(random, count, telling)
    method.learn(rows, labels)
    return method, rows_of(random, 400, telling)


def rows_of(random, count, telling):
    labels = random.choice(["x", "y"], count)
    sign = np.where(labels == "x", 1.0, -1.0)
    v, s, t, n = random.normal(size=(4, count))
    s, n = s + sign, n + telling * sign
    return np.column_stack([v, s, t]), labels.tolist(), np.column_stack([s, t, n])


def model(method):
    found = method.model()
    assert found is not None
    return found


def squared(linear, rows, labels, order):
    return ((linear.scores(rows) - (np.array(labels)[:, None] == order)) ** 2).sum()


def test_before_any_label_it_cannot_tell():
    method = Opide(OLD, 0, 0)
    method.evolve(NEW)
    assert method.predict(np.zeros((1, 3))) == [None]


def test_before_an_evolution_it_is_opid():
    rows, labels, _ = rows_of(np.random.default_rng(0), 100, 1.0)
    both, one = Opide(OLD, 0, 0), Opid(OLD, 0, 0)
    for method in (both, one):
        method.learn(rows, labels)
    np.testing.assert_allclose(model(both).scores(rows), model(one).scores(rows), atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(0.0, 3.0))
def test_its_squared_error_is_never_above_that_of_the_worse_one(seed, telling):
    method, (_, labels, rows) = evolved(seed, telling)
    order = method._classes.labels
    worse = max(squared(part, rows, labels, order) for part in method.pair())
    assert squared(model(method), rows, labels, order) <= worse * (1 + 1e-9)


@pytest.mark.parametrize(("telling", "expanded"), [(3.0, True), (0.0, False)])
def test_the_better_classifier_has_the_larger_weight(telling, expanded):
    shares = [evolved(seed, telling)[0].share() for seed in range(10)]
    assert bool(np.mean(shares) > 0.5) is expanded


def test_the_second_classifier_is_least_squares_on_the_survivors_of_both_stages():
    random = np.random.default_rng(1)
    before, labels, _ = rows_of(random, 90, 1.0)
    _, later, after = rows_of(random, 70, 1.0)
    method, plain = Opide(OLD, 0, 0), Opid(FeatureSpace(("s", "t")), 0, 0)
    method.learn(before, labels)
    method.evolve(NEW)
    method.learn(after, later)
    plain.learn(np.vstack([before[:, 1:], after[:, :2]]), labels + later)
    pair = method.pair()
    assert pair is not None
    np.testing.assert_allclose(pair[1].scores(after), model(plain).scores(after[:, :2]), atol=1e-9)


def test_it_predicts_in_a_new_space_without_labels_of_it():
    random = np.random.default_rng(2)
    method = Opide(OLD, 0, 0)
    method.learn(*rows_of(random, 400, 1.0)[:2])
    method.evolve(NEW)
    _, labels, rows = rows_of(random, 400, 1.0)
    rows[:, 2] = 1e3 * random.normal(size=400)
    assert np.mean([got == true for got, true in zip(method.predict(rows), labels, strict=True)]) > 0.75


def test_a_class_of_the_new_stage_is_a_class_like_any_other():
    method, (_, _, rows) = evolved(3, 1.0)
    far = rows[:60] + np.array([0.0, 0.0, 60.0])
    method.learn(far, ["new"] * 60)
    assert method.predict(far).count("new") > 45  # survivors cannot tell it, and have their say, too


def test_one_far_row_does_not_silence_the_expanded_classifier():
    method, (_, _, rows) = evolved(5, 3.0)
    method.learn(rows[:1] + np.array([0.0, 0.0, 1e4]), ["x"])
    assert method.share() > 0.5


def test_the_same_rows_give_the_same_scores():
    (first, _), (second, _) = evolved(4, 1.0), evolved(4, 1.0)
    np.testing.assert_array_equal(model(first).weights, model(second).weights)
