"""TCA: the two stages' means come together, what varies is kept, memory is bounded, and only survivors are compared."""

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.evaluate.rivals.tca import Tca, _agreement, components

OLD, NEW = FeatureSpace(("v", "s", "t", "u")), FeatureSpace(("u", "t", "s", "n"))


def shifted(seed=0, gap=3.0):
    """Two stages that differ in the mean of one feature, which varies no more than the others."""
    random = np.random.default_rng(seed)
    source, target = random.normal(size=(200, 4)), random.normal(size=(80, 4))
    target[:, 0] += gap
    return source, target


def stage(count, seed=0, columns=(0, 1, 2, 3)):
    """Three classes, told by s, t and u; v is noise."""
    random = np.random.default_rng(seed)
    numbers = random.permutation(np.arange(count) % 3)
    told = 3.0 * np.eye(3)[numbers] + 0.5 * random.normal(size=(count, 3))
    rows = np.column_stack([random.normal(size=count), told])
    return rows[:, columns], [("x", "y", "z")[number] for number in numbers]


def gap_of(source, target):
    """Squared distance of the means (MMD of the linear kernel), in units of the embedded rows' variance."""
    both = np.vstack([source, target])
    return ((source.mean(axis=0) - target.mean(axis=0)) ** 2).sum() / both.var(axis=0).sum()


def test_the_embedding_brings_the_means_closer():
    source, target = shifted()
    directions = components(source, target, 3)
    assert gap_of(source @ directions, target @ directions) < 0.1 * gap_of(source, target)


def test_without_a_gap_the_components_are_the_principal_ones():
    random = np.random.default_rng(1)
    rows = random.normal(size=(300, 4)) * [5.0, 3.0, 1.0, 0.5]
    rows -= rows.mean(axis=0)
    leading = components(rows, rows[:0], 2)
    principal = np.linalg.svd(rows)[2][:2]
    cosines = np.abs(np.sum(principal.T * leading, axis=0)) / np.linalg.norm(leading, axis=0)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-6)


def test_the_embedded_rows_meet_the_constraint():
    source, target = shifted(2)
    embedded = np.vstack([source, target]) @ components(source, target, 3)
    centred = embedded - embedded.mean(axis=0)
    np.testing.assert_allclose(centred.T @ centred, np.eye(3), atol=1e-6)


def test_it_is_the_solution_of_the_kernel_problem():
    source, target = shifted(3)
    both, n, m = np.vstack([source, target]), len(source), len(target)
    kernel, sides = both @ both.T, np.concatenate([np.full(n, 1 / n), np.full(m, -1 / m)])
    centring = np.eye(n + m) - 1 / (n + m)
    cost = kernel @ np.outer(sides, sides) @ kernel + np.eye(n + m)
    values, vectors = np.linalg.eig(np.linalg.solve(cost, kernel @ centring @ kernel))
    leading = (kernel @ vectors[:, np.argsort(-values.real)[:2]]).real
    ours = both @ components(source, target, 2)
    cosines = np.abs(np.sum(leading * ours, axis=0)) / np.linalg.norm(leading, axis=0) / np.linalg.norm(ours, axis=0)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-4)


def test_a_feature_that_never_moves_does_no_harm():
    source, target = shifted(4)
    source[:, 3] = target[:, 3] = 0.0
    assert np.isfinite(components(source, target, 4)).all()


def test_nobody_is_his_own_fellow_when_the_number_of_components_is_chosen():
    known, judges = np.array([[0.0], [1.0], [10.0], [11.0]]), np.arange(4)
    assert _agreement(known, ["a", "b", "a", "b"], judges) == 0
    assert _agreement(known, ["a", "a", "b", "b"], judges) == 4


def test_before_any_label_it_cannot_tell():
    method = Tca(OLD, 0, 64)
    assert method.predict(np.zeros((2, 4))) == [None, None]
    method.evolve(NEW)
    assert method.predict(np.zeros((2, 4))) == [None, None]


def accuracy(method, rows, labels):
    return np.mean([got == true for got, true in zip(method.predict(rows), labels, strict=True)])


def moved(count, seed, gap):
    """Rows of the new space: survivors in another order, shifted by `gap` in a direction that tells nothing."""
    rows, labels = stage(count, seed, (3, 2, 1, 0))
    rows[:, :3] += gap
    rows[:, 3] *= 1e3
    return rows, labels


def test_it_tells_classes_apart_before_and_after_an_evolution():
    method = Tca(OLD, 0, 512)
    method.learn(*stage(300))
    assert accuracy(method, *stage(100, seed=1)) > 0.95
    method.evolve(NEW)
    assert accuracy(method, *moved(100, 2, 0.0)) > 0.95  # without any label of the new space
    method.learn(*moved(60, 3, 0.0))
    assert accuracy(method, *moved(100, 4, 0.0)) > 0.95


def test_memory_is_bounded():
    method = Tca(OLD, 0, 40)
    for seed in range(3):
        method.learn(*stage(100, seed))
    method.evolve(NEW)
    method.learn(*moved(300, 5, 0.0))
    method.predict(np.zeros((1, 4)))
    assert method._fitted is not None
    assert len(method._fitted.labels) <= 40


def test_without_survivors_the_new_stage_stands_alone():
    method = Tca(OLD, 0, 64)
    method.learn(*stage(60))
    method.evolve(FeatureSpace(("p", "q", "r", "w")))
    assert method.predict(np.zeros((1, 4))) == [None]
    method.learn(*stage(60))
    assert accuracy(method, *stage(60, seed=6)) > 0.9


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_gives_the_same_predictions(seed):
    answers = []
    for _ in range(2):
        method = Tca(OLD, seed, 30)
        method.learn(*stage(200))
        method.evolve(NEW)
        method.learn(*moved(60, 7, 1.0))
        answers.append(method.predict(moved(100, 8, 1.0)[0]))
    assert answers[0] == answers[1]
