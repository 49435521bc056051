"""Missing values for methods that cannot take them: the mean of what the method has learnt of the feature so far.

Built by `methods` around the paper's rivals and the plain-neighbour controls. The learner, its ablations and the cold
restart take NaN as it is, and so do all methods of the stream: there a missing value is an absent feature. Rows
without a missing value pass through as they are, so figures of complete data do not depend on this module.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from eml.core import FeatureSpace
from eml.evaluate.controls import Label
from eml.evaluate.datasets import Floats


class Wrapped(Protocol):
    """What is asked of the method inside: the four calls of a protocol."""

    def announce(self, space: FeatureSpace) -> None:
        """Hear of the next space."""

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Learn a batch."""

    def evolve(self, space: FeatureSpace) -> None:
        """Go over to a space."""

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return a label for each row."""


class MeanFilled:
    """A method that is shown the running mean of a feature where its value is missing, and 0 before its first value."""

    def __init__(self, method: Wrapped, space: FeatureSpace) -> None:
        self._method, self._space = method, space
        self._sums: dict[str, float] = {}  # by feature: one that comes back finds what was known of it
        self._counts: dict[str, int] = {}

    def announce(self, space: FeatureSpace) -> None:
        """Pass it on."""
        self._method.announce(space)

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Count what is there, then learn the batch filled with the means up to and with it."""
        there = ~np.isnan(rows)
        sums, counts = np.where(there, rows, 0.0).sum(axis=0).tolist(), there.sum(axis=0).tolist()
        for name, total, count in zip(self._space.names, sums, counts, strict=True):
            self._sums[name] = self._sums.get(name, 0.0) + total
            self._counts[name] = self._counts.get(name, 0) + count
        self._method.learn(self._filled(rows), labels)

    def evolve(self, space: FeatureSpace) -> None:
        """Go over to `space`."""
        self._method.evolve(space)
        self._space = space

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return a label for each row, filled with what is known so far."""
        return self._method.predict(self._filled(rows))

    def _filled(self, rows: Floats) -> Floats:
        if not np.isnan(rows).any():
            return rows
        means = [self._sums.get(name, 0.0) / max(self._counts.get(name, 0), 1) for name in self._space.names]
        return np.where(np.isnan(rows), means, rows)
