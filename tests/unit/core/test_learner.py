"""The learner between two evolutions: what it takes, what it says, and that it is the same each time."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eml.core import EvolvingMetricLearner, FeatureError, FeatureSpace, Label, LearnerConfig
from eml.core.metric import SafeStep
from tests.unit.core.helpers import METRIC_ALONE, SMALL, Values, World, accuracy, space, taught

WORLD = World(features=6, classes=3, gap=2.0)
COLUMNS = range(6)


def learner_of(columns: range = COLUMNS, seed: int = 0, config: LearnerConfig = SMALL) -> EvolvingMetricLearner:
    return EvolvingMetricLearner(space(*columns), config, seed)


# -- predictions ---------------------------------------------------------------------------------------------------


def test_before_the_first_label_there_is_no_prediction_but_a_reason():
    learner = learner_of()
    one = learner.predict_one(np.zeros(6))
    assert one.label is None
    assert one.reason is not None
    assert "no labelled sample" in one.reason
    assert one.scores == {}
    many = learner.predict_many(np.zeros((3, 6)))
    assert many.labels == [None] * 3
    assert len(many) == 3
    assert many.scores.shape == (3, 0)
    assert np.isinf(many.novelty).all()


def test_one_labelled_sample_is_enough_to_predict_its_class():
    learner = learner_of()
    learner.learn([[1.0] * 6], ["only"])
    one = learner.predict_one(np.zeros(6))
    assert (one.label, one.scores, one.margin, one.reason) == ("only", {"only": 1.0}, 1.0, None)


def test_a_learner_learns():
    learner = taught(WORLD, COLUMNS)
    assert accuracy(learner, *WORLD.draw(300, 9)) > 0.85
    assert learner.stage == "steady"


def test_learning_the_metric_is_worth_it_among_loud_noise():
    world = World(features=24, classes=3, gap=1.0, noise=16)
    mixed, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(24, 24)))  # no feature is noise alone
    loud = np.repeat([1.0, 2.0], [8, 16])[:, None] * mixed
    X, y = world.draw(960, 3)
    unseen, truth = world.draw(500, 4)
    config = replace(METRIC_ALONE, rank=24, memory_size=200)
    learnt, still = (
        EvolvingMetricLearner(space(*range(24)), each) for each in (config, replace(config, warm_up=10_000))
    )
    for learner in (learnt, still):
        learner.learn(X @ loud, y)
    assert learnt.explain().steps_taken > 0
    assert still.explain().steps_taken == 0
    assert accuracy(learnt, unseen @ loud, truth) > accuracy(still, unseen @ loud, truth) + 0.02


def test_few_labels_are_enough_to_find_the_features_that_tell():
    world = World(features=24, classes=3, gap=1.0, noise=16)
    learner = EvolvingMetricLearner(space(*range(24)), replace(SMALL, rank=24))
    X, y = world.draw(60, 3)
    learner.learn(X / X.std(axis=0), y)  # all are equally loud: a third of the weight by that alone
    assert learner.stage == "initial"  # no step has been taken yet
    weights = learner.explain().weights
    telling = sum(weights[f"f{column}"] for column in range(8))
    assert telling > 0.55


def test_scores_are_probabilities_of_the_classes_and_the_margin_is_between_the_best_two():
    learner = taught(WORLD, COLUMNS)
    X, _ = WORLD.draw(50, 9)
    many = learner.predict_many(X)
    assert many.classes == learner.classes
    np.testing.assert_allclose(many.scores.sum(axis=1), 1.0)
    assert [many.classes[best] for best in many.scores.argmax(axis=1)] == many.labels
    ranked = np.sort(many.scores, axis=1)
    np.testing.assert_allclose(many.margin, ranked[:, -1] - ranked[:, -2])


def test_one_prediction_is_a_row_of_many():
    learner = taught(WORLD, COLUMNS)
    X, _ = WORLD.draw(20, 9)
    many = learner.predict_many(X)
    for i, x in enumerate(X):
        one = learner.predict_one(x)
        assert one.label == many.labels[i]
        assert list(one.scores.values()) == many.scores[i].tolist()
        assert (one.margin, one.novelty) == (many.margin[i], many.novelty[i])


def test_what_is_unlike_all_known_is_novel():
    learner = taught(WORLD, COLUMNS)
    X, _ = WORLD.draw(200, 9)
    assert 0.3 < np.median(learner.predict_many(X).novelty) < 3.0
    assert learner.predict_many(X + 50.0).novelty.min() > 20.0


def test_predictions_are_sure_where_they_are_right():
    world = World(features=6, classes=3, gap=1.2)
    learner = taught(world, COLUMNS, 640)
    X, y = world.draw(1000, 9)
    many = learner.predict_many(X)
    right = np.array(many.labels) == np.array(y)
    sure = many.scores.max(axis=1)
    assert sure[right].mean() > sure[~right].mean() + 0.05
    assert abs(sure.mean() - right.mean()) < 0.1  # calibrated: as often right as it says


def test_predicting_changes_nothing():
    learner = taught(WORLD, COLUMNS)
    before = learner.snapshot()
    X, _ = WORLD.draw(40, 9)
    X[3] = np.nan
    X[5, 2] = 1e30
    original = X.copy()
    learner.predict_many(X)
    learner.predict_one(X[0])
    learner.explain()
    assert learner.snapshot() == before
    np.testing.assert_array_equal(X, original)


def test_no_samples_are_no_predictions_and_nothing_learnt():
    learner = taught(WORLD, COLUMNS)
    before = learner.snapshot()
    learner.learn(np.zeros((0, 6)), [])
    assert learner.snapshot() == before
    assert learner.predict_many(np.zeros((0, 6))).labels == []


def test_no_batch_makes_the_learner_blind():
    for seed in range(6):
        world = World(features=1, classes=2, gap=2.0, seed=seed)
        unseen, _ = world.draw(300, 9)
        learner = EvolvingMetricLearner(space(0))
        for batch in range(12):
            learner.learn(*world.draw(8, 100 + batch))
            assert len(set(learner.predict_many(unseen).labels)) == 2


# -- labels and classes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [("a", "b", "c"), (7, -1, 10**18), (True, False, "maybe")], ids=str)
def test_labels_of_every_kind_come_back_as_they_went_in(labels):
    X, y = WORLD.draw(256, 1)
    learner = learner_of()
    learner.learn(X, [labels[c] for c in y])
    for again in (learner, EvolvingMetricLearner.restore(learner.snapshot())):
        got = again.predict_many(X).labels
        assert {(type(label), label) for label in got} == {(type(label), label) for label in labels}


def test_labels_from_a_numpy_array_can_be_kept():
    X, y = WORLD.draw(32, 1)
    learner = learner_of()
    learner.learn(X, np.array(y))  # type: ignore[arg-type]  # what most callers have at hand
    assert EvolvingMetricLearner.restore(learner.snapshot()).predict_many(X).labels


def test_the_names_of_classes_do_not_matter():
    X, y = WORLD.draw(320, 1)
    unseen, _ = WORLD.draw(100, 2)
    names: list[list[Label]] = [["a", "b", "c"], ["c", "a", "b"], [2, 0, 1]]
    answers = []
    for mine in names:
        learner = learner_of()
        learner.learn(X, [mine[c] for c in y])
        answers.append([mine.index(label) for label in learner.predict_many(unseen).labels if label is not None])
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]) == 100


def test_a_class_that_appears_midstream_is_learnt():
    X, y = WORLD.draw(800, 1)
    early = np.array(y[:400]) != 2
    learner = learner_of()
    learner.learn(X[:400][early], [c for c in y[:400] if c != 2])
    assert learner.classes == tuple(dict.fromkeys(c for c in y[:400] if c != 2))
    learner.learn(X[400:500], y[400:500])
    assert set(learner.classes) == {0, 1, 2}
    unseen, truth = WORLD.draw(300, 9)
    of_new = np.array(truth) == 2
    assert accuracy(learner, unseen[of_new], [2] * int(of_new.sum())) > 0.7


@pytest.mark.parametrize("together", [True, False], ids=["one batch each", "one sample each"])
def test_batches_of_one_class_are_learnt_like_any_other(together):
    X, y = WORLD.draw(192, 1)
    learner = learner_of()
    order = np.argsort(y, kind="stable")
    for start in range(0, 192, 16):
        rows = order[start : start + 16] if together else np.arange(start, start + 16)
        for piece in [rows] if together else np.split(rows, 16):
            learner.learn(X[piece], [y[i] for i in piece])
    assert accuracy(learner, *WORLD.draw(300, 9)) > 0.8


def test_one_class_alone_is_no_trouble_however_long():
    learner = learner_of()
    for seed in range(10):
        X, _ = WORLD.draw(64, seed)
        learner.learn(X, ["only"] * 64)
    assert set(learner.predict_many(X).labels) == {"only"}


# -- dirty data ----------------------------------------------------------------------------------------------------


def test_rows_and_columns_of_nothing_are_survived():
    X, y = WORLD.draw(640, 1)
    X[:, 2] = np.nan
    X[::9] = np.nan
    X[:, 4] = 5.0
    learner = learner_of()
    learner.learn(X, y)
    unseen, truth = WORLD.draw(300, 9)
    unseen[:, 4] = 5.0
    assert accuracy(learner, unseen, truth) > 0.75
    nothing = learner.predict_one(np.full(6, np.nan))
    assert sum(nothing.scores.values()) == pytest.approx(1.0)  # about what is known of the classes' frequency
    assert max(nothing.scores.values()) < 0.6
    assert learner.explain().values_missing == int(np.isnan(X).sum())


def test_a_stream_that_begins_with_nothing_begins_all_the_same():
    learner = learner_of()
    learner.learn(np.full((5, 6), np.nan), [0, 1, 2, 0, 1])
    assert learner.predict_one(np.zeros(6)).label in {0, 1, 2}
    learner.learn(*WORLD.draw(320, 1))
    assert accuracy(learner, *WORLD.draw(300, 9)) > 0.8


def test_constant_features_alone_predict_without_a_warning():
    learner = learner_of()
    learner.learn(np.ones((200, 6)), [0, 1] * 100)
    np.testing.assert_allclose(learner.predict_many(np.ones((2, 6))).scores, 0.5)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_missing_values_cost_little(share):
    random = np.random.default_rng(0)
    X, y = WORLD.draw(640, 1)
    unseen, truth = WORLD.draw(300, 9)
    whole = learner_of()
    whole.learn(X, y)
    best = accuracy(whole, unseen, truth)
    X[random.random(X.shape) < share] = np.nan
    unseen[random.random(unseen.shape) < share] = np.nan
    holed = learner_of()
    holed.learn(X, y)
    assert accuracy(holed, unseen, truth) > best - 0.5 * share - 0.05


@pytest.mark.parametrize("glitch", [1e6, 1e30, np.inf, -1e300])
def test_a_glitch_is_cut_or_missing_and_costs_nothing(glitch):
    X, y = WORLD.draw(640, 1)
    linear = replace(SMALL, arcsinh=False)  # what is arcsinh-scaled is hardly ever cut
    clean, hit = learner_of(config=linear), learner_of(config=linear)
    clean.learn(X, y)
    X[300:303] = glitch
    hit.learn(X, y)
    explanation = hit.explain()
    assert explanation.values_cut + explanation.values_missing == 18
    unseen, truth = WORLD.draw(300, 9)
    assert accuracy(hit, unseen, truth) > accuracy(clean, unseen, truth) - 0.03


@pytest.mark.parametrize("glitch", [1e12, 1e30])
def test_a_glitch_in_the_first_batch_does_not_blind_the_learner_for_good(glitch):
    X, y = WORLD.draw(640, 1)
    X[3] = glitch
    learner = learner_of()
    learner.learn(X, y)
    assert accuracy(learner, *WORLD.draw(300, 9)) > 0.8


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_a_feature_a_million_times_larger_or_smaller_is_no_trouble(factor):
    X, y = WORLD.draw(640, 1)
    unseen, truth = WORLD.draw(300, 9)
    plain = learner_of()
    plain.learn(X, y)
    unit = np.array([1.0, 1.0, factor, 1.0, 1.0, 1.0])
    learner = learner_of()
    learner.learn(X * unit, y)
    assert accuracy(learner, unseen * unit, truth) > accuracy(plain, unseen, truth) - 0.05


@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12])
def test_counters_and_clock_times_keep_their_small_differences(offset):
    X, y = WORLD.draw(640, 1)
    learner = learner_of()
    learner.learn(X + offset, y)
    unseen, truth = WORLD.draw(300, 9)
    assert accuracy(learner, unseen + offset, truth) > 0.85


# -- invariances ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-20, 1e-9, 1e-3, 1e3, 1e9, 1e12])
def test_the_scale_of_all_features_does_not_matter(scale):
    X, y = WORLD.draw(640, 1)
    unseen, _ = WORLD.draw(500, 9)
    plain, scaled = learner_of(), learner_of()
    plain.learn(X, y)
    scaled.learn(scale * X, y)
    same = np.array(plain.predict_many(unseen).labels) == np.array(scaled.predict_many(scale * unseen).labels)
    assert same.mean() >= 0.99  # rounding may choose another step now and then


def test_a_power_of_two_as_scale_changes_not_one_bit():
    X, y = WORLD.draw(640, 1)
    unseen, _ = WORLD.draw(200, 9)
    plain, scaled = learner_of(), learner_of()
    plain.learn(X, y)
    scaled.learn(1024.0 * X, y)
    np.testing.assert_allclose(
        scaled.predict_many(1024.0 * unseen).scores, plain.predict_many(unseen).scores, rtol=1e-9
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_features_does_not_matter(seed):
    order = np.random.default_rng(seed).permutation(6)
    X, y = WORLD.draw(640, 1)
    unseen, _ = WORLD.draw(500, 9)
    plain, shuffled = learner_of(), EvolvingMetricLearner(space(*order.tolist()), SMALL)
    plain.learn(X, y)
    shuffled.learn(X[:, order], y)
    same = np.array(plain.predict_many(unseen).labels) == np.array(shuffled.predict_many(unseen[:, order]).labels)
    assert same.mean() >= 0.99  # sums in another order round otherwise


# -- repeatable and bounded ----------------------------------------------------------------------------------------


def test_the_same_seed_is_the_same_learner_and_another_is_not():
    X, y = WORLD.draw(400, 1)
    learners = [learner_of(seed=seed) for seed in (3, 3, 4)]
    for learner in learners:
        learner.learn(X, y)
    same, again, other = (learner.snapshot() for learner in learners)
    assert same == again
    assert same != other


def test_a_long_batch_is_learnt_in_pieces():
    X, y = WORLD.draw(320, 1)
    at_once, piecewise = learner_of(), learner_of()
    at_once.learn(X, y)
    for start in range(0, 320, SMALL.batch):
        piecewise.learn(X[start : start + SMALL.batch], y[start : start + SMALL.batch])
    assert at_once.snapshot() == piecewise.snapshot()
    assert at_once.explain().revision == 10


def test_memory_and_snapshot_stay_bounded_over_a_long_stream():
    learner = learner_of()
    sizes = []
    for seed in range(40):
        learner.learn(*WORLD.draw(128, seed))
        sizes.append(len(learner.snapshot()))
        assert sum(learner.explain().exemplars.values()) <= SMALL.memory_size
    assert max(sizes[2:]) - min(sizes[2:]) < 300  # digits of counters
    assert accuracy(learner, *WORLD.draw(300, 999)) > 0.85


def test_the_memory_is_shared_evenly_by_the_classes_of_an_uneven_stream():
    X, y = WORLD.draw(3000, 1)
    kept = (np.array(y) == 0) | (np.random.default_rng(0).random(3000) < 0.05)
    learner = learner_of()
    learner.learn(X[kept], [c for c, k in zip(y, kept, strict=True) if k])
    assert learner.explain().exemplars == {0: 40, 1: 40, 2: 40}


def test_the_learner_follows_classes_that_move():
    learner = learner_of()
    for seed in range(12):
        learner.learn(*WORLD.draw(64, seed))
    moved = World(features=6, classes=3, gap=1.5, seed=77)
    unseen, truth = moved.draw(300, 999)
    before = accuracy(learner, unseen, truth)
    for seed in range(20):
        learner.learn(*moved.draw(64, 100 + seed))
    assert accuracy(learner, unseen, truth) > max(0.8, before + 0.2)


@pytest.mark.parametrize(
    "change",
    [
        {"replay": 0, "pool": 0},
        {"warm_up": 0},
        {"rank": 1},
        {"batch": 1},
        {"signature": 1},
        {"neighbours": 1},
        {"memory_size": 10},
        {"wasserstein": False},
        {"low_rank": True},
    ],
    ids=str,
)
def test_the_least_settings_and_every_ablation_still_learn(change):
    learner = EvolvingMetricLearner(space(*COLUMNS), replace(SMALL, **change))
    learner.learn(*WORLD.draw(256, 1))
    assert accuracy(learner, *WORLD.draw(300, 9)) > 0.6


def test_no_sample_meets_its_own_copy_in_a_step(monkeypatch):
    learner = taught(WORLD, COLUMNS, config=replace(SMALL, longest_rest=0))
    steps: list[Values] = []
    monkeypatch.setattr("eml.core.transforming.step", lambda _state, X, *_rest, **_options: steps.append(X))
    learner.learn(*WORLD.draw(96, 50))
    assert len(steps) == 3
    for X in steps:
        assert len(np.unique(X.astype(np.float32), axis=0)) == len(X)  # a held-out sample would find itself


# -- refusal -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0], ids=["nan", "inf", "zero"])
@pytest.mark.parametrize("announced", [False, True], ids=["steady", "transforming"])
def test_a_refused_update_keeps_the_last_good_metric_and_is_counted(monkeypatch, bad, announced):
    world = World(features=6, classes=3, gap=1.2)
    learner = taught(world, COLUMNS, config=replace(SMALL, longest_rest=0))
    if announced:
        learner.announce(space(2, 3, 4, 5))
    good = learner._state.views[-1].L.copy()
    refused = learner.explain().updates_refused
    assert refused == 0
    monkeypatch.setattr(SafeStep, "__call__", lambda step, _: np.full_like(step.L, bad))
    with np.errstate(invalid="ignore"):  # what follows an infinite metric is no number
        learner.learn(*world.draw(32, 50))
    np.testing.assert_array_equal(learner._state.views[-1].L, good)
    assert learner.explain().updates_refused >= len(SMALL.steps)
    X, y = world.draw(300, 9)
    assert np.isfinite(learner.predict_many(X).scores).all()
    monkeypatch.undo()
    for seed in range(60, 70):
        learner.learn(*world.draw(32, seed))
    assert accuracy(learner, X, y) > 0.6


@pytest.mark.parametrize(
    ("X", "shape"), [(np.zeros((2, 5)), "(2, 5)"), (np.zeros((2, 7)), "(2, 7)"), (np.zeros(6), "(6,)")], ids=str
)
def test_samples_of_another_width_are_refused_with_the_names_expected(X, shape):
    learner = taught(WORLD, COLUMNS)
    before = learner.snapshot()
    message = f"6 columns (f0, f1, f2, f3, f4, ...), not of shape {shape}"
    for use in (learner.predict_many, lambda rows: learner.learn(rows, [0] * len(rows))):
        with pytest.raises(FeatureError) as caught:
            use(X)
        assert message in str(caught.value)
    assert learner.snapshot() == before


def test_labels_that_do_not_match_the_samples_are_refused_before_anything_is_learnt():
    learner = taught(WORLD, COLUMNS)
    before = learner.snapshot()
    with pytest.raises(FeatureError, match="3 samples came with 2 labels"):
        learner.learn(np.zeros((3, 6)), ["new", "newer"])
    assert learner.snapshot() == before


def test_a_sample_that_is_no_vector_is_refused():
    with pytest.raises(FeatureError):
        taught(WORLD, COLUMNS).predict_one(np.zeros((2, 6)))


def test_a_number_in_place_of_a_sample_is_refused():
    with pytest.raises(FeatureError):
        taught(WORLD, COLUMNS).predict_one(1.0)


def test_a_space_without_features_guesses():
    learner = EvolvingMetricLearner(FeatureSpace(()), SMALL)
    learner.learn(np.zeros((128, 0)), [0, 1] * 64)
    assert learner.predict_one(np.zeros(0)).label in {0, 1}


CELLS = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([0.0, 1.0, -1.0, 1e-300, 5e-324]))


@settings(max_examples=30)
@given(
    rows=st.lists(st.tuples(st.lists(CELLS, min_size=3, max_size=3), st.integers(0, 2)), min_size=1, max_size=40),
    probe=st.lists(CELLS, min_size=3, max_size=3),
)
def test_no_floats_whatever_break_the_learner(rows, probe):
    learner = EvolvingMetricLearner(space(0, 1, 2), replace(SMALL, warm_up=8, batch=8))
    with np.errstate(over="ignore", invalid="ignore"):  # see the next test
        learner.learn([values for values, _ in rows], [label for _, label in rows])
        one = learner.predict_one(probe)
        restored = EvolvingMetricLearner.restore(learner.snapshot())
    assert one.label in learner.classes
    np.testing.assert_allclose(sum(one.scores.values()), 1.0)
    assert restored.snapshot() == learner.snapshot()


def test_an_absurd_sample_early_on_makes_no_noise():
    learner = learner_of(range(3))
    learner.learn([[0.0, 0.0, -1.0], [0.0, 1e12, 0.0]], [0, 1])
    assert np.isfinite(learner.predict_one([0.0, 0.0, 1e14]).margin)
