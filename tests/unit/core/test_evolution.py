"""The learner across evolutions: what it carries over, what it says of it, and that it may go on without end."""

from dataclasses import replace

import numpy as np
import pytest

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig, ViewReport
from eml.core.arrays import Array
from tests.unit.core.helpers import METRIC_ALONE, SMALL, World, accuracy, space, taught

WIDE = World(features=40, classes=5, gap=0.5)
OLD, NEW = range(30), range(10, 40)
WORLD = World(features=12, classes=3, gap=1.5)
A, B = range(8), range(4, 12)
BUSY = replace(SMALL, longest_rest=0)  # a step with every batch


def same_rows(one: EvolvingMetricLearner, X: Array, other: EvolvingMetricLearner, Y: Array) -> None:
    """Both say the same of the same samples, up to rounding."""
    mine, theirs = one.predict_many(X), other.predict_many(Y)
    assert mine.labels == theirs.labels
    np.testing.assert_allclose(mine.scores, theirs.scores, rtol=1e-3, atol=1e-6)


# -- what is carried over ------------------------------------------------------------------------------------------


def after_the_switch(mode: str, seed: int) -> list[float]:
    """Accuracy in the new space with 0, 16, 32 labels of it."""
    world = replace(WIDE, seed=seed)
    learner = EvolvingMetricLearner(space(*NEW), BUSY)
    if mode != "cold":
        learner = taught(world, OLD, 480, BUSY)
        if mode == "announced":
            learner.announce(space(*NEW))
        learner.learn(*world.draw(192, 50, OLD))
        learner.evolve(space(*NEW))
    unseen, truth = world.draw(400, 99, NEW)
    accuracies = [accuracy(learner, unseen, truth)]
    for batch in range(2):
        learner.learn(*world.draw(16, 70 + batch, NEW))
        accuracies.append(accuracy(learner, unseen, truth))
    return accuracies


@pytest.fixture(scope="module")
def switches() -> dict[str, Array]:
    """Mean accuracies over five worlds, by mode."""
    modes = ("cold", "unannounced", "announced")
    return {mode: np.mean([after_the_switch(mode, seed) for seed in range(5)], axis=0) for mode in modes}


@pytest.mark.parametrize("mode", ["unannounced", "announced"])
def test_after_a_switch_the_learner_is_far_ahead_of_a_cold_start(switches, mode):
    cold, warm = switches["cold"], switches[mode]
    assert warm[0] > cold[1] + 0.1  # without one new label, against sixteen
    assert warm[1] > cold[1] + 0.1
    assert warm[2] > cold[2] + 0.05


def test_an_announced_evolution_is_about_as_good_as_a_surprise_or_better(switches):
    assert switches["announced"].mean() > switches["unannounced"].mean() - 0.02


@pytest.mark.parametrize(
    "config", [METRIC_ALONE, replace(METRIC_ALONE, transform=False)], ids=["all", "without T-stage"]
)
def test_new_features_add_to_what_the_survivors_tell(config):
    world = World(features=12, classes=3, gap=2.5, noise=1)
    after = (11, 4, 5, 6, 7)  # what survives tells nothing, four new features tell all
    learner, survivors_only = (
        taught(world, (0, 1, 2, 3, 11), 320, replace(config, inherit=inherit)) for inherit in (True, False)
    )
    unseen, truth = world.draw(300, 9, after)
    for each in (learner, survivors_only):
        each.evolve(space(*after))
        each.learn(*world.draw(96, 7, after))
    assert accuracy(learner, unseen, truth) > 0.85
    assert accuracy(survivors_only, unseen, truth) < 0.5


def test_the_loop_closes_with_one_metric_over_the_new_space():
    learner = taught(WORLD, A)
    learner.evolve(space(*B))
    assert learner.stage == "inheriting"
    for seed in range(40):
        learner.learn(*WORLD.draw(32, seed, B))
        if learner.explain().stage == "steady" and "survived" not in learner.explain().views:
            break
    assert learner.explain().stage == "steady"
    assert set(learner.explain().weights) == set(learner.space.names)
    assert set(learner.explain().views) == {"all", "linear"}
    assert accuracy(learner, *WORLD.draw(300, 99, B)) > 0.85


