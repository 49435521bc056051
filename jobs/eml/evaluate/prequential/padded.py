"""For peers that want rows of numbers, not names: a place for each feature, its scale, and two classes at a time.

Used by `openmoa_models`, `haphazard_models` and `metric_learn_models`; knows no library, and nothing of features and
classes that have not come yet.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from eml.core import FeatureSpace
from eml.evaluate.datasets import Floats


class Places:
    """A place for every feature the stream has had so far, by name, in the order they came; it is theirs for good."""

    def __init__(self, space: FeatureSpace) -> None:
        self._places: dict[str, int] = {}
        self.enter(space)

    def __len__(self) -> int:
        return len(self._places)

    def enter(self, space: FeatureSpace) -> None:
        """Rows have the features of `space` from now on."""
        for name in space.names:
            self._places.setdefault(name, len(self._places))
        self.now = np.array([self._places[name] for name in space.names], dtype=np.intp)

    def pad(self, rows: Floats) -> Floats:
        """Return the rows with NaN in the place of each feature they lack."""
        padded = np.full((len(rows), len(self)), np.nan)
        padded[:, self.now] = rows
        return padded


class RunningScaler:
    """Each feature's mean and deviation over the records learnt so far: the numbers of River's StandardScaler."""

    def __init__(self) -> None:
        self._count, self._mean, self._spread = np.zeros(0), np.zeros(0), np.zeros(0)

    def learn(self, row: Floats) -> None:
        """Take in a padded row."""
        self._widen(len(row))
        there = ~np.isnan(row)
        value = row[there]
        self._count[there] += 1.0
        off = value - self._mean[there]
        self._mean[there] += off / self._count[there]
        self._spread[there] += off * (value - self._mean[there])

    def scale(self, rows: Floats) -> Floats:
        """Return padded rows scaled; 0 for a feature that has not varied yet, and NaN stays NaN."""
        self._widen(rows.shape[1])
        deviation = np.sqrt(self._spread / np.maximum(self._count, 1.0))
        flat = np.where(np.isnan(rows), np.nan, 0.0)
        return np.divide(rows - self._mean, deviation, out=flat, where=deviation > 0.0)

    def _widen(self, width: int) -> None:
        more = (0, width - len(self._count))
        self._count, self._mean, self._spread = (np.pad(a, more) for a in (self._count, self._mean, self._spread))


class PaddedMethod(ABC):
    """A learner of scaled rows that are NaN where a feature is absent, record by record; no restart at a switch."""

    room = 1

    def __init__(self, space: FeatureSpace) -> None:
        self._places, self._scaler = Places(space), RunningScaler()

    def predict(self, rows: Floats) -> list[int | None]:
        """Return a class for each row; None before the first label."""
        return [self._answer(row) for row in self._scaler.scale(self._places.pad(rows))]

    def learn(self, rows: Floats, labels: Sequence[int]) -> None:
        """Learn the records in their order."""
        for row, label in zip(self._places.pad(rows), labels, strict=True):
            self._scaler.learn(row)
            self._take(self._scaler.scale(row[None, :])[0], label)

    def announce(self, space: FeatureSpace) -> None:  # noqa: B027 (for none of them is there anything to do)
        """Such learners know no announcements."""

    def evolve(self, space: FeatureSpace) -> None:
        """Rows are wider from now on, and NaN elsewhere; the learner is told nothing."""
        self._places.enter(space)

    @abstractmethod
    def _answer(self, row: Floats) -> int | None:
        """Return a class; nothing is learnt of the row."""

    @abstractmethod
    def _take(self, row: Floats, label: int) -> None:
        """Learn a labelled row."""


class TwoClass(Protocol):
    """A learner that tells its own class from the rest."""

    def score(self, row: Floats) -> float:
        """How much the row looks like the own class; nothing is learnt of it."""

    def learn(self, row: Floats, *, own: bool) -> None:
        """Take a labelled row."""


class OneVsRest(PaddedMethod):
    """A two-class learner for each class, begun when the class first comes, as River's is; the best score wins."""

    def __init__(self, space: FeatureSpace, make: Callable[[], TwoClass]) -> None:
        super().__init__(space)
        self._make = make
        self._learners: dict[int, TwoClass] = {}

    def _answer(self, row: Floats) -> int | None:
        return max(self._learners, key=lambda label: self._learners[label].score(row), default=None)

    def _take(self, row: Floats, label: int) -> None:
        if label not in self._learners:
            self._learners[label] = self._make()
        for known, learner in self._learners.items():
            learner.learn(row, own=known == label)
