"""Compiled predictions against those of the views themselves, in every stage and for every kind of value."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from eml.core import EvolvingMetricLearner, FeatureSpace, predictor
from tests.unit.core.helpers import METRIC_ALONE, SMALL, World, letters, space, taught

WORLD = World()
WIDE = World(features=40, classes=3)
Make = Callable[[], EvolvingMetricLearner]


def inheriting(config=SMALL, labels: int = 24):
    learner = taught(WORLD, range(8), config=config)
    learner.evolve(space(*range(4, 12)))
    learner.learn(*WORLD.draw(labels, 5, range(4, 12)))
    return learner


def transforming():
    learner = taught(WORLD, range(8))
    learner.announce(space(*range(4, 12)))
    learner.learn(*WORLD.draw(64, 6, range(8)))
    return learner


def just_evolved():
    learner = taught(WORLD, range(8))
    learner.evolve(space(*range(4, 12)))
    return learner


def survivors_beside():
    world = World(noise=4)  # what is new tells nothing
    learner = taught(world, range(8))
    learner.evolve(space(*range(4, 12)))
    for seed in range(12):
        learner.learn(*world.draw(32, 10 + seed, range(4, 12)))
    assert learner.stage == "steady"
    assert learner._state.survivors is not None
    return learner


def codes():
    learner = EvolvingMetricLearner(space(*range(8)), SMALL)
    learner.learn(*letters(600, 1))
    return learner


def categories():
    learner = EvolvingMetricLearner(FeatureSpace(tuple(f"f{i}" for i in range(8)), {}, frozenset({"f1", "f5"})), SMALL)
    learner.learn(*letters(300, 1))
    return learner


def arcsinh_scaled():
    learner = EvolvingMetricLearner(space(*range(8)), SMALL)
    X, y = WORLD.draw(256, 3, range(8))
    learner.learn(np.exp(2 * X), y)
    learner._state.statistics.unit[:] = np.where(np.arange(8) % 2, 3.0, 0.0)
    return learner


def one_class():
    learner = EvolvingMetricLearner(space(*range(8)), SMALL)
    learner.learn(WORLD.draw(100, 3, range(8))[0], ["a"] * 100)
    return learner


def new_class():
    learner = taught(WORLD, range(8))
    learner.learn(WORLD.draw(2, 9, range(8))[0], [7, 8])
    return learner


def empty_class():
    learner = just_evolved()  # the fresh start knows fewer classes
    X, y = WORLD.draw(40, 5, range(4, 12))
    kept = [i for i, label in enumerate(y) if label]
    learner.learn(X[kept], [y[i] for i in kept])
    return learner


MAKES: dict[str, Make] = {
    "initial": lambda: taught(WORLD, range(8), 20),
    "steady": lambda: taught(WORLD, range(8)),
    "metric alone": lambda: taught(WORLD, range(8), config=METRIC_ALONE),
    "low rank": lambda: taught(WIDE, range(40), config=replace(SMALL, rank=4)),
    "transforming": transforming,
    "just evolved": just_evolved,
    "inheriting": inheriting,
    "survivors beside": survivors_beside,
    "inheriting, metric alone": lambda: inheriting(METRIC_ALONE),
    "codes": codes,
    "categories": categories,
    "arcsinh_scaled": arcsinh_scaled,
    "one class": one_class,
    "new class": new_class,
    "empty class": empty_class,
}


def samples(learner: EvolvingMetricLearner):
    """Usual and whole values, missing ones in every share, absurd ones."""
    random, d = np.random.default_rng(4), len(learner.space)
    X = random.normal(size=(80, d)) * 2.0
    X[:30] = np.round(np.abs(X[:30]) * 2)
    X[random.random(X.shape) < np.linspace(0.0, 1.0, 80)[random.permutation(80), None]] = np.nan
    X[5, 0], X[6, 1], X[7, 2], X[8, 0] = np.inf, -np.inf, 1e308, -1e200
    X[9] = np.nan
    return X


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_compiled_answers_are_those_of_the_views(make: Make):
    learner = make()
    X = samples(learner)
    want = predictor.reference(learner._state, X, learner.config.neighbours)
    got = learner.answers(X)
    C = len(learner.classes)
    np.testing.assert_allclose(got[:, :C], want[:, :C], atol=1e-3)
    np.testing.assert_allclose(got[:, C + predictor.NOVELTY], want[:, C + predictor.NOVELTY], rtol=1e-2, atol=1e-3)
    clear = want[:, C + predictor.MARGIN] > 1e-2
    np.testing.assert_array_equal(got[clear, C + predictor.BEST], want[clear, C + predictor.BEST])


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_no_bit_depends_on_the_batch_or_on_a_restart(make: Make):
    learner = make()
    X = samples(learner)
    many = learner.answers(X)
    restored = EvolvingMetricLearner.restore(learner.snapshot())
    np.testing.assert_array_equal(restored.answers(X[::-1])[::-1], many)
    np.testing.assert_array_equal(np.concatenate([learner.answers(X[i : i + 1]) for i in range(len(X))]), many)


def test_without_numba_the_views_answer_themselves(monkeypatch):
    learner = inheriting()
    X = samples(learner)
    monkeypatch.setattr(predictor, "kernels", lambda: None)
    want = predictor.reference(learner._state, X, learner.config.neighbours)
    np.testing.assert_array_equal(learner.predict_many(X).scores, want[:, : len(learner.classes)])
    assert not predictor.warm_up()


def test_what_was_laid_out_is_let_go_with_every_change():
    learner = taught(WORLD, range(8))
    for change in (
        lambda: learner.learn(*WORLD.draw(8, 8, range(8))),
        lambda: learner.react("memory"),
        lambda: learner.evolve(space(*range(4, 12))),
    ):
        learner.predict_many(np.zeros((1, 8)))
        change()
        assert learner._predictor is None