def test_the_survivors_view_retires_when_the_memory_knows_the_new_features():
    world = World(features=12, classes=3, gap=2.0, noise=4)  # what is new tells nothing: the old view keeps its weight
    learner = taught(world, A, config=METRIC_ALONE)
    learner.evolve(space(*B))
    shares: list[ViewReport | None] = []
    while learner.explain().stage == "inheriting" and len(shares) < 60:
        learner.learn(*world.draw(32, len(shares), B))
        shares.append(learner.explain().views.get("survived"))
    assert shares[0] is not None
    assert shares[0].weight > 0.1
    assert learner.explain().stage == "steady"
    assert set(learner.explain().views) == {"all"}


def test_features_that_only_vanish_leave_the_learner_steady():
    learner = taught(WORLD, A)
    report = learner.evolve(space(2, 3, 4, 5, 6, 7))
    assert report.change.vanished == ("f0", "f1")
    assert learner.stage == "steady"
    assert accuracy(learner, *WORLD.draw(300, 9, range(2, 8))) > 0.75
    learner.learn(*WORLD.draw(64, 10, range(2, 8)))


def test_features_that_only_appear_cost_nothing_before_their_labels_come():
    learner = taught(WORLD, A)
    unseen, _ = WORLD.draw(200, 9, range(10))
    before = learner.predict_many(unseen[:, :8]).labels
    report = learner.evolve(space(*range(10)))
    assert report.change.augmented == ("f8", "f9")
    same = np.array(before) == np.array(learner.predict_many(unseen).labels)
    assert same.mean() > 0.93  # the T-stage went on over the memory
    learner.learn(*WORLD.draw(64, 10, range(10)))


# -- reports -------------------------------------------------------------------------------------------------------


def test_an_evolution_reports_what_happened():
    learner = taught(WORLD, A)
    report = learner.evolve(space(*B))
    assert report.change.vanished == ("f0", "f1", "f2", "f3")
    assert report.change.survived == ("f4", "f5", "f6", "f7")
    assert report.change.augmented == ("f8", "f9", "f10", "f11")
    assert report.warm
    assert not report.announced
    assert report.transform_steps == SMALL.catch_up
    assert report.returned == ()
    assert set(report.takeovers) == set(report.change.vanished)
    assert learner.explain().evolution == report
    assert learner.space == space(*B)


def test_an_announced_evolution_reports_the_steps_of_its_t_stage():
    learner = taught(WORLD, A, config=BUSY)
    learner.announce(space(*B))
    assert learner.stage == "transforming"
    learner.learn(*WORLD.draw(3 * BUSY.batch, 5, A))
    report = learner.evolve(space(*B))
    assert report.announced
    assert report.transform_steps == 3


@pytest.mark.parametrize("told", [(4, 5, 6, 7), (7, 4, 6, 5), (6, 5, 4, 7, 20, 21)])
def test_what_was_announced_need_only_tell_the_survivors(told):
    exact, vague = (taught(WORLD, A, config=BUSY) for _ in range(2))
    exact.announce(space(*B))
    vague.announce(space(*told))
    for learner in (exact, vague):
        learner.learn(*WORLD.draw(96, 5, A))
    report = vague.evolve(space(*B))
    assert report.announced
    assert report.transform_steps > 0
    assert report.change == exact.evolve(space(*B)).change
    unseen, _ = WORLD.draw(50, 6, B)
    same_rows(vague, unseen, exact, unseen)


def test_an_announcement_of_other_survivors_is_none():
    learner = taught(WORLD, A, config=BUSY)
    learner.announce(space(*range(3, 12)))
    learner.learn(*WORLD.draw(96, 5, A))
    assert not learner.evolve(space(*B)).announced


def test_an_announcement_ends_a_rest():
    easy = World(features=12, classes=3, gap=4.0)  # no step brings anything: the learner rests as long as it may
    for batches in range(SMALL.longest_rest + 1):
        learner = taught(easy, A, 640 + batches * SMALL.batch)
        learner.announce(space(*B))
        learner.learn(*easy.draw(2 * SMALL.batch, 5, A))
        assert learner.evolve(space(*B)).announced


def test_announcing_twice_changes_nothing_and_announcing_no_change_calls_it_off():
    learner = taught(WORLD, A)
    learner.announce(space(*B))
    learner.learn(*WORLD.draw(64, 5, A))
    before = learner.snapshot()
    learner.announce(space(*B))
    assert learner.snapshot() == before
    learner.announce(space(*A))
    assert learner.stage == "steady"


