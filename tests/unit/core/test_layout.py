"""One primitive moves all columns of a state: nothing is lost on the way, and nothing is learnt."""

import numpy as np

from eml.core import EvolvingMetricLearner
from eml.core.layout import Column, move_columns
from eml.core.snapshot import dump
from eml.core.state import State
from tests.unit.core.helpers import SMALL, World, space, taught

WORLD = World(features=12, classes=3)


def between_evolutions() -> State:
    """A state with everything that has columns: retired ones, survivors' and joint view, a fresh start."""
    learner = taught(WORLD, range(8), 200)
    learner.evolve(space(*range(4, 12)))
    learner.learn(*WORLD.draw(64, 7, range(4, 12)))
    state = learner._state
    assert len(state.views) == 2
    assert state.fresh is not None
    assert state.retired_columns
    return state


def moved(state: State, order: list[int]) -> None:
    """Put the columns into another order."""
    names = [state.space.names[column] for column in order]
    columns = [Column(name, column) for name, column in zip(names, order, strict=True)]
    retired = range(len(order), len(order) + len(state.retired_columns))
    move_columns(state, space(*(int(name[1:]) for name in names)), columns, retired)


def test_columns_moved_there_and_back_are_the_same_bytes():
    state = between_evolutions()
    before = dump(state, SMALL)
    order = np.random.default_rng(1).permutation(len(state.space))
    moved(state, order.tolist())
    assert dump(state, SMALL) != before
    moved(state, np.argsort(order).tolist())
    assert dump(state, SMALL) == before


def test_a_retired_column_that_becomes_active_brings_values_and_statistics():
    state = between_evolutions()
    values, active = state.memory.X.copy(), len(state.space)
    columns = [Column("back", active), Column("new", None), Column("kept", 0)]
    origin = state.retired_statistics.origin[0]
    move_columns(state, EvolvingMetricLearner(space(1, 2, 3)).space, columns, [active + 1])
    np.testing.assert_array_equal(state.memory.X[:, [0, 2, 3]], values[:, [active, 0, active + 1]])
    assert not state.memory.observed[:, 1].any()
    assert state.statistics.origin[0] == origin
    assert state.statistics.count[1] == 0.0
    assert state.linear is not None
    assert not state.linear.W[:, :2].any()
