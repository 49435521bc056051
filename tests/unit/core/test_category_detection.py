"""Features that are codes: found where they are, left alone where numbers are amounts, carried across evolutions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eml.core import EvolvingMetricLearner, FeatureSpace, arcsinh, category_detection
from eml.core.arrays import Array
from eml.core.column_names import codes_in
from eml.core.state import State
from eml.core.statistics import scaled_by_arcsinh
from tests.unit.core.helpers import LETTER_FEATURES, LETTERS, SMALL, World, accuracy, letters, space

A, B = range(8), range(4, 12)


def taught(*, encoded: bool = True, draw=letters, count: int = 320) -> EvolvingMetricLearner:
    learner = EvolvingMetricLearner(space(*A), replace(SMALL, one_hot=encoded))
    for seed in range(count // 64):
        learner.learn(*draw(64, seed, A))
    return learner


def found(learner: EvolvingMetricLearner) -> dict[str, list[int]]:
    return codes_in(learner._state.space.names)


def test_codes_are_spelled_out_and_better_predicted():
    unseen, truth = letters(600, 99, A)
    learner = taught()
    assert {name: sorted(each) for name, each in found(learner).items()} == {f"f{c}": [1, 2, 3, 4, 5] for c in A}
    assert accuracy(learner, unseen, truth) > accuracy(taught(encoded=False), unseen, truth) + 0.05


def test_the_setting_turns_it_off():
    assert not found(taught(encoded=False))


def amounts(count: int, seed: int, columns: range) -> tuple[Array, list[int]]:
    return World(features=LETTER_FEATURES).draw(count, seed, columns)


def coarse(count: int, seed: int, columns: range) -> tuple[Array, list[int]]:
    """Amounts in steps of 1: many values, and the order counts."""
    X, y = World(features=LETTER_FEATURES, gap=3.0).draw(count, seed, columns)
    return np.rint(5.0 * X), y


def rare(count: int, seed: int, columns: range) -> tuple[Array, list[int]]:
    """Pixels at the border: nearly always 0, and else anything up to 255."""
    X, y = letters(count, seed, columns)
    return np.where(X == 5.0, 0.0, np.where(X == 4.0, 50.0 * X + 53.0, 0.0)), y


@pytest.mark.parametrize("draw", [amounts, coarse, rare])
def test_amounts_stay_as_they_are(draw):
    assert not found(taught(draw=draw))


def test_a_late_answer_comes_when_there_are_more_samples():
    learner = EvolvingMetricLearner(space(*A), SMALL)
    for seed in range(100, 103):  # letters that tell nothing: no reason to spell them out
        X, y = letters(64, seed)
        learner.learn(X, np.roll(y, 7).tolist())
    assert not found(learner)
    for seed in range(10, 40):
        learner.learn(*letters(64, seed))
    assert found(learner)


def relaid(learner: EvolvingMetricLearner) -> EvolvingMetricLearner:
    """The same learner with its codes spelled out, whatever held-out samples say."""
    copy = EvolvingMetricLearner.restore(learner.snapshot())
    state = copy._state
    codes = category_detection._codes(state, state.encoder.numeric)
    assert codes
    category_detection._encode(state, category_detection._layout(state, codes))
    state.refresh()
    return copy


def states(*learners: EvolvingMetricLearner) -> list[State]:
    return [learner._state for learner in learners]


def survivors_of(state: State) -> Array:
    """Exemplars embedded by the metric of those to survive."""
    upcoming = state.upcoming
    assert upcoming is not None
    assert upcoming.Ls is not None
    survived = state.columns_of(state.space.diff(upcoming.space))
    return state.memory.samples(np.arange(50), survived) @ upcoming.Ls.T


def far(Z: Array) -> Array:
    return np.asarray(np.linalg.norm(Z[:, None] - Z[None], axis=2))


@pytest.mark.parametrize("announced", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_spelling_out_changes_no_prediction(announced, scaled):
    learner = EvolvingMetricLearner(space(*A), replace(SMALL, one_hot=False, arcsinh=False))
    learner.learn(*letters(128, 1))
    if scaled:
        state = learner._state
        X, observed = arcsinh._values(state, np.arange(8))
        unit = np.full(8, 1.5)
        arcsinh._apply(state, np.arange(8), unit, scaled_by_arcsinh(X, unit), observed)
        state.refresh()
    if announced:
        learner.announce(space(*B))
        learner.learn(*letters(64, 2))
    spelled = relaid(learner)
    assert spelled.space == learner.space
    unseen, _ = letters(200, 9)
    unseen[3, 2] = np.nan
    was, now = learner.predict_many(unseen), spelled.predict_many(unseen)
    same = np.isclose(now.scores, was.scores, atol=1e-4).all(axis=1)
    assert same.mean() > 0.95  # codes lie equally far from many: which of two neighbours is the seventh is chance
    everyone = np.arange(50)
    embedded = [
        state.memory.samples(everyone, state.views[0].columns) @ state.views[0].L.T
        for state in states(learner, spelled)
    ]
    np.testing.assert_allclose(far(embedded[1]), far(embedded[0]), atol=1e-5)
    if announced:
        survivors = [survivors_of(state) for state in states(learner, spelled)]
        np.testing.assert_allclose(far(survivors[1]), far(survivors[0]), atol=1e-5)


def test_a_new_level_gets_its_column_with_the_first_label_and_changes_no_other_prediction():
    learner = taught()
    unseen, _ = letters(100, 9)
    before = learner.predict_many(unseen).scores
    stranger = unseen[:1].copy()
    stranger[0, 0] = 9.0
    learner.predict_many(stranger)
    assert 9 not in found(learner)["f0"]  # without a label nothing is learnt
    category_detection.add_levels(learner._state, stranger)
    assert 9 in found(learner)["f0"]
    np.testing.assert_allclose(learner.predict_many(unseen).scores, before, atol=1e-5)
    learner.learn(stranger, [0])
    assert learner.space == space(*A)


def test_no_feature_has_more_than_so_many_levels():
    learner = taught()
    X, y = letters(64, 50)
    X[:, 0] = np.arange(64.0) - 20
    X[:4, 1] = [1e300, 2.5, -(2.0**40), 1000.0]  # no levels at all
    learner.learn(X, y)
    assert len(found(learner)["f0"]) == category_detection.MAX_LEVELS
    assert len(found(learner)["f1"]) == LETTERS
    assert np.isfinite(learner.predict_many(X).scores).all()


def test_codes_survive_an_evolution_and_new_ones_are_spelled_out_too():
    learner, plain = taught(), taught(encoded=False)
    for each in (learner, plain):
        report = each.evolve(space(*B))
        assert report.change.vanished == ("f0", "f1", "f2", "f3")
        assert report.change.survived == ("f4", "f5", "f6", "f7")
        assert report.change.augmented == ("f8", "f9", "f10", "f11")
        assert set(report.takeovers) == set(report.change.vanished)
        assert all(takeover.by in report.change.survived for takeover in report.takeovers.values())
        for seed in range(30, 33):
            each.learn(*letters(64, seed, B))
        assert each.explain().evolution == report
    assert set(found(learner)) == set(learner.space.names) == {f"f{column}" for column in B}
    unseen, truth = letters(600, 99, B)
    assert accuracy(learner, unseen, truth) > accuracy(plain, unseen, truth) + 0.05
    assert set(learner.explain().weights) == set(learner.space.names)
    assert sum(learner.explain().weights.values()) == pytest.approx(1.0)


def test_codes_that_return_or_are_renamed_keep_their_levels():
    learner = taught()
    learner.evolve(FeatureSpace(("g4", *(f"f{c}" for c in B if c > 4)), {"g4": ("f4",)}))
    assert sorted(found(learner)["g4"]) == [1, 2, 3, 4, 5]
    learner.learn(*letters(64, 20, B))
    report = learner.evolve(space(*A, aliases={"f4": ("g4",)}))
    assert "f3" in report.returned
    assert sorted(found(learner)["f3"]) == [1, 2, 3, 4, 5]
    learner.learn(*letters(64, 21, A))
    assert learner.space.names == tuple(f"f{c}" for c in A)


def test_a_snapshot_goes_on_with_the_same_bits():
    learner = taught()
    learner.announce(space(*B))
    learner.learn(*letters(32, 40))
    again = EvolvingMetricLearner.restore(learner.snapshot())
    assert again.space == learner.space
    for each in (learner, again):
        each.learn(*letters(32, 41))
        each.evolve(space(*B))
        each.learn(*letters(64, 42, B))
    unseen, _ = letters(50, 9, B)
    np.testing.assert_array_equal(again.predict_many(unseen).scores, learner.predict_many(unseen).scores)
    assert again.snapshot() == learner.snapshot()


MOVES = st.lists(
    st.tuples(st.sampled_from(["learn", "announce", "evolve", "gap", "strange"]), st.integers(0, 8)), max_size=10
)


@pytest.mark.slow
@given(MOVES)
@settings(max_examples=25)
def test_whatever_comes_the_space_is_the_one_that_was_given(moves):
    learner, columns = EvolvingMetricLearner.restore(TAUGHT), A
    for number, (move, start) in enumerate(moves):
        following = range(min(start, 7), min(start, 7) + 5)
        X, y = letters(40, number, columns)
        if move == "announce":
            learner.announce(space(*following))
        elif move == "evolve":
            learner.evolve(space(*following))
            columns = following
            X, y = letters(40, number, columns)
        elif move == "gap":
            X[::3, 0] = np.nan
        elif move == "strange":
            X[::4, -1] = start + 4
        learner.learn(X, y)
        assert learner.space == space(*columns)
        assert np.isfinite(learner.predict_many(X).scores).all()
        state = learner._state
        assert state.memory.X.shape[1] == len(state.space) + len(state.retired_columns)
        assert len(state.statistics.mean) == len(state.space)


TAUGHT = taught().snapshot()
