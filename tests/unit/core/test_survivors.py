"""The learner as it was before an evolution stays an expert: while it may be the best, and no longer."""

import numpy as np
import pytest

from eml.core import EvolvingMetricLearner, LearnerConfig, survivors
from eml.core.arrays import Array, Index
from eml.core.experts import score_views
from tests.unit.core.helpers import METRIC_ALONE, World, space, taught

BEFORE, AFTER = tuple(range(10)), tuple(range(5, 15))
KNOWN = tuple(range(5, 10))
NOTHING_NEW = World(features=15, classes=3, gap=2.0, noise=5)  # the last five features tell nothing


def settled(world: World) -> EvolvingMetricLearner:
    """A learner whose memory is of the new space."""
    learner = taught(world, BEFORE, 300)
    learner.evolve(space(*AFTER))
    for seed in range(40):
        learner.learn(*world.draw(32, seed, AFTER))
        if learner.stage == "steady":
            break
    assert learner.stage == "steady"
    return learner


def test_it_goes_on_while_new_features_tell_nothing():
    learner = settled(NOTHING_NEW)
    for seed in range(8):
        learner.learn(*NOTHING_NEW.draw(32, 50 + seed, AFTER))
    assert set(learner.explain().views) == {"survived", "joint", "linear"}


def test_it_ends_where_new_features_tell_more():
    world = World(features=15, classes=3, gap=1.5)
    learner = taught(world, range(7), 300)  # one feature survives
    learner.evolve(space(*range(6, 15)))
    for seed in range(60):
        learner.learn(*world.draw(32, seed, range(6, 15)))
        if "survived" not in learner.explain().views:
            break
    assert set(learner.explain().views) == {"all", "linear"}
    assert learner._state.survivors is None


def test_it_ends_with_the_next_evolution_and_begins_anew():
    learner = settled(NOTHING_NEW)
    former = learner._state.survivors
    assert former is not None
    learner.evolve(space(*range(8, 15), 0))
    assert learner._state.survivors is not former
    assert [view.name for view in learner._state.views] == ["survived"]


def test_it_is_pooled_as_before_the_evolution():
    learner = taught(NOTHING_NEW, BEFORE, 300)
    state = learner._state
    assert state.mixture.pooled == ("metric", "linear")
    metric, linear = state.mixture.pooling.w
    expected = [metric * state.pooling.w.sum(), linear]
    learner.evolve(space(*AFTER))
    assert state.survivors is not None
    np.testing.assert_allclose(state.survivors.pooling.w, expected)


def test_it_never_looks_at_new_features():
    learner = settled(NOTHING_NEW)
    state = learner._state
    assert state.survivors is not None
    assert not state.survivors.linear.W[:, state.new_columns()].any()
    X, _ = NOTHING_NEW.draw(40, 9, AFTER)
    other = X.copy()
    other[:, 5:] = 100.0
    one, same = (
        score_views(state, values, np.ones(X.shape, dtype=np.bool_), 3).by_expert["survived"] for values in (X, other)
    )
    np.testing.assert_array_equal(one, same)


def test_features_that_come_back_are_new_to_it():
    learner = settled(NOTHING_NEW)
    learner.evolve(space(*BEFORE))
    state = learner._state
    assert state.linear is not None
    assert state.survivors is not None
    back = [column for column in range(10) if column not in state.views[0].columns]
    assert len(back) == 5
    assert state.linear.W[:, back].any()
    assert not state.survivors.linear.W[:, back].any()


@pytest.mark.parametrize("after", [tuple(range(5, 10)), tuple(range(20, 25))], ids=["nothing new", "nothing survived"])
def test_there_is_none_where_all_or_nothing_survived(after):
    learner = taught(World(features=25, classes=3), BEFORE, 300)
    learner.evolve(space(*after))
    assert learner._state.survivors is None


def test_the_method_of_the_paper_has_none():
    learner = taught(NOTHING_NEW, BEFORE, 300, METRIC_ALONE)
    learner.evolve(space(*AFTER))
    assert learner._state.survivors is None


def test_a_rename_moves_its_columns():
    learner = settled(NOTHING_NEW)
    X, _ = NOTHING_NEW.draw(40, 9, AFTER)
    before = learner.predict_many(X).scores
    learner.evolve(space(*AFTER[::-1]))
    assert learner._state.survivors is not None
    np.testing.assert_allclose(learner.predict_many(X[:, ::-1]).scores, before, atol=1e-3)
    learner.learn(*NOTHING_NEW.draw(32, 3, AFTER[::-1]))
    new = learner._state.new_columns()
    assert new.tolist() == [0, 1, 2, 3, 4]
    assert not learner._state.survivors.linear.W[:, new].any()


def plane(random: np.random.Generator, n: int) -> tuple[Array, Index]:
    """Samples whose class only the survivors tell."""
    X = random.normal(size=(n, 15))
    return X, (X[:, 5:10] @ np.random.default_rng(1).normal(size=(5, 3))).argmax(axis=1)


def right(seed: int, after: tuple[int, ...]) -> float:
    """Percent right after a switch to some features, by the learner of them."""
    random = np.random.default_rng(seed)
    learner = EvolvingMetricLearner(space(*BEFORE), LearnerConfig(memory_size=512), seed)
    X, y = plane(random, 1600)
    hits = []
    for start in range(0, len(X), 16):
        piece = slice(start, start + 16)
        if start == 800:
            learner.evolve(space(*after))
        rows = X[piece][:, BEFORE if start < 800 else after]
        if start >= 800:
            hits.append(np.array(learner.predict_many(rows).labels) == y[piece])
        learner.learn(rows, y[piece].tolist())
    return 100.0 * float(np.mean(hits))


@pytest.mark.slow
def test_where_the_survivors_know_all_new_features_cost_next_to_nothing():
    """Against the same learner that never gets the new features."""
    gaps = np.array([right(seed, KNOWN) - right(seed, AFTER) for seed in range(8)])
    assert gaps.mean() <= 0.3 + gaps.std(ddof=1) / np.sqrt(len(gaps))


def test_a_share_of_nearly_nothing_ends_it():
    learner = settled(NOTHING_NEW)
    learner._state.mixture.experts["survived"].share = survivors.SMALL / 2
    survivors.end(learner._state)
    assert learner._state.survivors is None
    assert [view.name for view in learner._state.views] == ["all"]
