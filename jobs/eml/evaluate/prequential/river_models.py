"""River's classifiers in the stream: plain dictionaries, absent features and missing values absent from them.

Made by `peer`, in the peers' environment: the only module of the harness that imports River.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from river import forest, linear_model, multiclass, neighbors, optim, preprocessing

from eml.core import FeatureSpace
from eml.evaluate.datasets import Floats

HAPHAZARD_STEP = 0.05  # five times River's default: the streams have a few hundred records


class RiverMethod:
    """A River classifier, which learns record by record."""

    room = 1

    def __init__(self, space: FeatureSpace, model: Any) -> None:  # noqa: ANN401 (mypy does not read River)
        self._names, self._model = space.names, model

    def predict(self, rows: Floats) -> list[int | None]:
        """Return a class for each row."""
        return [self._model.predict_one(record) for record in self._records(rows)]

    def learn(self, rows: Floats, labels: Sequence[int]) -> None:
        """Learn the records in their order."""
        for record, label in zip(self._records(rows), labels, strict=True):
            self._model.learn_one(record, label)

    def announce(self, space: FeatureSpace) -> None:
        """River knows no announcements."""

    def evolve(self, space: FeatureSpace) -> None:
        """Records have other keys from now on; the model is told nothing."""
        self._names = space.names

    def _records(self, rows: Floats) -> list[dict[str, float]]:
        return [
            {name: value for name, value in zip(self._names, row, strict=True) if not math.isnan(value)}
            for row in rows.tolist()
        ]


class Restarted(RiverMethod):
    """A River classifier begun anew at each switch."""

    def __init__(self, space: FeatureSpace, make: Callable[[], Any]) -> None:
        super().__init__(space, make())
        self._make = make

    def evolve(self, space: FeatureSpace) -> None:
        """Forget everything."""
        super().evolve(space)
        self._model = self._make()


def logistic_regression(space: FeatureSpace, seed: int, memory: int) -> RiverMethod:
    """One logistic regression per class, by stochastic gradient descent; nothing in it is random or bounded."""
    del seed, memory
    return RiverMethod(space, _regression())


def restarted_regression(space: FeatureSpace, seed: int, memory: int) -> RiverMethod:
    """The same, with nothing kept at a switch: what its weights are worth there."""
    del seed, memory
    return Restarted(space, _regression)


def two_class_regression(space: FeatureSpace, seed: int, memory: int) -> RiverMethod:
    """One logistic regression for two classes, with a larger step: for the short streams of the haphazard benchmark."""
    del seed, memory
    model = linear_model.LogisticRegression(optim.SGD(HAPHAZARD_STEP))
    return RiverMethod(space, preprocessing.StandardScaler() | model)


def nearest_neighbours(space: FeatureSpace, seed: int, memory: int) -> RiverMethod:
    """Exact nearest neighbours in a sliding window of as many records as our learner has exemplars.

    River's own default, an approximate search in the last 1000 records, gets 3 points less on Gas in as much time.
    """
    del seed
    model = neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=memory))
    return RiverMethod(space, preprocessing.StandardScaler() | model)


def adaptive_forest(space: FeatureSpace, seed: int, memory: int) -> RiverMethod:
    """River's adaptive random forest as it comes; trees need no scaling, and grow without a bound."""
    del memory
    return RiverMethod(space, forest.ARFClassifier(seed=seed))


def _regression() -> Any:  # noqa: ANN401 (mypy does not read River)
    model = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    return preprocessing.StandardScaler() | model
