"""The memory's resolutions: small snapshots, and nothing of a value lost that counts."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.core.arrays import Array
from eml.core.memory import Memory
from eml.core.quantization import STEPS_IN_SPREAD
from tests.unit.core.helpers import SMALL

Draw = Callable[[np.random.Generator, Array], Array]


def learner_of(draw: Draw, d: int, batches: int, config: LearnerConfig) -> EvolvingMetricLearner:
    """A learner of four classes; `draw` makes samples from their centres."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(4, d))
    learner = EvolvingMetricLearner(FeatureSpace(tuple(f"feature_{i}" for i in range(d))), config, seed=1)
    for _ in range(batches):
        y = random.integers(0, 4, 32)
        learner.learn(draw(random, centres[y]), [f"class {c}" for c in y])
    return learner


def normal(random: np.random.Generator, centres: Array) -> Array:
    return centres + random.normal(size=centres.shape)


def gaps(random: np.random.Generator, centres: Array) -> Array:
    X = normal(random, centres)
    X[random.random(X.shape) < 0.05] = np.nan
    return X


def tails(random: np.random.Generator, centres: Array) -> Array:
    return centres + random.standard_cauchy(size=centres.shape)


def pressures(random: np.random.Generator, centres: Array) -> Array:
    return 101_325.0 + 50.0 * normal(random, centres)


@pytest.mark.parametrize("draw", [normal, gaps, tails, pressures])
def test_a_full_memory_of_64_features_is_a_snapshot_of_at_most_150_kilobytes(draw):
    learner = learner_of(draw, 64, 50, LearnerConfig())
    assert learner._state.memory.X.shape == (1024, 64)
    assert learner._state.views[-1].L.shape == (64, 64)
    assert len(learner.snapshot()) <= 150_000


def test_values_far_from_zero_keep_what_makes_them_differ():
    learner = learner_of(pressures, 3, 20, SMALL)
    memory = learner._state.memory
    assert (memory.resolution > 0.0).all()
    assert (memory.resolution <= memory.X.std(axis=0) / STEPS_IN_SPREAD * 2).all()
    assert len(np.unique(memory.X[:, 0])) > 0.9 * len(memory)


def numbers(random: np.random.Generator, centres: Array) -> Array:
    return np.column_stack(
        [
            np.rint(9 * normal(random, centres[:, :1])),
            centres[:, 1:2] + random.normal(size=(len(centres), 1)) > 2.0,
            2.0**20 + random.integers(0, 16, (len(centres), 1)),
            normal(random, centres[:, 3:]),
        ]
    )


def test_whole_numbers_codes_and_flags_stay_what_they_are():
    learner = learner_of(numbers, 4, 30, SMALL)
    state = learner._state
    assert (state.memory.resolution > 0.0).any()
    columns = state.encoder.numeric
    values = state.statistics.raw_values(state.memory.samples(np.arange(len(state.memory)), columns), columns)
    whole = [name in {"feature_0", "feature_1", "feature_2"} for name in np.array(state.space.names)[columns]]
    assert any(whole)
    assert not (values[:, whole] % 1.0).any()
    others = np.setdiff1d(np.arange(len(state.space)), columns)  # spelled out
    assert set(np.unique(state.memory.X[:, others])) <= {0.0, 1.0}


def test_a_range_that_grows_gets_a_coarser_grain_and_one_that_shrinks_a_finer_one():
    learner = learner_of(normal, 3, 20, replace(SMALL, arcsinh=False))
    memory, random = learner._state.memory, np.random.default_rng(5)
    first = memory.resolution.copy()
    for scale in (50.0, 0.1):
        for _ in range(120):
            y = random.integers(0, 4, 32)
            learner.learn(scale * (random.normal(size=(32, 3)) + y[:, None]), [f"class {c}" for c in y])
        multiples = memory.X / memory.resolution
        assert not (multiples % 1.0).any()
        assert (memory.resolution > first).all() if scale > 1.0 else (memory.resolution < first).all()
        assert EvolvingMetricLearner.restore(learner.snapshot()).snapshot() == learner.snapshot()


def test_a_few_glitches_do_not_make_a_column_coarse():
    def glitches(random: np.random.Generator, centres: Array) -> Array:
        X = normal(random, centres)
        X[random.random(X.shape) < 0.005] = 1e12
        return X

    memory = learner_of(glitches, 3, 20, SMALL)._state.memory
    assert (memory.resolution < 0.05).all()


def test_what_comes_in_is_rounded_and_what_is_there_when_the_grain_becomes_coarser():
    memory = Memory.empty(8, 0.5, 2)
    memory.set_resolution(np.array([0]), np.array([0.25]))
    values = np.array([[0.3, 0.3], [-0.1, -0.1]])
    memory.add(values, np.ones((2, 2), dtype=np.bool_), np.array([0, 1]), np.random.default_rng(0))
    np.testing.assert_array_equal(memory.X, np.array([[0.25, 0.3], [0.0, -0.1]], dtype=np.float32))
    assert not np.signbit(memory.X[1, 0])
    memory.set_resolution(np.array([0, 1]), np.array([0.5, 0.5]))
    np.testing.assert_array_equal(memory.X, np.array([[0.0, 0.5], [0.0, 0.0]]))
