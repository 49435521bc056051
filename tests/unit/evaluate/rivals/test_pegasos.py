"""Pegasos: its objective falls, separable classes are told apart, and survivors keep their weights."""

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.evaluate.rivals.pegasos import Pegasos

OLD, NEW = FeatureSpace(("a", "b", "c")), FeatureSpace(("d", "c", "b"))


def separable(count, seed=0):
    """Three classes with a margin, in units and places that have to be standardised."""
    random = np.random.default_rng(seed)
    centres = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]])
    labels = random.permutation(np.arange(count) % 3)
    rows = (centres[labels] + 0.3 * random.normal(size=(count, 3))) * [1.0, 100.0, 0.01] + [5.0, -700.0, 0.0]
    return rows, [("x", "y", "z")[label] for label in labels]


def accuracy(method, rows, labels):
    return np.mean([got == true for got, true in zip(method.predict(rows), labels, strict=True)])


def test_before_any_label_it_cannot_tell():
    assert Pegasos(OLD, 0, 0).predict(np.zeros((2, 3))) == [None, None]


def test_its_objective_falls_with_the_rows_it_has_seen():
    rows, labels = separable(1200)
    method, objectives = Pegasos(OLD, 0, 0), []
    for start in range(0, 1200, 30):
        method.learn(rows[start : start + 30], labels[start : start + 30])
        objectives.append(method.objective(rows, labels))
    assert np.mean(objectives[-10:]) < 0.5 * np.mean(objectives[:10])


def test_separable_classes_are_told_apart():
    method = Pegasos(OLD, 0, 0)
    method.learn(*separable(1200))
    assert accuracy(method, *separable(300, seed=1)) > 0.99


def test_weights_stay_in_the_ball_that_holds_the_solution():
    method = Pegasos(OLD, 0, 0)
    rows, labels = separable(60)
    for start in range(60):
        method.learn(rows[start : start + 1], labels[start : start + 1])
        assert np.linalg.norm(method._weights, axis=1).max() <= 1 / np.sqrt(1e-3) + 1e-9


def test_survivors_keep_their_weights_and_new_features_have_none():
    rows, labels = separable(600)
    rows[:, 0] = 0.0  # so b and c alone decide
    method = Pegasos(OLD, 0, 0)
    method.learn(rows, labels)
    before = method.predict(rows)
    method.evolve(NEW)
    moved = np.column_stack([np.full(600, 1e3), rows[:, 2], rows[:, 1]])
    assert method.predict(moved) == before  # and no label of the new space was needed


def test_it_learns_what_new_features_say():
    method = Pegasos(FeatureSpace(("a",)), 0, 0)
    random = np.random.default_rng(3)
    labels = ["x", "y"] * 300
    method.learn(random.normal(size=(600, 1)), labels)
    method.evolve(FeatureSpace(("a", "b")))
    told = np.column_stack([random.normal(size=600), np.tile([1.0, -1.0], 300)])
    assert accuracy(method, told, labels) < 0.7
    method.learn(told, labels)
    assert accuracy(method, told, labels) > 0.95


def test_the_same_rows_give_the_same_weights():
    first, second = Pegasos(OLD, 0, 0), Pegasos(OLD, 0, 0)
    for method in (first, second):
        method.learn(*separable(90))
    np.testing.assert_array_equal(first._weights, second._weights)
    assert first._weights.any()


@pytest.mark.parametrize("labels", [[], ["x"]])
def test_an_empty_batch_changes_nothing(labels):
    method = Pegasos(OLD, 0, 0)
    rows, _ = separable(1)
    method.learn(rows[: len(labels)], labels)
    before = method._weights.copy()
    method.learn(rows[:0], [])
    np.testing.assert_array_equal(method._weights, before)
