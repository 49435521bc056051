"""Running statistics of every feature, and the cleaning that rests on them.

Every value passes here first, before memory and metric: what is not finite is missing, what is
absurdly large is cut, and each feature is moved by its origin so that a counter at 1e9 or a
time in milliseconds keeps its small differences in single precision.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from eml.core.arrays import Array, Mask

CLIP = 1e3  # a value beyond this many times a feature's usual size is cut to it
LARGEST = 1e15  # squares of larger ones overflow single precision; the limit while the usual size is unknown
KNOWN_AFTER = 20  # values of a feature before its usual size is trusted


@dataclass(slots=True)
class Statistics:
    """Origin, count, mean and sum of squared deviations per feature (Chan's parallel update)."""

    origin: Array  # (d,) the mean of a feature's first batch; all else is relative to it
    count: Array  # (d,)
    mean: Array  # (d,)
    spread: Array  # (d,) sum of squared deviations from the mean

    @classmethod
    def empty(cls, d: int) -> Self:
        """Nothing seen yet."""
        return cls(*(np.zeros(d) for _ in range(4)))

    def fields(self) -> tuple[Array, Array, Array, Array]:
        """All four, in the order of the constructor."""
        return self.origin, self.count, self.mean, self.spread

    def select(self, columns: list[int | None]) -> Self:
        """The statistics of the next space: a column of this one each, or None for a new feature."""
        picked = self.empty(len(columns))
        new = [i for i, column in enumerate(columns) if column is not None]
        old = [column for column in columns if column is not None]
        for mine, theirs in zip(picked.fields(), self.fields(), strict=True):
            mine[new] = theirs[old]
        return picked

    def settle(self, X: Array) -> None:
        """Choose the origin of features that this batch is the first to show."""
        fresh = np.flatnonzero((self.count == 0.0) & np.isfinite(X).any(axis=0))
        for column in fresh:
            values = X[np.isfinite(X[:, column]), column]
            self.origin[column] = np.clip(values, -LARGEST, LARGEST).mean()

    def clean(self, X: Array) -> tuple[Array, Mask, int]:
        """Values from the origin with the mean where one is missing, the mask of what was there, the number cut."""
        present = np.isfinite(X)
        X = np.where(present, X - self.origin, self.mean)
        limit = np.where(self.count >= KNOWN_AFTER, CLIP * self._usual(), LARGEST)
        limit = np.where(limit > 0.0, np.minimum(limit, LARGEST), LARGEST)
        cut = int((np.abs(X) > limit).sum())
        return np.clip(X, -limit, limit), present, cut

    def update(self, X: Array, present: Mask) -> None:
        """Take in a cleaned batch; missing values do not count."""
        n = present.sum(axis=0).astype(np.float64)
        mean = np.where(present, X, 0.0).sum(axis=0) / np.maximum(n, 1.0)
        spread = (np.where(present, X - mean, 0.0) ** 2).sum(axis=0)
        total = np.maximum(self.count + n, 1.0)
        shift = mean - self.mean
        self.spread = self.spread + spread + shift**2 * (self.count * n / total)
        self.mean = self.mean + shift * (n / total)
        self.count = self.count + n

    def deviation(self) -> Array:
        """Standard deviation (d,); 0 for a feature that has not varied."""
        return np.asarray(np.sqrt(self.spread / np.maximum(self.count, 1.0)))

    def _usual(self) -> Array:
        return np.asarray(np.sqrt(self.spread / np.maximum(self.count, 1.0) + self.mean**2))