def test_an_announcement_alone_changes_no_prediction():
    learner = taught(WORLD, A)
    X, _ = WORLD.draw(50, 9, A)
    before = learner.predict_many(X)
    learner.announce(space(*B))
    np.testing.assert_array_equal(learner.predict_many(X).scores, before.scores)


def test_an_announcement_before_the_first_label_waits_for_it():
    learner = EvolvingMetricLearner(space(*A), BUSY)
    learner.announce(space(*B))
    assert learner.stage == "initial"
    learner.learn(*WORLD.draw(256, 1, A))
    assert learner.explain().stage == "transforming"
    assert learner.evolve(space(*B)).announced


def test_evolving_to_another_space_than_announced_is_a_surprise():
    learner, surprised = taught(WORLD, A, config=BUSY), taught(WORLD, A, config=BUSY)
    learner.announce(space(*range(2, 10)))
    for each in (learner, surprised):
        each.learn(*WORLD.draw(96, 5, A))
    report, expected = learner.evolve(space(*B)), surprised.evolve(space(*B))
    assert not report.announced
    assert report.change == expected.change
    assert report.transform_steps == expected.transform_steps == BUSY.catch_up
    unseen, truth = WORLD.draw(300, 9, B)
    assert accuracy(learner, unseen, truth) > accuracy(surprised, unseen, truth) - 0.05


def test_a_next_space_may_be_announced_while_the_last_one_settles():
    learner = taught(WORLD, A, config=BUSY)
    learner.evolve(space(*B))
    learner.learn(*WORLD.draw(32, 3, B))
    learner.announce(space(*range(6, 12)))
    learner.learn(*WORLD.draw(320, 4, B))
    report = learner.evolve(space(*range(6, 12)))
    assert report.announced
    assert accuracy(learner, *WORLD.draw(300, 9, range(6, 12))) > 0.75


# -- names ---------------------------------------------------------------------------------------------------------


def test_a_rename_alone_changes_no_prediction():
    learner = taught(WORLD, A)
    X, y = WORLD.draw(100, 9, A)
    before = learner.predict_many(X)
    names = tuple(f"g{i}" for i in A)
    report = learner.evolve(FeatureSpace(names, {f"g{i}": (f"f{i}",) for i in A}))
    assert report.change.renamed == {f"g{i}": f"f{i}" for i in A}
    assert report.warm
    assert learner.stage == "steady"
    after = learner.predict_many(X)
    assert after.labels == before.labels
    np.testing.assert_array_equal(after.scores, before.scores)
    assert set(learner.explain().weights) == set(names)
    learner.learn(X, y)


@pytest.mark.parametrize("stage", ["initial", "steady", "transforming", "inheriting", "joint"])
def test_a_new_order_alone_changes_no_prediction(stage):
    learner, columns = taught(WORLD, A, 32 if stage == "initial" else 256, BUSY), list(A)
    if stage == "transforming":
        learner.announce(space(*B))
        learner.learn(*WORLD.draw(64, 3, A))
    if stage in {"inheriting", "joint"}:
        columns = list(B)
        learner.evolve(space(*B))
    if stage == "joint":
        learner.learn(*WORLD.draw(64, 3, B))
    assert learner.stage == ("inheriting" if stage == "joint" else stage)
    plain = EvolvingMetricLearner.restore(learner.snapshot())
    order = np.random.default_rng(0).permutation(8)
    learner.evolve(space(*[columns[i] for i in order]))
    assert learner.stage == plain.stage
    X, y = WORLD.draw(100, 9, columns)
    same_rows(plain, X, learner, X[:, order])
    for name, weight in plain.explain().weights.items():
        assert learner.explain().weights[name] == pytest.approx(weight)
    learner.learn(X[:, order], y)
    plain.learn(X, y)
    unseen, truth = WORLD.draw(300, 10, columns)
    assert abs(accuracy(learner, unseen[:, order], truth) - accuracy(plain, unseen, truth)) < 0.05


