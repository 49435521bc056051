"""What the rivals that learn a metric share: exemplars, scaling, the nearest neighbour, and what an evolution leaves.

`opml`, `bdml` and `cdml` each give it a `Metric`; it knows nothing of how that is learnt.

How such methods meet an evolution is said by the EML paper: they "only utilize the samples with the augmented
features, and ignore the previous vanished features". So a sample counts as long as it has all features there are:
where new features come they begin anew with the first batch that has them; where features only vanish, are renamed or
change places, all exemplars stay.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from eml.core import FeatureSpace
from eml.evaluate.controls import Exemplars, Label
from eml.evaluate.datasets import Floats
from eml.evaluate.rivals.linear import Classes, RunningStandard, survivors


class Metric(Protocol):
    """A space in which samples of one class are near each other. Rows come standardised."""

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Take in a batch, for those that learn in one pass."""

    def fit(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Learn from all exemplars, for those that cannot; called before a prediction where new ones have come."""

    def embed(self, rows: Floats) -> Floats:
        """Return each row's place; Euclidean distances between places are what was learnt."""

    def keep(self, columns: Sequence[int]) -> None:
        """Go on with these features, in this order."""


Numbers = NDArray[np.intp]
MakeMetric = Callable[[int, int], Metric]  # number of features, seed


class MetricMethod:
    """Nearest neighbour among at most `memory` exemplars in a learnt space."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int, make: MakeMetric) -> None:
        self._seed, self._memory, self._make = seed, memory, make
        self._space: FeatureSpace
        self._exemplars: Exemplars
        self._scale: RunningStandard
        self._fresh: bool  # exemplars have come that `fit` has not seen
        self.metric: Metric
        self._begin(space)

    def announce(self, space: FeatureSpace) -> None:
        """Nothing to prepare: no sample has the new features yet."""

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Remember the batch, and learn from it what one pass can."""
        if not len(rows):
            return
        self._scale.update(rows)
        for row, label in zip(rows, labels, strict=True):
            self._exemplars.add(row, label)
        self.metric.learn(self._scale.apply(rows), labels)
        self._fresh = True

    def evolve(self, space: FeatureSpace) -> None:
        """Begin anew where features are new; else go on with those that are left."""
        change = self._space.diff(space)
        if change.augmented or not change.survived:
            self._begin(space)
            return
        old, new = survivors(self._space, space)
        self._exemplars.move(old, new, len(space))
        self._scale.move(old, new, len(space))
        self.metric.keep(old)
        self._space, self._fresh = space, True

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return the label of each row's nearest exemplar, None where there is none at all."""
        known, labels = self._exemplars.arrays()
        if not labels:
            return [None] * len(rows)
        known = self._scale.apply(known)
        if self._fresh:
            self.metric.fit(known, labels)
            self._fresh = False
        places = squared_distances(self.metric.embed(self._scale.apply(rows)), self.metric.embed(known)).argmin(axis=1)
        return [labels[place] for place in places]

    def _begin(self, space: FeatureSpace) -> None:
        self._space = space
        self._exemplars = Exemplars(self._memory, self._seed)
        self._scale = RunningStandard(len(space))
        self.metric = self._make(len(space), self._seed)
        self._fresh = False


def squared_distances(left: Floats, right: Floats) -> Floats:
    """Squared Euclidean distances between the rows of `left` and of `right`."""
    centre = right.mean(axis=0)  # smaller numbers lose fewer digits in the difference of squares
    left, right = left - centre, right - centre
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * left @ right.T
    return np.asarray(np.maximum(squares, 0.0))


def sample(rows: Floats, labels: Sequence[Label], most: int, seed: int) -> tuple[Floats, Numbers]:
    """At most `most` rows, drawn evenly, and their classes as numbers: what bounds the cost of a fit."""
    classes = np.array(Classes().numbers(labels), dtype=np.intp)
    if len(rows) > most:
        chosen = np.sort(np.random.default_rng(seed).choice(len(rows), most, replace=False))
        rows, classes = rows[chosen], classes[chosen]
    return rows, classes
