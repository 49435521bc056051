"""Categories: features of symbols, one column per level from their first label on, through all that can happen."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import EvolvingMetricLearner, FeatureSpace
from eml.core.arrays import Array
from eml.core.category_detection import MAX_SYMBOLS, MAX_SYMBOLS_TOGETHER
from eml.core.column_names import categories_in, category_column, codes_in, other_column
from eml.core.errors import FeatureError
from eml.core.folding import fold_evolution
from eml.core.hashed_symbols import BITS, hash_symbol
from eml.core.one_hot import OneHotEncoder, first_encoded_space
from tests.unit.core.helpers import SMALL, accuracy, letters

MODE = FeatureSpace(("t", "mode", "p"), categories=frozenset({"mode"}))
PLAIN = FeatureSpace(("t", "p"))
SYMBOLS_OF_CLASS = {0: ("off", "idle"), 1: ("run", "boost"), 2: ("fail", "reset")}


def draw(count: int, seed: int, *, missing: float = 0.0, clear: float = 0.9) -> tuple[Array, list[int]]:
    """Classes told by the mode alone, with two modes each; t and p are noise of different size."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, count)
    told = np.where(random.random(count) < clear, y, random.integers(0, 3, count))
    modes = [hash_symbol(SYMBOLS_OF_CLASS[int(c)][random.integers(0, 2)]) for c in told]
    X = np.column_stack([random.normal(size=count), modes, 50.0 * random.normal(size=count)])
    X[random.random(count) < missing, 1] = np.nan
    return X, y.tolist()


