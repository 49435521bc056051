"""Peers in the stream protocol: each in its own process, with no label before its prediction, across a switch."""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from river import linear_model, optim, preprocessing

from eml.core import FeatureSpace
from eml.evaluate.catalogue import PEERS
from eml.evaluate.datasets import Dataset
from eml.evaluate.prequential import peers
from eml.evaluate.prequential.course import Course, Plan, Stage, deal
from eml.evaluate.prequential.measures import measure
from eml.evaluate.prequential.peer import factory
from eml.evaluate.prequential.play import NO_ANSWER, play
from eml.evaluate.prequential.river_models import RiverMethod

RESTARTS = "river-lr-restart"
LATE = "openmoa-ovfm"  # learns in batches of 50, and makes its weights for new features there


def course(switches: int = 1, labelled: float = 1.0, each: int = 60, scheme: str = "rotating") -> Course:
    random = np.random.default_rng(1)
    samples = np.repeat(3.0 * random.normal(size=(3, 8)), each, axis=0) + random.normal(size=(3 * each, 8))
    dataset = Dataset("made", samples, np.repeat([0, 1, 2], each), (2, 4, 2), None, ())
    return deal(dataset, Plan(switches, None, labelled, scheme=scheme), 0)


def answers(name: str, dealt: Course, seed: int = 0) -> list[list[int]]:
    return [part.tolist() for part in play(dealt, factory(name)(dealt.stages[0].space, seed, 64))]


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("switches", [1, 4])
def test_a_peer_tells_classes_apart_before_and_after_a_switch(name, switches):
    dealt = course(switches, each=200 if name == LATE else 60)
    given = play(dealt, factory(name)(dealt.stages[0].space, 0, 64))
    figures = measure(dealt, given, 0.0)
    assert min(figures.before, figures.after) > 60.0  # chance is 33
    silent = sum(int((part == NO_ANSWER).sum()) for part in given)
    assert silent <= (switches + 1 if name == RESTARTS else 1)  # only a record that comes before any label


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_takes_missing_values(name):
    dealt = course(each=200 if name == LATE else 60)
    random = np.random.default_rng(5)
    stages = [replace(stage, X=np.where(random.random(stage.X.shape) < 0.1, np.nan, stage.X)) for stage in dealt.stages]
    holed = Course(tuple(stages))
    figures = measure(holed, play(holed, factory(name)(stages[0].space, 0, 64)), 0.0)
    assert min(figures.before, figures.after) > 50.0  # chance is 33


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("scheme", ["sudden", "obsolete", "reappearing"])
def test_a_peer_gets_through_every_scheme(name, scheme):
    dealt = course(3, each=200 if name == LATE else 60, scheme=scheme)
    figures = measure(dealt, play(dealt, factory(name)(dealt.stages[0].space, 0, 64)), 0.0)
    assert figures.after > 50.0  # chance is 33


@pytest.mark.parametrize("name", PEERS)
def test_the_process_gives_what_the_loop_gives(name, monkeypatch):
    monkeypatch.setenv(peers.VARIABLE, sys.executable)
    dealt = course(switches=2, labelled=0.6)
    told, seconds = peers.answers(dealt, name, 0, 64)
    assert [part.tolist() for part in told] == answers(name, dealt)
    assert seconds > 0.0


@pytest.mark.parametrize("name", PEERS)
def test_the_same_seed_gives_the_same_answers(name):
    assert answers(name, course(), seed=7) == answers(name, course(), seed=7)


@pytest.mark.parametrize("name", PEERS)
def test_records_without_a_label_teach_nothing(name):
    first, second = course().stages
    asked, spared = (factory(name)(first.space, 0, 64) for _ in range(2))
    for method in (asked, spared):
        method.learn(first.X, first.y.tolist())
        method.evolve(second.space)
    for _ in range(3):
        asked.predict(second.X + 5.0)
    for method in (asked, spared):
        for row, label in zip(second.X[:30], second.y[:30].tolist(), strict=True):
            method.learn(row[None, :], [label])
    assert list(asked.predict(second.X)) == list(spared.predict(second.X))


class Repeater:
    """A River-like model that answers with a label wherever it was ever handed one for the same record."""

    def __init__(self) -> None:
        self.told: dict[tuple[tuple[str, float], ...], int] = {}

    def predict_one(self, x: dict[str, float]) -> int | None:
        return self.told.get(tuple(x.items()))

    def learn_one(self, x: dict[str, float], y: int) -> None:
        self.told[tuple(x.items())] = y


def test_a_model_that_only_repeats_labels_is_never_right_and_features_are_absent_not_empty():
    dealt = course()
    model = Repeater()
    figures = measure(dealt, play(dealt, RiverMethod(dealt.stages[0].space, model)), 0.0)
    assert sum(figures.right) == 0
    assert len(model.told) == 180
    keys = {tuple(name for name, _ in record) for record in model.told}
    assert keys == {stage.space.names for stage in dealt.stages}


@pytest.mark.parametrize("name", [name for name in PEERS if name != RESTARTS])
def test_what_was_learnt_survives_a_switch(name):
    first, second = course(each=200 if name == LATE else 60).stages
    method = factory(name)(first.space, 0, 1024)
    for row, label in zip(first.X, first.y.tolist(), strict=True):
        method.learn(row[None, :], [label])
    method.evolve(second.space)
    right = np.array(method.predict(second.X)) == second.y  # without one label of the new stage
    assert right.mean() > 0.5


def test_one_peer_begins_anew_at_a_switch():
    first, second = course().stages
    method = factory(RESTARTS)(first.space, 0, 1024)
    method.learn(first.X, first.y.tolist())
    method.evolve(second.space)
    assert set(method.predict(second.X)) <= {None}


def test_a_class_may_come_late():
    dealt = course()
    first = dealt.stages[0]
    for name in PEERS:
        method = factory(name)(first.space, 0, 1024)
        early = first.y < 2
        method.learn(first.X[early], first.y[early].tolist())
        assert set(method.predict(first.X)) <= {0, 1}
        for _ in range(2):
            method.learn(first.X, first.y.tolist())
        if name != LATE:
            assert 2 in method.predict(first.X), name


def test_the_benchmark_s_regression_is_river_s_own_over_what_is_there(monkeypatch):
    monkeypatch.setenv(peers.VARIABLE, sys.executable)
    random = np.random.default_rng(2)
    labels = random.integers(2, size=100)
    rows = random.normal(size=(100, 4)) + 2.0 * labels[:, None]
    rows[random.random(rows.shape) < 0.5] = np.nan
    stage = Stage(FeatureSpace(("a", "b", "c", "d")), rows, labels, np.ones(100, dtype=bool), 100)
    ((told,), _) = peers.answers(Course((stage,)), "river-lr-two-classes", 0, 64)
    model = preprocessing.StandardScaler() | linear_model.LogisticRegression(optim.SGD(0.05))
    for row, label, answer in zip(rows, labels.tolist(), told.tolist(), strict=True):
        record = {name: value for name, value in zip("abcd", row.tolist(), strict=True) if not math.isnan(value)}
        assert int(model.predict_one(record)) == answer
        model.learn_one(record, label)
