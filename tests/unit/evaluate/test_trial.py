"""A trial: what a method is handed, what it never is, and how it is scored."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.evaluate.controls import Label
from eml.evaluate.datasets import Floats
from eml.evaluate.own import OwnFile
from eml.evaluate.protocols import Learn, Predict, multi_shot, one_shot
from eml.evaluate.trial import Trial, perform, play


class Recorder:
    """A method that keeps all it is handed, and answers from `answers` (by a sample's first value)."""

    def __init__(self, answers: dict[float, Label] | None = None) -> None:
        self.received: list[object] = []
        self.labels: list[Label] = []
        self._answers = answers or {}

    def announce(self, space: FeatureSpace) -> None:
        self.received.append(space)

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        self.received += [rows, labels]
        self.labels += labels

    def evolve(self, space: FeatureSpace) -> None:
        self.received.append(space)

    def predict(self, rows: Floats) -> list[Label | None]:
        self.received.append(rows)
        return [self._answers.get(row[0]) for row in rows]


@pytest.mark.parametrize("scenario", [one_shot, multi_shot])
def test_no_method_is_ever_handed_a_label_of_the_test_batch(make_dataset, scenario):
    script = scenario(make_dataset(), 8, 0)
    marked = tuple(
        replace(step, y=np.array(["secret"] * len(step.y))) if isinstance(step, Predict) else step
        for step in script.steps
    )
    cheat = Recorder()
    play(replace(script, steps=marked), cheat)
    assert cheat.labels  # it did learn from the other batches
    assert "secret" not in repr(cheat.received)


def test_labels_of_a_predicted_batch_come_only_after_its_prediction(make_dataset):
    script = multi_shot(make_dataset(), 8, 0, "II")
    cheat = Recorder()
    play(script, cheat)
    handed = [np.unique(item[:, 0]) for item in cheat.received if isinstance(item, np.ndarray)]
    expected = [np.unique(step.X[:, 0]) for step in script.steps if isinstance(step, Learn | Predict)]
    assert all(np.array_equal(got, want) for got, want in zip(handed, expected, strict=True))


def test_accuracy_is_the_share_of_right_labels_and_silence_is_wrong(make_dataset):
    script = one_shot(make_dataset(), 8, 0)
    step = script.steps[-1]
    assert isinstance(step, Predict)
    truth = dict(zip(step.X[:, 0].tolist(), step.y.tolist(), strict=True))
    assert play(script, Recorder(truth))[0][1] == 100.0
    assert play(script, Recorder())[0][1] == 0.0
    half = dict(list(truth.items())[:4])
    assert play(script, Recorder(half))[0][1] == 50.0


def test_a_prediction_for_each_sample_is_demanded(make_dataset):
    class Short(Recorder):
        def predict(self, rows: Floats) -> list[Label | None]:
            return super().predict(rows)[:-1]

    with pytest.raises(ValueError, match="zip"):
        play(one_shot(make_dataset(), 8, 0), Short())


def trial(path, method, scenario="one-shot", seed=0):
    return Trial(OwnFile(str(path), (2, 4, 2), (12,)), scenario, 12, seed, method, 64)


def test_task_II_averages_the_stages_after_an_evolution(own_file):
    outcome = perform(trial(own_file, "memory-batch", "multi-shot-task-II"))
    assert list(outcome.by_stage) == [1, 2, 3]
    assert outcome.accuracy == (outcome.by_stage[2] + outcome.by_stage[3]) / 2


@pytest.mark.parametrize("scenario", ["one-shot", "multi-shot-task-I", "multi-shot-task-II"])
@pytest.mark.parametrize("method", ["eml", "eml-woT", "eml-woI", "eml-woW", "eml-LR", "memory", "restart"])
def test_every_method_tells_classes_apart_that_lie_apart(own_file, method, scenario):
    outcome = perform(trial(own_file, method, scenario))
    assert outcome.accuracy > 60.0  # chance is 33


def test_a_trial_gives_the_same_again(own_file):
    for method in ("eml", "memory"):
        first, again = (perform(trial(own_file, method, "multi-shot-task-II", seed=7)) for _ in range(2))
        assert (first.accuracy, first.by_stage) == (again.accuracy, again.by_stage)