def taught(space: FeatureSpace = MODE, count: int = 256, **how: float) -> EvolvingMetricLearner:
    learner = EvolvingMetricLearner(space, SMALL)
    columns = [("t", "mode", "p").index(name) for name in space.names]
    for seed in range(count // 32):
        X, y = draw(32, seed, **how)
        learner.learn(X[:, columns], y)
    return learner


def levels(learner: EvolvingMetricLearner) -> dict[str, list[float]]:
    return categories_in(learner._state.space.names)


def numbers(*symbols: str) -> list[float]:
    return [hash_symbol(each) for each in symbols]


# -- spaces --------------------------------------------------------------------------------------------------------


def test_a_space_knows_its_categories_everywhere():
    assert FeatureSpace(MODE.names) != MODE
    assert len({MODE, FeatureSpace(MODE.names), FeatureSpace(("t", "mode", "p"), {}, frozenset({"mode"}))}) == 2
    assert copy.deepcopy(MODE) == MODE  # as pickling would
    with pytest.raises(FeatureError, match="categories that are not in the space: ghost"):
        FeatureSpace(("t",), categories=frozenset({"ghost"}))


def test_an_amount_that_becomes_a_category_has_vanished_and_come():
    change = FeatureSpace(MODE.names).diff(MODE)
    assert (change.vanished, change.survived, change.augmented) == (("mode",), ("t", "p"), ("mode",))
    by_alias = FeatureSpace(("state",), {"state": ("mode",)}, frozenset({"state"}))
    assert not FeatureSpace(("mode",)).diff(by_alias).survived
    assert MODE.diff(by_alias).renamed == {"state": "mode"}
    assert by_alias.diff(MODE).former == {"mode": "state"}


def test_a_category_has_a_column_before_it_has_a_level():
    inner = first_encoded_space(MODE)
    assert inner.names == ("t", other_column("mode"), "p")
    assert OneHotEncoder(inner).inputs == MODE
    np.testing.assert_array_equal(
        OneHotEncoder(inner).encode(np.array([[1.0, 7.0, 2.0], [1.0, np.nan, np.inf]])),
        [[1.0, 1.0, 2.0], [1.0, np.nan, np.inf]],
    )


def test_a_symbol_has_its_column_or_is_one_of_the_others():
    names = (
        "t",
        other_column("mode"),
        category_column("mode", 3.0),
        other_column("site"),
        category_column("mode", 2.0**52 - 1),
    )
    encoder = OneHotEncoder(FeatureSpace(names))
    assert encoder.inputs == FeatureSpace(("t", "mode", "site"), categories=frozenset({"mode", "site"}))
    X = np.array([[5.0, 3.0, 1.0], [5.0, 2.0**52 - 1, np.nan], [5.0, 2.0**52 - 2, 0.0], [np.nan, np.nan, 0.0]])
    got = encoder.encode(X)
    np.testing.assert_array_equal(got[:3, [1, 2, 4]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(got[:, 3], [1, np.nan, 1, 1])
    assert np.isnan(got[3, [0, 1, 2, 4]]).all()


@pytest.mark.slow
@given(st.text())
def test_a_symbols_number_is_exact_in_the_name_of_its_column(text):
    number = hash_symbol(text)
    assert 0.0 <= number < 2.0**BITS
    assert number == int(number)
    assert categories_in([category_column("f", number)]) == {"f": [number]}


def test_a_symbols_number_never_changes():
    """Models in state and readings that wait for a label hold it."""
    assert numbers("", "on", "grün") == [696490546734820.0, 4438289885131096.0, 2713827867617769.0]


# -- learning ------------------------------------------------------------------------------------------------------


def test_a_category_that_decides_the_class_is_learnt():
    unseen, truth = draw(600, 99)
    learner = taught()
    assert accuracy(learner, unseen, truth) > 0.9
    assert accuracy(taught(PLAIN), unseen[:, [0, 2]], truth) < 0.5
    assert sorted(levels(learner)["mode"]) == sorted(numbers(*sum(SYMBOLS_OF_CLASS.values(), ())))
    weights = learner.explain().weights
    assert set(weights) == {"t", "mode", "p"}
    assert weights["mode"] > 0.8


def test_it_is_no_amount_from_the_first_label_on():
    learner = EvolvingMetricLearner(MODE, SMALL)
    assert learner.predict_one([0.0, hash_symbol("run"), 0.0]).label is None
    learner.learn([[0.0, hash_symbol("run"), 0.0], [0.0, hash_symbol("fail"), 0.0]], [1, 2])
    assert levels(learner) == {"mode": numbers("run", "fail")}
    assert learner.predict_one([0.0, hash_symbol("run"), 0.0]).label == 1
    assert learner.predict_one([0.0, hash_symbol("fail"), 0.0]).label == 2


def test_the_setting_for_codes_does_not_concern_categories():
    learner = EvolvingMetricLearner(MODE, replace(SMALL, one_hot=False))
    learner.learn(*draw(64, 1))
    assert len(levels(learner)["mode"]) == 6


def test_codes_are_found_beside_categories_and_those_stay_as_they_are():
    space = FeatureSpace(("mode", *(f"f{c}" for c in range(8))), categories=frozenset({"mode"}))
    learner = EvolvingMetricLearner(space, SMALL)
    for seed in range(20):
        X, y = letters(64, seed)
        mode = np.random.default_rng(100 + seed).integers(0, 3, (64, 1)).astype(float)  # small: no code for that
        learner.learn(np.hstack([mode, X]), y)
    assert set(codes_in(learner._state.space.names)) == {f"f{c}" for c in range(8)}
    assert sorted(levels(learner)["mode"]) == [0.0, 1.0, 2.0]
    assert not learner._state.statistics.unit[learner._state.encoder.other_columns].any()
    assert learner.space == space


def test_null_is_missing_and_the_rest_counts():
    learner = taught(missing=0.3)
    unseen, truth = draw(600, 99)
    assert accuracy(learner, unseen, truth) > 0.85
    nobody = learner.predict_one([np.nan, np.nan, np.nan])
    assert nobody.novelty == np.inf
    assert np.isfinite(learner.predict_one([0.1, np.nan, 20.0]).novelty)


def test_symbols_that_come_late_are_learnt():
    learner = taught()
    random = np.random.default_rng(5)
    late = {0: "sleep", 1: "turbo", 2: "halt"}
    for seed in range(10, 30):
        X, y = draw(32, seed)
        rows = random.random(32) < 0.5
        X[rows, 1] = [hash_symbol(late[label]) for label, hit in zip(y, rows, strict=True) if hit]
        learner.learn(X, y)
    asked = np.array([[0.0, hash_symbol(each), 0.0] for each in late.values()])
    assert learner.predict_many(asked).labels == [0, 1, 2]


def test_rows_have_the_same_bits_alone_and_in_a_batch():
    learner = taught(missing=0.1)
    X, _ = draw(40, 77, missing=0.2)
    X[3, 1] = hash_symbol("never seen")
    together = learner.predict_many(X)
    for row in range(len(X)):
        alone = learner.predict_many(X[row : row + 1])
        assert alone.scores.tobytes() == together.scores[row : row + 1].tobytes()
        assert alone.novelty[0] == together.novelty[row]


def test_a_stranger_with_a_thousand_symbols_gets_no_more_than_the_bound():
    learner = EvolvingMetricLearner(MODE, SMALL)
    for seed in range(40):
        X, y = draw(32, seed)
        X[:, 1] = np.random.default_rng(seed).integers(0, 2**BITS, 32)
        learner.learn(X, y)
    assert len(levels(learner)["mode"]) == MAX_SYMBOLS
    assert learner._state.memory.X.shape[1] == 3 + MAX_SYMBOLS


def test_symbols_that_no_exemplar_shows_any_more_make_room():
    learner = EvolvingMetricLearner(MODE, SMALL)
    for start in range(0, 4 * MAX_SYMBOLS, 32):  # firmware versions, each for a while
        X, y = draw(32, start)
        X[:, 1] = numbers(*(f"1.{start + i}" for i in range(32)))
        learner.learn(X, y)
    for seed in range(40):
        learner.learn(*draw(32, 1_000 + seed))
    assert set(numbers("off", "idle", "run", "boost", "fail", "reset")) <= set(levels(learner)["mode"])
    unseen, truth = draw(600, 99)
    assert accuracy(learner, unseen, truth) > 0.85


def test_all_categories_together_have_a_bound():
    names = tuple(f"c{i}" for i in range(40))
    learner = EvolvingMetricLearner(FeatureSpace(names, categories=frozenset(names)), SMALL)
    for seed in range(4):
        X = np.random.default_rng(seed).integers(0, 1_000, (32, 40)).astype(float)
        learner.learn(X, [0, 1] * 16)
    assert sum(map(len, levels(learner).values())) <= MAX_SYMBOLS_TOGETHER
    assert len(learner.space) == 40
    learner.predict_many(X)


# -- evolutions ----------------------------------------------------------------------------------------------------


def test_a_snapshot_has_the_same_future():
    learner = taught(missing=0.1)
    restored = EvolvingMetricLearner.restore(learner.snapshot())
    assert restored.space == learner.space == MODE
    for each in (learner, restored):
        each.announce(FeatureSpace(("mode", "q"), categories=frozenset({"mode"})))
        for seed in range(50, 54):
            each.learn(*draw(32, seed, missing=0.1))
    assert restored.snapshot() == learner.snapshot()
    assert restored.upcoming == learner.upcoming
    assert restored.upcoming is not None


def test_a_renamed_category_keeps_its_levels():
    learner = taught()
    unseen, _ = draw(300, 99)
    before = learner.predict_many(unseen).scores
    renamed = FeatureSpace(("p", "state", "t"), {"state": ("mode",)}, frozenset({"state"}))
    evolution = learner.evolve(renamed)
    assert not evolution.change.is_evolution
    assert evolution.change.renamed == {"state": "mode"}
    assert learner.space == renamed
    np.testing.assert_allclose(learner.predict_many(unseen[:, [2, 1, 0]]).scores, before, atol=1e-5)


def test_a_category_that_vanishes_and_returns_finds_what_it_knew():
    learner = EvolvingMetricLearner(MODE, replace(SMALL, retired_features=64))
    for seed in range(8):
        learner.learn(*draw(32, seed))
    known = levels(learner)
    gone = learner.evolve(PLAIN)
    assert gone.change.vanished == ("mode",)
    assert set(gone.takeovers) == {"mode"}
    X, y = draw(32, 20)
    learner.learn(X[:, [0, 2]], y)
    back = learner.evolve(MODE)
    assert back.change.augmented == back.returned == ("mode",)
    assert levels(learner) == known
    learner.learn(*draw(32, 21))
    unseen, truth = draw(600, 99)
    assert accuracy(learner, unseen, truth) > 0.8


def test_a_new_category_is_learnt_beside_the_survivors():
    learner = taught(PLAIN)
    evolution = learner.evolve(MODE)
    assert evolution.change.augmented == ("mode",)
    assert not evolution.returned
    for seed in range(20, 30):
        learner.learn(*draw(32, seed, missing=0.1))
    unseen, truth = draw(600, 99)
    assert accuracy(learner, unseen, truth) > 0.85
    assert learner.explain().weights["mode"] > 0.5


def test_an_announced_change_keeps_the_category_and_meets_new_symbols_on_the_way():
    learner = taught()
    coming = FeatureSpace(("mode", "q"), categories=frozenset({"mode"}))
    learner.announce(coming)
    for seed in range(20, 24):
        X, y = draw(32, seed)
        X[:4, 1] = hash_symbol(f"new{seed}")
        learner.learn(X, y)
    assert learner.upcoming == coming
    evolution = learner.evolve(coming)
    assert evolution.announced
    assert evolution.change.survived == ("mode",)
    assert hash_symbol("new23") in levels(learner)["mode"]
    unseen, truth = draw(300, 99)
    asked = np.column_stack([unseen[:, 1], np.full(300, np.nan)])
    assert accuracy(learner, asked, truth) > 0.85


def test_of_a_name_that_changes_its_kind_nothing_is_carried_over():
    learner = taught(FeatureSpace(MODE.names))
    evolution = learner.evolve(MODE)
    assert evolution.change.vanished == evolution.change.augmented == ("mode",)
    assert not evolution.returned
    assert levels(learner) == {"mode": []}
    learner.learn(*draw(32, 20))
    back = learner.evolve(FeatureSpace(MODE.names))
    assert back.returned == ("mode",)  # the amount that it was


def test_a_handful_of_nulls_in_a_category_of_many_levels_makes_no_stranger():
    learner = taught(count=128)
    rows = len(learner._state.memory)
    X, y = draw(32, 40)
    X[:, 1] = np.nan
    learner.learn(X, y)
    known = learner._state.with_observed(np.arange(len(learner._state.space)), 0.5)
    assert known.all()
    assert len(known) >= rows


def test_a_vanished_categorys_takeover_is_told_of_its_symbols():
    learner = taught()
    told = fold_evolution(learner.evolve(PLAIN)).takeovers["mode"]
    assert 0.0 <= told.share <= 1.0
    assert told.by in PLAIN.names
