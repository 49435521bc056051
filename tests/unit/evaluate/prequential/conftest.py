"""A short stream of three classes that lie apart, and methods that show what the loop hands them."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.evaluate.datasets import Dataset, Floats
from eml.evaluate.prequential.course import Course, Plan, deal

MakeCourse = Callable[..., Course]


class Recorder:
    """A method that keeps all it is handed in order, and answers nothing."""

    def __init__(self, room: int = 1) -> None:
        self.room = room
        self.received: list[tuple[str, object]] = []

    def predict(self, rows: Floats) -> Sequence[int | None]:
        self.received.append(("predict", rows[:, 0].tolist()))
        return [None] * len(rows)

    def learn(self, rows: Floats, labels: Sequence[int]) -> None:
        self.received.append(("learn", list(zip(rows[:, 0].tolist(), labels, strict=True))))

    def announce(self, space: FeatureSpace) -> None:
        self.received.append(("announce", space))

    def evolve(self, space: FeatureSpace) -> None:
        self.received.append(("evolve", space))


@pytest.fixture
def dataset() -> Dataset:
    """120 records of 3 classes and 8 features; no two first values are the same."""
    random = np.random.default_rng(1)
    labels = np.repeat(["ash", "elm", "oak"], 40)
    samples = np.repeat(3.0 * random.normal(size=(3, 8)), 40, axis=0) + random.normal(size=(120, 8))
    return Dataset("trees", samples, labels, (2, 4, 2), None, ())


@pytest.fixture
def make_course(dataset: Dataset) -> MakeCourse:
    def make(seed: int = 0, **plan: object) -> Course:
        return deal(dataset, Plan(**plan), seed)  # type: ignore[arg-type]

    return make
