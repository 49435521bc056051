"""The mixture of views: its bound, how experts come and go, and answers that are never far behind the best view."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import EvolvingMetricLearner, LearnerConfig
from eml.core.arrays import Array, Index
from eml.core.experts import score_views
from eml.core.mixture import SHARE, SMOOTHING, ExpertScores, ExpertSpec, Mixture
from eml.core.views import softmax
from tests.unit.core.helpers import SMALL, World, accuracy, space, taught


def mixture_of(*names: str, **specs: ExpertSpec) -> Mixture:
    mixture = Mixture()
    mixture.set_experts({name: specs.get(name, ExpertSpec()) for name in names})
    return mixture


def opinions_of(rng: np.random.Generator, y: Index, skill: float) -> Array:
    """Scores (n, 3) of a view that is right the more often the larger its skill."""
    scores = rng.normal(size=(len(y), 3))
    scores[np.arange(len(y)), y] += skill
    return np.asarray(scores - scores.mean(axis=1, keepdims=True))


def loss(p: Array, y: Index) -> Array:
    return np.asarray(-np.log(p[np.arange(len(y)), y]))


def alone(mixture: Mixture, name: str, scores: Array) -> Array:
    """What an expert says, as the mixture hears it."""
    p = softmax(mixture.experts[name].calibration.logits([scores]))
    return np.asarray((1.0 - SMOOTHING) * p + SMOOTHING / p.shape[1])


@pytest.mark.slow
@given(seed=st.integers(0, 2**16), change=st.integers(20, 180), skills=st.tuples(*[st.floats(0.0, 3.0)] * 4))
def test_the_loss_stays_within_the_bound_of_any_sequence_of_experts(seed, change, skills):
    rng = np.random.default_rng(seed)
    mixture = mixture_of("metric", "linear", "fresh", fresh=ExpertSpec(prior=0.05))
    own, best = 0.0, dict.fromkeys([("metric", "linear"), ("linear", "metric"), ("fresh", "linear")], 0.0)
    total = 200
    for t in range(total):
        y = rng.integers(0, 3, 1)
        late = t >= change
        said = {
            "metric": opinions_of(rng, y, skills[0] if late else skills[1]),
            "linear": opinions_of(rng, y, skills[1] if late else skills[2]),
            "fresh": opinions_of(rng, y, skills[3]),
        }
        own += float(loss(mixture.probabilities(said), y)[0])
        for pair in best:
            name = pair[late]
            best[pair] += float(loss(alone(mixture, name, said[name]), y)[0])
        mixture.update(said, y)
    prior = {"metric": 1.0, "linear": 1.0, "fresh": 0.05}
    everything = 3.05  # with the pooled ones
    for (first, then), lost in best.items():
        start = np.log(everything / prior[first]) + np.log(everything / prior[then])
        assert own <= lost + start + np.log(1 / SHARE) + (total - 2) * np.log(1 / (1 - SHARE)) + 1e-6


def test_shares_add_up_to_one_whoever_comes_and_goes():
    rng = np.random.default_rng(3)
    mixture = Mixture()
    for names in (["metric"], ["metric", "linear"], ["metric", "survived", "linear"], ["metric", "linear", "fresh"]):
        mixture.set_experts({name: ExpertSpec(pooled=name != "survived") for name in names})
        assert sum(mixture.view_shares().values()) == pytest.approx(1.0)
        y = rng.integers(0, 3, 9)
        mixture.update({name: opinions_of(rng, y, 1.0) for name in names}, y)
        assert sum(mixture.view_shares().values()) == pytest.approx(1.0)
        assert set(mixture.view_shares()) == set(names)


def test_who_stays_keeps_what_was_learnt_and_who_comes_begins_with_its_prior():
    rng = np.random.default_rng(1)
    mixture = mixture_of("metric", "linear")
    y = rng.integers(0, 3, 200)
    mixture.update({"metric": opinions_of(rng, y, 0.0), "linear": opinions_of(rng, y, 4.0)}, y)
    before = mixture.experts["linear"].share / mixture.experts["metric"].share
    assert before > 10
    mixture.set_experts({"metric": ExpertSpec(), "linear": ExpertSpec(), "fresh": ExpertSpec(prior=0.05)})
    assert mixture.experts["linear"].share / mixture.experts["metric"].share == pytest.approx(before)
    assert mixture.experts["fresh"].share == pytest.approx(0.05 / 3.05)


def test_one_view_alone_answers_as_it_is():
    scores = np.array([[1.0, -1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(mixture_of("metric").probabilities({"metric": scores}), softmax(scores))


def test_a_change_of_the_best_view_is_followed_within_a_few_labels():
    rng = np.random.default_rng(2)
    mixture = mixture_of("metric", "linear")
    for t in range(400):
        y = rng.integers(0, 3, 1)
        good, bad = opinions_of(rng, y, 4.0), opinions_of(rng, y, 0.0)
        said = {"metric": good, "linear": bad} if t < 360 else {"metric": bad, "linear": good}
        mixture.update(said, y)
    assert mixture.experts["linear"].share > mixture.experts["metric"].share


# -- streams where one view is right, or becomes right -------------------------------------------------------------

FEATURES = 12


def plane(X: Array) -> Index:
    """Two classes on two sides of a plane through all features."""
    return np.asarray(X.sum(axis=1) > 0.0, dtype=np.intp)


def shells(X: Array) -> Index:
    """Two classes, one around the other: no plane tells them apart."""
    return np.asarray((X[:, :5] ** 2).sum(axis=1) > 4.4, dtype=np.intp)


Rule = Callable[[Array], Index]
STREAMS: dict[str, tuple[Rule, Rule]] = {
    "a plane": (plane, plane),
    "neighbours": (shells, shells),
    "a plane, then neighbours": (plane, shells),
    "neighbours, then a plane": (shells, plane),
}


def lived(config: LearnerConfig, rules: tuple[Rule, Rule], seed: int, records: int = 400) -> dict[str, Array]:
    """Right answers in percent, of the learner and of each view alone, before and after a switch.

    The switch takes three features and brings three. A view that cannot answer yet is wrong.
    """
    learner = EvolvingMetricLearner(space(*range(FEATURES)), config, seed)
    right = {name: np.zeros((2, records)) for name in ("answer", "metric", "linear", "fresh")}
    for stage, rule in enumerate(rules):
        if stage:
            learner.evolve(space(*range(3, FEATURES + 3)))
        X = np.random.default_rng((seed, stage)).normal(size=(records, FEATURES))
        y = rule(X)
        for start in range(0, records, 16):
            piece = slice(start, start + 16)
            if learner.classes:
                right["answer"][stage, piece] = np.array(learner.predict_many(X[piece]).labels) == y[piece]
                for name, scores in scored(learner, X[piece]).items():
                    if name in right:
                        said = np.array(learner.classes)[scores.argmax(axis=1)]
                        right[name][stage, piece] = said == y[piece]
            learner.learn(X[piece], y[piece].tolist())
    return {name: 100.0 * answers.mean(axis=1) for name, answers in right.items()}


def scored(learner: EvolvingMetricLearner, X: Array) -> ExpertScores:
    """What each view says on its own."""
    state = learner._state
    cleaned, present, _ = state.statistics.clean(state.encoder.encode(X))
    return score_views(state, cleaned, present, learner.config.neighbours).by_expert


@pytest.mark.slow
@pytest.mark.parametrize("rules", STREAMS.values(), ids=STREAMS)
def test_the_answer_is_never_far_behind_the_better_view_alone(rules):
    """Half a point and a standard error over all records of a stage."""
    runs = [lived(replace(SMALL, memory_size=600, rank=12), rules, seed) for seed in range(24)]
    for view in ("metric", "linear", "fresh"):
        gap = np.array([run[view] - run["answer"] for run in runs])  # (seeds, stages)
        allowed = 0.5 + gap.std(axis=0, ddof=1) / np.sqrt(len(gap))
        assert (gap.mean(axis=0) <= allowed).all(), view


def test_a_plane_is_learnt_from_fewer_labels_with_the_linear_view():
    config = replace(SMALL, memory_size=600, rank=12)
    gains = [run["answer"] - run["metric"] for run in (lived(config, (plane, plane), seed, 240) for seed in range(4))]
    assert np.mean(gains) > 3.0


# -- a fresh start -------------------------------------------------------------------------------------------------

OLD, NEW = (0, 1, 2, 3), (3, 4, 5, 6)


def test_a_fresh_start_is_told_apart_and_ends_with_the_memory_of_the_old_space():
    world = World(features=8, classes=3, gap=1.5)
    learner = taught(world, OLD)
    X, _ = world.draw(20, 5, OLD)
    assert learner.predict_many(X).fresh is None
    learner.evolve(space(*NEW))
    X, y = world.draw(300, 6, NEW)
    assert learner.predict_many(X).fresh is None  # it has seen nothing
    learner.learn(X[:32], y[:32])
    fresh = learner.predict_many(X[32:]).fresh
    assert fresh is not None
    assert np.mean([a == b for a, b in zip(fresh, y[32:], strict=True)]) > 0.6
    for seed in range(8):
        learner.learn(*world.draw(32, seed, NEW))
    assert learner.predict_many(X).fresh is None
    assert "fresh" not in learner.explain().views


def test_a_fresh_start_knows_nothing_of_what_came_before():
    """The same labels after the switch give the same fresh start, whatever was learnt before it."""
    said = []
    for seed in (1, 2):
        learner = taught(World(features=8, classes=3, gap=1.5, seed=seed), OLD, n=64)
        learner.evolve(space(*NEW))
        X, y = World(features=8, classes=3, gap=2.5).draw(140, 6, NEW)
        learner.learn(X[:40], y[:40])
        fresh = learner.predict_many(X[40:]).fresh
        assert fresh is not None
        said.append(np.mean([a == b for a, b in zip(fresh, y[40:], strict=True)]))
    assert min(said) > 0.85


def test_where_what_was_carried_over_is_in_the_way_the_fresh_start_takes_over():
    """After the switch the classes of the survivors are exchanged: all that was carried over is wrong."""
    world = World(features=8, classes=3, gap=2.0)
    config = replace(SMALL, memory_size=240)
    right = {}
    for name, each in {"with": config, "without": replace(config, fresh=False)}.items():
        learner = taught(world, (0, 1, 2, 3), 240, each)
        learner.evolve(space(0, 1, 2, 3, 4))
        counts = []
        for seed in range(12):
            X, y = world.draw(16, seed, (0, 1, 2, 3, 4))
            y = [(label + 1) % 3 for label in y]
            counts.append(accuracy(learner, X, y))
            learner.learn(X, y)
        right[name] = float(np.mean(counts))
    assert right["with"] > right["without"] + 0.05


def test_a_class_that_comes_when_drift_has_emptied_the_memory_of_a_fresh_start_is_met():
    world = World(features=8, classes=3, gap=1.5)
    learner = taught(world, OLD)
    learner.evolve(space(*NEW))
    learner.learn(*world.draw(16, 6, NEW))
    assert learner.predict_many(world.draw(3, 7, NEW)[0]).fresh is not None
    learner.react("memory")
    X, _ = world.draw(3, 8, NEW)
    learner.learn(X, ["new", "new", "new"])
    assert "new" in learner.predict_one(X[0]).scores
