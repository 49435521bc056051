"""metric-learn in the stream: an expensive reference, trained from scratch again and again on what it remembers.

Made by `peer`, in the peers' environment: the only module of the harness that imports metric-learn. The library learns
a metric from a table; when it is trained anew, and that neighbours in its metric answer, is ours.
"""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from metric_learn import NCA
from sklearn.neighbors import KNeighborsClassifier

from eml.core import FeatureSpace
from eml.evaluate.datasets import Floats
from eml.evaluate.prequential.padded import Places, RunningScaler

WINDOW = 256  # labelled records between two trainings; a new stage also has some at 8, 16, 32, ...: see `_is_due`
FIRST = 8
STEPS = 15  # of the optimiser per training: 4,000 records of 243 features then take less than two minutes
NEIGHBOURS = 5  # as River's


class RetrainedMetric:
    """The last labelled records, and neighbourhood components analysis over all of them, many times.

    A record counts with the features of the present stage; one it lacks takes the column's mean, 0 after scaling. At a
    switch the metric is learnt anew on the features of the new stage, from what is remembered.
    """

    room = 1

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        self._places, self._scaler = Places(space), RunningScaler()
        self._memory, self._seed, self._age = memory, seed, 0
        self._rows: list[Floats] = []  # padded, as wide as they were when they came
        self._labels: list[int] = []
        self._train()

    def predict(self, rows: Floats) -> list[int | None]:
        """Return the class of the nearest remembered records, those of little distance counting more."""
        if not self._labels:
            return [None] * len(rows)
        judge = KNeighborsClassifier(min(NEIGHBOURS, len(self._labels)), weights="distance", algorithm="brute")
        judge.fit(np.array(self._points), self._labels)
        answers: list[int | None] = judge.predict(self._embedded(self._scaled(self._places.pad(rows)))).tolist()
        return answers

    def learn(self, rows: Floats, labels: Sequence[int]) -> None:
        """Remember the records, and train when it is time."""
        for row, label in zip(self._places.pad(rows), labels, strict=True):
            self._scaler.learn(row)
            self._rows.append(row)
            self._labels.append(label)
            self._points.append(self._embedded(self._scaled(row[None, :]))[0])
            for kept in (self._rows, self._labels, self._points):
                del kept[: -self._memory]
            self._age += 1
            if _is_due(self._age):
                self._train()

    def announce(self, space: FeatureSpace) -> None:
        """It knows no announcements."""

    def evolve(self, space: FeatureSpace) -> None:
        """Learn the metric of the new features."""
        self._places.enter(space)
        self._age = 0
        self._train()

    def _train(self) -> None:
        """Fix the scale, learn the metric, and see all that is remembered in it."""
        self._scale = copy.deepcopy(self._scaler)
        self._metric: Any = None
        table = self._table()
        if len(set(self._labels)) > 1:
            learner = NCA(init="identity", max_iter=STEPS, random_state=self._seed)
            self._metric = learner.fit(table, np.array(self._labels))
        self._points = list(self._embedded(table))

    def _table(self) -> Floats:
        """All that is remembered, scaled, with the features of this stage."""
        padded = np.full((len(self._rows), len(self._places)), np.nan)
        for number, row in enumerate(self._rows):
            padded[number, : len(row)] = row
        return self._scaled(padded)

    def _scaled(self, padded: Floats) -> Floats:
        return np.nan_to_num(self._scale.scale(padded)[:, self._places.now])

    def _embedded(self, scaled: Floats) -> Floats:
        points: Floats = scaled if self._metric is None else self._metric.transform(scaled)
        return points


def nca(space: FeatureSpace, seed: int, memory: int) -> RetrainedMetric:
    """Neighbourhood components analysis, of full rank."""
    return RetrainedMetric(space, seed, memory)


def _is_due(age: int) -> bool:
    """Each time a window is full; and earlier in a young stage, when its records have doubled."""
    return age % WINDOW == 0 or (age >= FIRST and age & (age - 1) == 0)