def test_a_survivor_may_be_renamed_and_moved_in_the_same_evolution():
    unseen, _ = WORLD.draw(100, 9, (7, 6, 5, 8))
    plain, renamed = taught(WORLD, A), taught(WORLD, A)
    plain.evolve(space(7, 6, 5, 8))
    report = renamed.evolve(FeatureSpace(("f7", "six", "f5", "f8"), {"six": ("f6",)}))
    assert report.change.survived == ("f7", "six", "f5")
    same_rows(plain, unseen, renamed, unseen)


# -- hard cases ----------------------------------------------------------------------------------------------------


def test_without_survivors_the_learner_starts_cold_and_says_so():
    learner = taught(WORLD, range(6))
    report = learner.evolve(space(*range(6, 12)))
    assert not report.warm
    assert learner.stage == "initial"
    assert learner.predict_one(np.zeros(6)).label is None
    assert set(learner.classes) == {0, 1, 2}  # their names are known, nothing else
    assert not learner._state.memory.seen.any()
    assert not learner._state.statistics.count.any()
    learner.learn(*WORLD.draw(256, 5, range(6, 12)))
    assert accuracy(learner, *WORLD.draw(300, 9, range(6, 12))) > 0.75


def test_a_cold_start_is_a_new_learner():
    stale, fresh = taught(WORLD, range(6)), EvolvingMetricLearner(space(*range(6, 12)), SMALL)
    stale.evolve(space(*range(6, 12)))
    X, y = WORLD.draw(256, 5, range(6, 12))
    unseen, truth = WORLD.draw(300, 9, range(6, 12))
    for learner in (stale, fresh):
        learner.learn(X, y)
    assert abs(accuracy(stale, unseen, truth) - accuracy(fresh, unseen, truth)) < 0.05
    assert sum(stale.explain().exemplars.values()) == sum(fresh.explain().exemplars.values())


@pytest.mark.parametrize("survivors", [4, 0])
def test_evolving_before_any_label_is_a_cold_start(survivors):
    learner = EvolvingMetricLearner(space(*A), SMALL)
    report = learner.evolve(space(*range(8 - survivors, 12)))
    assert not report.warm
    assert all(takeover.share == 0.0 for takeover in report.takeovers.values())
    learner.learn(*WORLD.draw(128, 1, range(8 - survivors, 12)))
    assert learner.predict_one(np.zeros(4 + survivors)).label in {0, 1, 2}


def test_evolving_twice_without_labels_in_between_keeps_what_survived_both():
    learner = taught(WORLD, A)
    learner.evolve(space(*range(2, 10)))
    report = learner.evolve(space(*B))
    assert report.warm
    direct = taught(WORLD, A)
    direct.evolve(space(*B))
    unseen, truth = WORLD.draw(300, 9, B)
    assert accuracy(learner, unseen, truth) > accuracy(direct, unseen, truth) - 0.07
    learner.learn(*WORLD.draw(128, 5, B))
    assert accuracy(learner, unseen, truth) > 0.8


def test_survivors_that_were_never_seen_are_no_worse_than_a_cold_start():
    learner, cold = taught(WORLD, range(4)), EvolvingMetricLearner(space(*range(6, 12)), SMALL)
    learner.evolve(space(*range(2, 12)))  # no label comes
    learner.evolve(space(*range(6, 12)))  # all that anyone knew is gone
    unseen, truth = WORLD.draw(300, 9, range(6, 12))
    for seed in range(8):
        for each in (learner, cold):
            each.learn(*WORLD.draw(32, seed, range(6, 12)))
    assert accuracy(learner, unseen, truth) > accuracy(cold, unseen, truth) - 0.05


def test_one_label_after_a_switch_is_no_trouble():
    learner = taught(WORLD, A)
    learner.evolve(space(*B))
    X, y = WORLD.draw(40, 5, B)
    unseen, truth = WORLD.draw(300, 9, B)
    first = accuracy(learner, unseen, truth)
    for i in range(40):
        learner.learn(X[i : i + 1], y[i : i + 1])
        assert accuracy(learner, unseen, truth) > first - 0.15


def test_a_class_may_appear_with_the_new_features():
    learner = EvolvingMetricLearner(space(*A), SMALL)
    X, y = WORLD.draw(384, 1, A)
    known = [i for i, c in enumerate(y) if c != 2]
    learner.learn(X[known], [y[i] for i in known])
    learner.evolve(space(*B))
    learner.learn(*WORLD.draw(96, 5, B))
    unseen, truth = WORLD.draw(300, 9, B)
    mine = [i for i, c in enumerate(truth) if c == 2]
    assert accuracy(learner, unseen[mine], [2] * len(mine)) > 0.7


