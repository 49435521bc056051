"""OPID: one pass gives what all rows at once would, and vanished features live on as far as survivors can say them."""

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.evaluate.rivals.linear import PENALTIES, Moments, chosen_penalty, selection
from eml.evaluate.rivals.opid import AGREEMENT, Opid, compress

OLD, NEW = FeatureSpace(("v", "s", "t")), FeatureSpace(("n", "t", "s"))


def stream(count=300, seed=0):
    """Two classes told by v, which is a linear function of s and t."""
    random = np.random.default_rng(seed)
    s, t = random.normal(size=(2, count))
    v = 2.0 * s - t
    return np.column_stack([v, s, t]), ["high" if value > 0 else "low" for value in v]


def accuracy(method, rows, labels):
    return np.mean([got == true for got, true in zip(method.predict(rows), labels, strict=True)])


def model(method):
    found = method.model()
    assert found is not None
    return found


def standard(rows):
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def ridge_scores(inputs, targets):
    """Written out for all rows at once, with the penalty that cross-validates best; inputs are standardised."""
    aims = targets - targets.mean(axis=0)

    def hat(penalty):
        return inputs @ np.linalg.solve(inputs.T @ inputs + penalty * np.eye(inputs.shape[1]), inputs.T)

    def score(penalty):
        free = 1 - (1 + np.trace(hat(penalty))) / len(inputs)
        return ((aims - hat(penalty) @ aims) ** 2).sum() / free**2

    return hat(min(PENALTIES, key=score)) @ aims + targets.mean(axis=0)


def test_before_any_label_it_cannot_tell():
    method = Opid(OLD, 0, 0)
    assert method.predict(np.zeros((1, 3))) == [None]
    method.evolve(NEW)
    assert method.predict(np.zeros((1, 3))) == [None]


@pytest.mark.parametrize("size", [1, 7, 300])
def test_one_pass_is_least_squares_on_all_rows_seen(size):
    random = np.random.default_rng(4)
    rows, labels = random.normal(3.0, 2.0, size=(300, 3)), random.choice(["a", "b", "c"], 300).tolist()
    method = Opid(OLD, 0, 0)
    for start in range(0, 300, size):
        method.learn(rows[start : start + size], labels[start : start + size])
    order = list(dict.fromkeys(labels))
    targets = (np.array(labels)[:, None] == order).astype(float)
    expected = ridge_scores(standard(rows), targets)
    np.testing.assert_allclose(model(method).scores(rows), expected, atol=1e-9)


def test_the_expanded_classifier_is_least_squares_on_stacked_rows():
    random = np.random.default_rng(5)
    method = Opid(OLD, 0, 0)
    method.learn(*stream())
    method.evolve(NEW)
    rows, labels = random.normal(size=(50, 3)), random.choice(["low", "high"], 50).tolist()
    inherited = model(method).scores(rows)
    method.learn(rows, labels)
    stacked = standard(np.column_stack([inherited, rows[:, 0]]))
    targets = (np.array(labels)[:, None] == method._classes.labels).astype(float)
    expected = inherited + ridge_scores(stacked, targets - inherited)
    np.testing.assert_allclose(model(method).scores(rows), expected, atol=1e-7)


def test_the_compressed_classifier_is_the_minimum_of_the_joint_objective():
    rows, labels = stream(200)
    rows = standard(rows + np.random.default_rng(6).normal(size=rows.shape))
    targets = (np.array(labels)[:, None] == ["low", "high"]).astype(float)
    moments = Moments(3)
    moments.update(rows, targets)
    penalty = chosen_penalty(moments.mapped(selection([2, 1], 3)))
    found, centred, few = compress(moments, np.eye(3), [2, 1]), targets - targets.mean(axis=0), rows[:, [2, 1]]

    def objective(v):
        # the best w for this v, then the value of both together
        aim = np.vstack([centred, np.sqrt(AGREEMENT) * few @ v, np.zeros((3, 2))])
        w = np.linalg.lstsq(np.vstack([rows, np.sqrt(AGREEMENT) * rows, np.sqrt(penalty) * np.eye(3)]), aim)[0]
        fit = ((rows @ w - centred) ** 2).sum() + ((few @ v - centred) ** 2).sum()
        return fit + AGREEMENT * ((rows @ w - few @ v) ** 2).sum() + penalty * ((w**2).sum() + (v**2).sum())

    random, least = np.random.default_rng(7), objective(found.weights)
    assert all(objective(found.weights + 1e-2 * random.normal(size=(2, 2))) > least for _ in range(20))


def test_a_vanished_feature_that_survivors_tell_is_carried_over():
    method = Opid(OLD, 0, 0)
    method.learn(*stream(3000))
    method.evolve(NEW)
    rows, labels = stream(500, seed=1)
    noise = 1e3 * np.random.default_rng(8).normal(size=500)
    assert accuracy(method, np.column_stack([noise, rows[:, 2], rows[:, 1]]), labels) > 0.97  # before any new label


def test_few_rows_of_many_new_features_do_not_drown_what_is_inherited():
    random = np.random.default_rng(10)
    wide = FeatureSpace(("s", "t", *(f"n{number}" for number in range(60))))
    method = Opid(OLD, 0, 0)
    method.learn(*stream(1000))
    method.evolve(wide)
    rows, labels = stream(560, seed=11)
    rows = np.hstack([rows[:, 1:], random.normal(size=(560, 60))])
    method.learn(rows[:60], labels[:60])
    assert accuracy(method, rows[60:], labels[60:]) > 0.9


def test_new_features_are_learnt_and_the_next_evolution_carries_them_on():
    random = np.random.default_rng(9)
    method = Opid(FeatureSpace(("a",)), 0, 0)
    labels = random.choice(["x", "y"], 400).tolist()
    signal = np.where(np.array(labels) == "x", 1.0, -1.0)
    method.learn(random.normal(size=(400, 1)), labels)
    method.evolve(FeatureSpace(("a", "b")))
    method.learn(np.column_stack([random.normal(size=400), signal]), labels)
    method.evolve(FeatureSpace(("c", "b")))
    assert accuracy(method, np.column_stack([random.normal(size=400), signal]), labels) > 0.99


def test_a_class_of_the_new_stage_is_a_class_like_any_other():
    method = Opid(OLD, 0, 0)
    method.learn(*stream())
    method.evolve(NEW)
    rows, labels = stream(100, seed=2)
    moved = np.column_stack([np.zeros(100), rows[:, 2], rows[:, 1]])
    fresh = moved + np.array([50.0, 0.0, 0.0])
    method.learn(np.vstack([moved, fresh]), [*labels, *["new"] * 100])
    assert method.predict(fresh) == ["new"] * 100


def test_without_survivors_it_begins_anew():
    method = Opid(OLD, 0, 0)
    method.learn(*stream())
    method.evolve(FeatureSpace(("x", "y")))
    assert method.predict(np.zeros((1, 2))) == [None]


def test_announcing_changes_nothing_and_the_same_rows_give_the_same_scores():
    models = []
    for announced in (False, True):
        method = Opid(OLD, int(announced), 64)
        if announced:
            method.announce(NEW)
        method.learn(*stream())
        method.evolve(NEW)
        models.append(model(method))
    np.testing.assert_array_equal(models[0].weights, models[1].weights)
    assert selection([0], 3).T @ models[0].weights == pytest.approx(0.0)  # the new feature says nothing yet
