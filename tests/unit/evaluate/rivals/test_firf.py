"""FIRF: the old forest goes on voting, trees with new features join it, and the better one has the larger weight."""

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.evaluate.errors import EvaluationError
from eml.evaluate.rivals import firf
from eml.evaluate.rivals.firf import Firf

OLD, NEW = FeatureSpace(("v", "s")), FeatureSpace(("n", "s"))


def stage(count, seed, survivor, new):
    """Rows of the new space, two classes; how much the survivor and the new feature tell of them."""
    random = np.random.default_rng(seed)
    labels = random.choice(["x", "y"], count)
    sign = np.where(labels == "x", 1.0, -1.0)
    rows = np.column_stack([new * sign, survivor * sign]) + random.normal(size=(count, 2))
    return rows, labels.tolist()


def evolved(survivor, new, seed=0):
    method = Firf(OLD, seed, 400)
    method.learn(*stage(200, 1, survivor, 0.0))
    method.evolve(NEW)
    method.learn(*stage(80, 2, survivor, new))
    return method


def accuracy(method, rows, labels):
    return np.mean([got == true for got, true in zip(method.predict(rows), labels, strict=True)])


def test_before_any_label_it_cannot_tell():
    method = Firf(OLD, 0, 64)
    assert method.predict(np.zeros((2, 2))) == [None, None]
    method.evolve(NEW)
    assert method.predict(np.zeros((2, 2))) == [None, None]


def test_the_old_forest_votes_before_any_new_label():
    method = Firf(OLD, 0, 400)
    method.learn(*stage(200, 1, 3.0, 0.0))
    method.evolve(NEW)
    assert accuracy(method, *stage(200, 3, 3.0, 0.0)) > 0.95


def test_new_features_are_used_once_they_have_labels():
    assert accuracy(evolved(0.0, 4.0), *stage(200, 3, 0.0, 4.0)) > 0.95


def test_what_was_known_is_not_drowned_by_few_rows():
    method = Firf(OLD, 0, 400)
    method.learn(*stage(200, 1, 3.0, 0.0))
    method.evolve(NEW)
    method.learn(*stage(3, 2, 3.0, 0.0))
    assert accuracy(method, *stage(200, 3, 3.0, 0.0)) > 0.95


def test_the_better_forest_has_the_larger_weight():
    method = evolved(0.0, 4.0)
    method.predict(np.zeros((1, 2)))
    old, new = method.weights()
    assert new > old


def test_a_voter_weighs_nothing_at_chance_and_never_without_bounds():
    weights = [firf._log_odds(right, 100, 4) for right in (0.1, 0.25, 0.5, 0.9, 1.0)]
    assert weights == sorted(weights)
    assert weights[0] == 0.0
    assert weights[1] == pytest.approx(0.0, abs=0.1)
    assert np.isfinite(weights[-1])


def test_memory_is_bounded():
    method = Firf(OLD, 0, 40)
    method.learn(*stage(300, 1, 1.0, 1.0))
    method.evolve(NEW)
    method.learn(*stage(300, 2, 1.0, 1.0))
    assert sum(len(part.arrays()[1]) for part in (method._stages.source, method._stages.target)) <= 40


def test_a_class_of_the_new_stage_is_a_class_like_any_other():
    method = evolved(2.0, 0.0)
    random = np.random.default_rng(4)
    method.learn(np.column_stack([random.normal(60.0, 1.0, 60), random.normal(size=60)]), ["new"] * 60)
    answers = method.predict(np.column_stack([random.normal(60.0, 1.0, 60), random.normal(size=60)]))
    assert answers.count("new") > 50


def test_without_survivors_it_begins_anew():
    method = Firf(OLD, 0, 64)
    method.learn(*stage(60, 1, 1.0, 1.0))
    method.evolve(FeatureSpace(("p", "q")))
    assert method.predict(np.zeros((1, 2))) == [None]


def test_the_same_seed_gives_the_same_predictions():
    rows, _ = stage(200, 5, 0.5, 0.5)
    assert evolved(0.5, 0.5, seed=3).predict(rows) == evolved(0.5, 0.5, seed=3).predict(rows)
    assert evolved(0.5, 0.5, seed=3).predict(rows) != evolved(0.5, 0.5, seed=4).predict(rows)


def test_without_scikit_learn_it_says_where_that_is(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(EvaluationError, match=r"eml\[evaluate\]"):
        Firf(OLD, 0, 64)