@pytest.mark.parametrize("holes", ["survivors", "new"])
def test_holes_after_a_switch_are_survived(holes):
    learner = taught(WORLD, A)
    learner.evolve(space(*B))
    X, y = WORLD.draw(128, 5, B)
    X[:, : 4 if holes == "survivors" else 8][::2] = np.nan
    if holes == "new":
        X[:, 4:] = np.nan
    learner.learn(X, y)
    many = learner.predict_many(WORLD.draw(100, 9, B)[0])
    np.testing.assert_allclose(many.scores.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "change",
    [{"transform": False}, {"inherit": False}, {"catch_up": 0}, {"retired_features": 0}, {"rank": 3}, {"batch": 1}],
    ids=str,
)
def test_the_least_settings_and_every_ablation_still_evolve(change):
    learner = taught(WORLD, A, config=replace(SMALL, **change))
    learner.evolve(space(*B))
    learner.learn(*WORLD.draw(64, 5, B))
    learner.evolve(space(*A))
    learner.learn(*WORLD.draw(64, 6, A))
    assert accuracy(learner, *WORLD.draw(300, 9, A)) > 0.6


# -- returning features --------------------------------------------------------------------------------------------


def there_and_back(config=SMALL) -> tuple[EvolvingMetricLearner, tuple[str, ...]]:
    learner = taught(WORLD, A, config=config)
    learner.evolve(space(*B))
    learner.learn(*WORLD.draw(32, 5, B))
    return learner, learner.evolve(space(*A)).returned


def test_features_that_return_find_what_was_known_of_them():
    learner, returned = there_and_back()
    assert returned == ("f0", "f1", "f2", "f3")
    without, nothing = there_and_back(replace(SMALL, retired_features=0))
    assert nothing == ()
    unseen, truth = WORLD.draw(500, 9, A)
    assert accuracy(learner, unseen, truth) > accuracy(without, unseen, truth) + 0.03
    assert accuracy(learner, unseen, truth) > accuracy(taught(WORLD, A), unseen, truth) - 0.05


def test_what_is_kept_of_vanished_features_follows_the_metric_into_its_new_basis():
    learner = taught(WORLD, A, config=replace(SMALL, rank=20))
    before = learner._state.views[-1].L
    learner.evolve(space(*B))
    learner.learn(*WORLD.draw(32, 5, B))
    after = learner._state.views[-1].L
    assert len(after) > len(before)  # the survivors' rows and one for each new feature
    report = learner.evolve(space(*A))
    assert {len(column) for column in learner._state.retired_columns.values()} == {len(after)}
    assert report.returned == ("f0", "f1", "f2", "f3")
    assert accuracy(learner, *WORLD.draw(300, 9, A)) > 0.85


@pytest.mark.parametrize("before", [16, 40, 80])
@pytest.mark.parametrize("between", [8, 16, 40, 120])
def test_features_may_return_after_a_metric_of_few_exemplars_was_laid_anew(before, between):
    world = World(features=66, classes=2, gap=1.0)
    old, new = range(60), range(4, 66)
    learner = EvolvingMetricLearner(space(*old), LearnerConfig(memory_size=30, neighbours=3, warm_up=10))
    for columns, labels in ((old, before), (new, between), (old, 40), (new, 16)):
        learner.evolve(space(*columns))
        for seed in range(0, labels, 8):
            learner.learn(*world.draw(8, seed, columns))
    assert accuracy(learner, *world.draw(200, 99, new)) > 0.9


def test_a_feature_may_return_under_another_name():
    learner = taught(WORLD, A)
    learner.evolve(space(*B))
    learner.learn(*WORLD.draw(32, 5, B))
    names = tuple(f"f{i}" for i in range(4, 12))
    report = learner.evolve(FeatureSpace((*names, "zero"), {"zero": ("f0",)}))
    assert report.returned == ("zero",)


def test_what_returns_is_told_apart_from_what_is_new():
    learner = taught(WORLD, A)
    learner.evolve(space(*B))
    learner.learn(*WORLD.draw(32, 5, B))
    report = learner.evolve(FeatureSpace(("f4", "f5", "f6", "f0", "fresh")))
    assert report.change.augmented == ("f0", "fresh")
    assert report.returned == ("f0",)


