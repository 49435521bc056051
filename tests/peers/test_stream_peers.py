"""River in the stream protocol: in its own process, with no label before its prediction, across a switch."""

import sys

import numpy as np
import pytest

from eml.evaluate.catalogue import PEERS
from eml.evaluate.datasets import Dataset
from eml.evaluate.prequential import peers
from eml.evaluate.prequential.course import Course, Plan, deal
from eml.evaluate.prequential.measures import measure
from eml.evaluate.prequential.peer import factory
from eml.evaluate.prequential.play import play
from eml.evaluate.prequential.river_models import RiverMethod


def course(switches: int = 1, labelled: float = 1.0) -> Course:
    random = np.random.default_rng(1)
    samples = np.repeat(3.0 * random.normal(size=(3, 8)), 60, axis=0) + random.normal(size=(180, 8))
    dataset = Dataset("made", samples, np.repeat([0, 1, 2], 60), (2, 4, 2), None, ())
    return deal(dataset, Plan(switches, None, labelled), 0)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("switches", [1, 4])
def test_a_peer_tells_classes_apart_before_and_after_a_switch(name, switches):
    dealt = course(switches)
    figures = measure(dealt, play(dealt, factory(name)(dealt.stages[0].space, 0, 64)), 0.0)
    assert min(figures.before, figures.after) > 60.0  # chance is 33


@pytest.mark.parametrize("name", PEERS)
def test_the_process_gives_what_the_loop_gives(name, monkeypatch):
    monkeypatch.setenv(peers.VARIABLE, sys.executable)
    dealt = course(switches=2, labelled=0.6)
    answers, seconds = peers.answers(dealt, name, 0, 64)
    expected = play(dealt, factory(name)(dealt.stages[0].space, 0, 64))
    assert [part.tolist() for part in answers] == [part.tolist() for part in expected]
    assert seconds > 0.0


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


@pytest.mark.parametrize("name", PEERS)
def test_what_was_learnt_survives_a_switch(name):
    dealt = course()
    first, second = dealt.stages
    method = factory(name)(first.space, 0, 1024)
    method.learn(first.X, first.y.tolist())
    method.evolve(second.space)
    right = np.array(method.predict(second.X)) == second.y  # without one label of the new stage
    assert right.mean() > 0.5
