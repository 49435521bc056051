"""Squashed features: chosen where values spread over decades, left alone elsewhere, and carried across evolutions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import EvolvingMetricLearner
from eml.core.arrays import Array
from eml.core.statistics import scaled_by_arcsinh
from tests.unit.core.helpers import SMALL, World, accuracy, space

WORLD = World(features=12, classes=4, gap=1.1)
A, B = range(8), range(4, 12)


def decades(count: int, seed: int, columns: range) -> tuple[Array, list[int]]:
    """Samples of the world as energies: what was a difference is a ratio."""
    X, y = WORLD.draw(count, seed, columns)
    return np.exp(2.5 * X), y


def taught(*, scaled: bool, draw=decades) -> EvolvingMetricLearner:
    learner = EvolvingMetricLearner(space(*A), replace(SMALL, arcsinh=scaled))
    for seed in range(4):
        learner.learn(*draw(64, seed, A))
    return learner


def units(learner: EvolvingMetricLearner) -> Array:
    return learner._state.statistics.unit


def test_values_over_decades_are_scaled_and_better_predicted():
    unseen, truth = decades(600, 99, A)
    assert (units(taught(scaled=True)) > 0.0).all()
    assert accuracy(taught(scaled=True), unseen, truth) > accuracy(taught(scaled=False), unseen, truth) + 0.05


def test_values_that_are_differences_stay_as_they_are():
    assert not units(taught(scaled=True, draw=WORLD.draw)).any()


def test_the_setting_turns_it_off():
    assert not units(taught(scaled=False)).any()


def test_new_features_are_scaled_with_the_survivors_and_old_units_stay():
    learner = taught(scaled=True)
    before = units(learner)
    learner.evolve(space(*B))
    learner.learn(*decades(4, 50, B))
    assert (units(learner)[4:] == 0.0).all()  # four values tell no unit
    learner.learn(*decades(60, 51, B))
    np.testing.assert_array_equal(units(learner)[:4], before[4:])
    assert (units(learner)[4:] > 0.0).all()
    unseen, truth = decades(600, 99, B)
    linear = taught(scaled=False)
    linear.evolve(space(*B))
    linear.learn(*decades(4, 50, B))
    linear.learn(*decades(60, 51, B))
    assert accuracy(learner, unseen, truth) > accuracy(linear, unseen, truth) + 0.05


def test_a_feature_that_returns_has_the_unit_it_had():
    learner = taught(scaled=True)
    before = units(learner)
    learner.evolve(space(*B))
    learner.learn(*decades(64, 51, B))
    learner.evolve(space(*A))
    np.testing.assert_array_equal(units(learner), before)


def test_statistics_of_a_scaled_feature_are_those_of_what_it_is_compared_by():
    learner = taught(scaled=True)
    state = learner._state
    X = np.concatenate([decades(64, seed, A)[0] for seed in range(4)])
    expected = scaled_by_arcsinh(X - state.statistics.origin, state.statistics.unit)
    np.testing.assert_allclose(state.statistics.mean, expected.mean(axis=0), atol=0.1)  # the first ones were cut
    np.testing.assert_allclose(state.statistics.deviation(), expected.std(axis=0), rtol=0.1)


def test_missing_values_and_flags_that_are_seldom_set_do_no_harm():
    def holes(count: int, seed: int, columns: range) -> tuple[Array, list[int]]:
        X, y = decades(count, seed, columns)
        X[:, 0] = np.arange(count) % 16 == 0
        X[::5, 1], X[:, 2] = np.nan, np.nan
        return X, y

    learner = taught(scaled=True, draw=holes)
    assert units(learner)[0] > 0.0
    assert units(learner)[2] == 0.0  # never seen
    unseen, truth = holes(600, 99, A)
    assert accuracy(learner, unseen, truth) > 0.7
    assert np.isfinite(learner.predict_many(unseen).scores).all()


@given(x=st.floats(-1e300, 1e300), y=st.floats(-1e300, 1e300), unit=st.floats(1e-300, 1e300))
def test_squashing_keeps_order_and_is_finite(x, y, unit):
    small, large = scaled_by_arcsinh(np.array([[min(x, y)], [max(x, y)]]), np.array([unit]))[:, 0]
    assert np.isfinite([small, large]).all()
    assert small <= large


@pytest.mark.parametrize("stage", ["initial", "steady", "inheriting"])
def test_a_snapshot_goes_on_as_the_learner_does(stage):
    learner = taught(scaled=True) if stage != "initial" else EvolvingMetricLearner(space(*A), SMALL)
    columns = B if stage == "inheriting" else A
    if stage == "inheriting":
        learner.evolve(space(*B))
        learner.learn(*decades(16, 50, B))
    other = EvolvingMetricLearner.restore(learner.snapshot())
    for seed in (60, 61):
        learner.learn(*decades(64, seed, columns))
        other.learn(*decades(64, seed, columns))
    assert other.snapshot() == learner.snapshot()