def misled(learner: EvolvingMetricLearner) -> None:
    """Turn the metric to what tells nothing."""
    view = learner._state.views[-1]
    view.L = np.random.default_rng(0).normal(size=view.L.shape) * np.where(np.arange(view.L.shape[1]) < 6, 1e-3, 1.0)


def test_a_metric_that_has_lost_its_way_is_not_inherited():
    world = World(features=16, classes=3, gap=1.5, noise=8)
    columns = (*range(6), *range(8, 14))
    config = replace(SMALL, transform=True, catch_up=1, memory_size=512)
    lost, sound = taught(world, columns, 320, config), taught(world, columns, 320, config)
    misled(lost)
    for learner in (lost, sound):
        learner.evolve(space(*columns[1:], 7))
    unseen, truth = world.draw(300, 9, (*columns[1:], 7))
    assert accuracy(lost, unseen, truth) > accuracy(sound, unseen, truth) - 0.05


# -- while labels of the new features come -------------------------------------------------------------------------


def test_a_full_memory_gives_up_exemplars_without_the_new_features_first():
    config = replace(SMALL, memory_size=96)
    learner = taught(WORLD, A, 192, config)
    memory, new = learner._state.memory, slice(4, 8)
    assert len(memory) == memory.capacity
    learner.evolve(space(*B))
    for batch in range(3):
        before = int(memory.observed[:, new].all(axis=1).sum())
        learner.learn(*WORLD.draw(16, 70 + batch, B))
        if learner.stage != "inheriting":
            break
        assert int(memory.observed[:, new].all(axis=1).sum()) == before + 16  # not one of them pushed another out
    assert before >= 16


def test_the_joint_view_is_begun_anew_when_its_samples_double():
    learner = taught(WORLD, A, 480, replace(SMALL, memory_size=1024, longest_rest=100))
    learner.evolve(space(*B))
    begun = []
    for batch in range(16):
        learner._state.resting = 2  # no step of the metric: what changes is the view that is begun anew
        before = learner._state.views[-1].L
        learner.learn(*WORLD.draw(16, 70 + batch, B))
        after = learner._state.views[-1].L
        if before.shape != after.shape or not np.array_equal(before, after):
            begun.append(learner.age)
    assert begun == [16, 64, 128, 256]


def test_beside_the_joint_view_the_survivors_one_goes_on_learning():
    learner = taught(WORLD, A, 480, replace(BUSY, memory_size=1024))
    learner.evolve(space(*B))
    inherited, steps = learner._state.views[0].L, []
    for batch in range(12):
        learner.learn(*WORLD.draw(32, 70 + batch, B))
        assert [view.name for view in learner._state.views] == ["survived", "joint"]
        steps.append(not np.array_equal(inherited, learner._state.views[0].L))
        inherited = learner._state.views[0].L
    assert sum(steps) > 1


# -- without end ---------------------------------------------------------------------------------------------------


def test_twelve_evolutions_in_a_row_stay_bounded_and_accurate():
    world = World(features=16, classes=3, gap=1.5)
    config = replace(SMALL, retired_features=4)
    random = np.random.default_rng(0)
    here = list(range(8))
    learner = taught(world, here, config=config)
    sizes, warm, cold = [], [], []
    for shot in range(12):
        gone = sorted(set(range(16)) - set(here))
        here = sorted([*random.permutation(here)[:5].tolist(), *random.permutation(gone)[:3].tolist()])
        assert learner.evolve(space(*here)).warm
        restarted = EvolvingMetricLearner(space(*here), config)
        unseen, truth = world.draw(200, 900 + shot, here)
        for batch in range(3):
            X, y = world.draw(16, 100 * shot + batch, here)
            for each in (learner, restarted):
                each.learn(X, y)
        warm.append(accuracy(learner, unseen, truth))
        cold.append(accuracy(restarted, unseen, truth))
        sizes.append(len(learner.snapshot()))
        assert len(learner._state.retired_columns) <= 4
        assert sum(learner.explain().exemplars.values()) <= config.memory_size
    assert max(sizes[3:]) < 1.1 * max(sizes[:3])
    assert np.mean(warm) > np.mean(cold) - 0.02
    assert np.mean(warm[6:]) > 0.85


