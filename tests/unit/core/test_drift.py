"""Drift without evolution: both reactions pay off, leave no gap, and live through a snapshot."""

from collections.abc import Callable
from functools import cache
from typing import get_args

import numpy as np
import pytest

from eml.core import EvolvingMetricLearner, FeatureError, LearnerConfig, learning
from eml.core.arrays import Array
from eml.core.drift import WIDENED, Reaction
from tests.unit.core.helpers import SMALL, World, accuracy, space, taught
from tests.unit.core.test_snapshot import STAGES, Make, live

REACTIONS: tuple[Reaction, ...] = get_args(Reaction)
WORLD = World(features=6, classes=3, gap=1.5)
COLUMNS = range(6)

Stream = tuple[Array, list[int]]


# -- worth it ------------------------------------------------------------------------------------------------------

SEEDS = range(6)
BEFORE, UNNOTICED, AFTER, BATCH = (
    1024,
    64,
    300,
    32,
)  # records until the drift, until it is found, until they are counted
CONFIG = LearnerConfig(memory_size=512, rank=16, linear=False)  # its memory alone would follow most drifts


def moved(seed: int) -> tuple[Stream, Stream]:
    """The means of all classes jump elsewhere."""
    before, after = (World(features=16, classes=4, gap=0.9, seed=10 * seed + i) for i in (1, 2))
    return before.draw(BEFORE, seed), after.draw(AFTER, 50 + seed)


def exchanged(seed: int) -> tuple[Stream, Stream]:
    """Two classes change places: what was learnt of them is wrong, what was learnt of the others is right."""
    world = World(features=16, classes=4, gap=0.9, seed=10 * seed + 1)
    X, y = world.draw(AFTER, 50 + seed)
    return world.draw(BEFORE, seed), (X, [{0: 1, 1: 0}.get(label, label) for label in y])


def other_features(seed: int) -> tuple[Stream, Stream]:
    """The features that told the classes apart are noise from now on, and the other way round."""
    world = World(features=16, classes=4, gap=1.2, noise=8, seed=10 * seed + 1)
    X, y = world.draw(AFTER, 50 + seed)
    return world.draw(BEFORE, seed), (np.roll(X, 8, axis=1), y)


def lived(learner: EvolvingMetricLearner, stream: Stream) -> float:
    """Share of wrong predictions, each made before its label is learnt."""
    X, y = stream
    wrong = 0.0
    for start in range(0, len(X), BATCH):
        piece = slice(start, start + BATCH)
        wrong += len(y[piece]) * (1.0 - accuracy(learner, X[piece], y[piece]))
        learner.learn(X[piece], y[piece])
    return wrong / len(X)


@cache
def errors(drift: Callable[[int], tuple[Stream, Stream]], how: Reaction | None) -> Array:
    """Error rates in the records after the drift, one for each seed."""
    rates = []
    for seed in SEEDS:
        before, (X, y) = drift(seed)
        learner = EvolvingMetricLearner(space(*range(16)), CONFIG, seed)
        lived(learner, before)
        unnoticed = lived(learner, (X[:UNNOTICED], y[:UNNOTICED]))
        if how is not None:
            learner.react(how)
        rest = lived(learner, (X[UNNOTICED:], y[UNNOTICED:]))
        rates.append((UNNOTICED * unnoticed + (AFTER - UNNOTICED) * rest) / AFTER)
    return np.array(rates)


@pytest.mark.slow
@pytest.mark.parametrize("drift", [moved, exchanged, other_features])
def test_a_new_memory_beats_doing_nothing_whatever_the_drift(drift):
    gains = errors(drift, None) - errors(drift, "memory")
    assert (gains > 0.0).all()
    assert gains.mean() > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("drift", [moved, other_features])
def test_wider_steps_beat_doing_nothing_where_a_metric_can_tell_the_difference(drift):
    gains = errors(drift, None) - errors(drift, "step")
    assert gains.mean() > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("how", REACTIONS)
def test_a_false_alarm_costs_little(how):
    def same(seed: int) -> tuple[Stream, Stream]:
        world = World(features=16, classes=4, gap=0.9, seed=10 * seed + 1)
        return world.draw(BEFORE, seed), world.draw(AFTER, 50 + seed)

    assert errors(same, how).mean() < errors(same, None).mean() + 0.02


# -- no gap --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", REACTIONS)
def test_predictions_go_on_at_once_for_every_class(how):
    learner = taught(WORLD, COLUMNS)
    X, y = WORLD.draw(200, 9)
    before = accuracy(learner, X, y)
    learner.react(how)
    assert accuracy(learner, X, y) > before - 0.1
    assert min(learner.explain().exemplars.values()) >= SMALL.neighbours


@pytest.mark.parametrize("how", REACTIONS)
@pytest.mark.parametrize("make", STAGES)
def test_a_learner_reacts_in_every_stage_and_a_restored_one_has_the_same_future(make: Make, how: Reaction):
    learner = make()
    learner.react(how)
    data = learner.snapshot()
    restored = EvolvingMetricLearner.restore(data)
    assert restored.snapshot() == data
    assert live(restored) == live(learner)


def test_there_is_no_third_reaction():
    with pytest.raises(FeatureError, match="step or memory, not by 'hope'"):
        taught(WORLD, COLUMNS).react("hope")  # type: ignore[arg-type]


# -- what changes --------------------------------------------------------------------------------------------------


def test_new_samples_take_the_places_of_old_exemplars_of_their_class():
    learner = taught(WORLD, COLUMNS, 300)
    learner.react("memory")
    memory = learner._state.memory
    assert memory.stale.all()
    kept = learner.explain().exemplars[0]
    X, _ = WORLD.draw(kept + 2, 5)
    learner.learn(X, [0] * len(X))
    assert learner.explain().exemplars[0] == kept + 2, "those that found no old one joined"
    assert memory.stale[memory.y != 0].all(), "the other classes wait for samples of their own"
    assert not memory.stale[memory.y == 0].any()


def test_wider_steps_come_with_every_batch_and_end():
    learner = taught(WORLD, COLUMNS, 3000)
    assert learner.age == 3000
    learner.react("step")
    assert learner.age == learner._state.resting == 0
    assert len(learning.fitter_for(learner._state, SMALL).steps) == len(SMALL.steps) + 1
    for seed in range(WIDENED):
        learner.learn(*WORLD.draw(16, seed))
    assert learning.fitter_for(learner._state, SMALL).steps == SMALL.steps


def test_a_reaction_that_is_over_leaves_nothing_in_the_snapshot():
    learner = taught(WORLD, COLUMNS, 300)
    plain = learner.snapshot()
    for how in REACTIONS:
        learner.react(how)
    assert b'["memory.stale","none"' not in learner.snapshot()
    assert b"widened" in learner.snapshot()
    learner.learn(*WORLD.draw(32 * WIDENED, 4))
    for data in (plain, learner.snapshot()):
        assert b'["memory.stale","none"' in data
        assert b"widened" not in data
