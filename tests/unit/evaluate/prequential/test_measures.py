"""Figures are what their names say."""

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.evaluate.prequential.course import Course, Stage
from eml.evaluate.prequential.measures import measure


def stage(labels: list[int]) -> Stage:
    records = len(labels)
    return Stage(FeatureSpace(("a",)), np.zeros((records, 1)), np.array(labels), np.ones(records, dtype=np.bool_), 0)


COURSE = Course((stage([0] * 10), stage([0] * 8 + [1] * 2), stage([1] * 20)))


def test_accuracies_by_hand():
    answers = [np.array([0] * 9 + [1]), np.array([0, 1, 1, *[0] * 5, 0, 1]), np.array([1, 1, *[-1] * 8, *[1] * 10])]
    figures = measure(COURSE, answers, 2.5)
    assert figures.before == 90.0
    assert figures.early == (50.0 + 50.0) / 2  # one of two, two of four
    assert figures.after == (70.0 + 60.0) / 2
    assert figures.balanced == pytest.approx(((75.0 + 50.0) / 2 + 60.0) / 2)
    assert figures.right == (9, 7, 12)
    assert figures.curve[2] == (100.0, *[0.0] * 4, *[100.0] * 5)
    assert figures.seconds == 2.5