def test_evolutions_without_end_and_without_labels_stay_finite():
    learner = taught(WORLD, A)
    for shot in range(20):
        learner.evolve(space(*(A if shot % 2 else B)))
        X, _ = WORLD.draw(5, shot, learner.space.columns(learner.space.names))
        assert np.isfinite(learner.predict_many(X).scores).all()
    assert learner.explain().updates_refused == 0


# -- explanations --------------------------------------------------------------------------------------------------


def test_the_weights_of_the_features_add_up_to_one_and_favour_those_that_tell():
    world = World(features=8, classes=3, gap=2.0, noise=4)
    learner = taught(world, range(8), 640)
    weights = learner.explain().weights
    assert list(weights) == [f"f{i}" for i in range(8)]
    assert sum(weights.values()) == pytest.approx(1.0)
    assert all(weight >= 0.0 for weight in weights.values())
    assert sum(weights[f"f{i}"] for i in range(4)) > sum(weights[f"f{i}"] for i in range(4, 8))


def test_a_takeover_names_the_survivor_that_says_the_same():
    def sensors(n: int, seed: int) -> tuple[Array, list[int]]:
        X, y = WORLD.draw(n, seed, range(4))
        noise = np.random.default_rng(seed + 1).normal(size=(n, 1))
        return np.column_stack([X, -3.0 * X[:, 2] + 7.0, noise]), y

    learner = EvolvingMetricLearner(FeatureSpace(("a", "b", "twin", "c", "copy", "noise")), SMALL)
    learner.learn(*sensors(400, 1))
    report = learner.evolve(FeatureSpace(("c", "copy", "b")))
    assert set(report.takeovers) == {"a", "twin", "noise"}
    assert report.takeovers["twin"].by == "copy"
    assert report.takeovers["twin"].share > 0.8
    assert report.takeovers["noise"].share < 0.1
    assert all(0.0 <= takeover.share <= 1.0 for takeover in report.takeovers.values())


def test_views_report_their_weight_and_score():
    learner = taught(WIDE, OLD)
    learner.evolve(space(*NEW))
    assert set(learner.explain().views) == {"survived", "linear"}
    learner.learn(*WIDE.draw(64, 5, NEW))
    views = learner.explain().views
    assert set(views) == {"survived", "joint", "linear", "fresh"}
    assert sum(view.weight for view in views.values()) == pytest.approx(1.0)
    for view in views.values():
        assert view.score is not None
        assert 0.0 <= view.score <= 1.0


def test_an_explanation_before_the_first_label_is_empty():
    explanation = EvolvingMetricLearner(space(*A), SMALL).explain()
    assert explanation.stage == "initial"
    assert explanation.revision == 0
    assert not explanation.weights
    assert not explanation.views
    assert not explanation.exemplars
    assert explanation.evolution is None


def test_the_score_of_a_view_is_its_accuracy_before_learning():
    learner = taught(WORLD, A)
    truth = accuracy(learner, *WORLD.draw(500, 9, A))
    score = learner.explain().views["all"].score
    assert score is not None
    assert abs(score - truth) < 0.1


def test_the_metric_goes_on_learning_towards_a_space_in_which_nothing_survives():
    world = np.random.default_rng(3)
    y = world.integers(2, size=640)
    X = world.normal(size=(640, 12))
    X[:, 0] += 1.5 * y
    learner = EvolvingMetricLearner(FeatureSpace(tuple(f"f{i}" for i in range(12))))
    learner.learn(X[:256], y[:256].tolist())
    learner.announce(FeatureSpace(("other", "things")))
    before = learner.explain().steps_taken
    learner.learn(X[256:], y[256:].tolist())
    assert learner.explain().steps_taken > before


def test_a_metric_begun_on_a_handful_of_samples_gets_all_its_rows_in_the_end():
    world = np.random.default_rng(4)
    names = tuple(f"f{i}" for i in range(40))
    learner = EvolvingMetricLearner(FeatureSpace(names[:39]), LearnerConfig(rank=16, memory_size=128))
    X, y = world.normal(size=(600, 40)), world.integers(2, size=600)
    learner.learn(X[:6, :39], y[:6].tolist())
    learner.evolve(FeatureSpace(names))
    learner.learn(X[6:], y[6:].tolist())
    assert learner.stage == "steady"
    assert len(learner._state.views[-1].L) == 16
