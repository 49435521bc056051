"""Missing values: the means a method is shown in their place, and every method through data with holes."""

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.evaluate.catalogue import METHODS
from eml.evaluate.datasets import Floats
from eml.evaluate.imputing import MeanFilled
from eml.evaluate.methods import build

NAN = np.nan


class Recorder:
    """A method that keeps the rows it is shown."""

    def __init__(self) -> None:
        self.rows: list[Floats] = []

    def announce(self, space):
        pass

    def learn(self, rows, labels):
        assert len(rows) == len(labels)
        self.rows.append(rows)

    def evolve(self, space):
        pass

    def predict(self, rows):
        self.rows.append(rows)
        return [None] * len(rows)


def test_a_missing_value_is_the_mean_so_far_of_its_feature_also_after_it_was_away():
    inner = Recorder()
    method = MeanFilled(inner, FeatureSpace(("a", "b")))
    method.predict(np.array([[NAN, 1.0]]))  # nothing is known yet
    method.learn(np.array([[2.0, NAN], [4.0, 10.0]]), ["x", "y"])
    method.evolve(FeatureSpace(("b", "c")))
    method.predict(np.array([[NAN, NAN]]))
    method.learn(np.array([[20.0, 5.0], [NAN, NAN]]), ["x", "y"])
    method.evolve(FeatureSpace(("a", "b")))
    method.predict(np.array([[NAN, NAN]]))
    assert [rows.tolist() for rows in inner.rows] == [
        [[0.0, 1.0]],
        [[2.0, 10.0], [4.0, 10.0]],
        [[10.0, 0.0]],
        [[20.0, 5.0], [15.0, 5.0]],
        [[3.0, 15.0]],
    ]


def test_complete_rows_pass_as_they_are():
    inner = Recorder()
    rows = np.array([[1.0, 2.0]])
    MeanFilled(inner, FeatureSpace(("a", "b"))).predict(rows)
    assert inner.rows[0] is rows


@pytest.mark.parametrize("name", METHODS)
def test_every_method_tells_classes_apart_in_data_with_holes(name):
    random = np.random.default_rng(0)
    labels = np.tile([0, 1], 60)
    rows = random.normal(size=(120, 8)) + 4.0 * labels[:, None]
    rows[random.random(rows.shape) < 0.1] = NAN
    names = tuple("abcdefgh")
    old, new = FeatureSpace(names[:6]), FeatureSpace(names[2:])
    method = build(name, old, 0, 60)
    method.announce(new)
    for start in (0, 20, 40):
        method.learn(rows[start : start + 20, :6], labels[start : start + 20].tolist())
    method.evolve(new)
    method.learn(rows[60:80, 2:], labels[60:80].tolist())
    answers = method.predict(rows[80:, 2:])
    assert np.mean([given == true for given, true in zip(answers, labels[80:].tolist(), strict=True)]) > 0.8
