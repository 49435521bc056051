"""Running statistics of every feature, and the cleaning that rests on them.

Called by the learner with every batch, before memory and metric see it, and by `predictor` with every sample. A value
that is not finite is missing; a value that is absurdly large is clipped; each feature is shifted by its origin, so that
a counter at 1e9 or a time in milliseconds keeps its small differences in single precision. A feature with a unit is
arcsinh-scaled: linear near its origin, logarithmic far from it, as suits energies and concentrations.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from eml.core.arrays import Array, Index, Mask

CLIP = 30.0  # a value beyond this many times a feature's usual size is cut to it
LARGEST = 1e15  # squares of larger ones overflow single precision; the limit while no usual size is known
FURTHEST = 1e300  # an offset may be this large; the difference of two larger ones overflows
KNOWN_AFTER = 20  # values of a feature before its root mean square says what is usual
FEWEST = 8  # values of a first batch that say what is usual


@dataclass(slots=True)
class Statistics:
    """Origin, count, mean and sum of squared deviations per feature (Chan's parallel update)."""

    origin: Array  # (d,) the median of a feature's first batch; everything else is relative to it
    count: Array  # (d,)
    mean: Array  # (d,)
    spread: Array  # (d,) sum of squared deviations from the mean
    largest: Array  # (d,) largest value so far: a flag that is seldom set is no outlier
    first: Array  # (d,) median distance of the first batch from its origin: a typical size that no outlier moves
    unit: Array  # (d,) distance from the origin at which arcsinh scaling bends; 0: the feature is not scaled

    @classmethod
    def empty(cls, d: int) -> Self:
        """Nothing seen yet."""
        return cls(*(np.zeros(d) for _ in range(7)))

    def fields(self) -> tuple[Array, ...]:
        """All of them, in the order of the constructor."""
        return self.origin, self.count, self.mean, self.spread, self.largest, self.first, self.unit

    def select(self, columns: list[int | None]) -> Self:
        """The statistics of the next space: a column of this one each, or None for a new feature."""
        picked = self.empty(len(columns))
        new = [i for i, column in enumerate(columns) if column is not None]
        old = [column for column in columns if column is not None]
        for mine, theirs in zip(picked.fields(), self.fields(), strict=True):
            mine[new] = theirs[old]
        return picked

    def set_origins(self, X: Array) -> None:
        """Choose the origin of features that this batch shows for the first time."""
        present = np.isfinite(X)
        fresh = np.flatnonzero((self.count == 0.0) & present.any(axis=0))
        if present[:, fresh].all():  # the usual case, all features at once
            values = np.clip(X[:, fresh], -FURTHEST, FURTHEST)
            self.origin[fresh] = np.median(values, axis=0)
            if len(values) >= FEWEST:
                self.first[fresh] = np.median(np.abs(values - self.origin[fresh]), axis=0)
            return
        for column in fresh:
            values = np.clip(X[np.isfinite(X[:, column]), column], -FURTHEST, FURTHEST)
            self.origin[column] = np.median(values)
            if len(values) >= FEWEST:
                self.first[column] = np.median(np.abs(values - self.origin[column]))

    def clean(self, X: Array) -> tuple[Array, Mask, int]:
        """Values relative to the origin (the mean where one is missing), which are present, how many were clipped."""
        present = np.isfinite(X)
        X = np.where(present, scaled_by_arcsinh(np.clip(X, -FURTHEST, FURTHEST) - self.origin, self.unit), self.mean)
        limit = self.limits()
        cut = int((np.abs(X) > limit).sum())
        return np.clip(X, -limit, limit), present, cut

    def limits(self) -> Array:
        """How far (d,) from its origin a value may be before it is clipped."""
        limit = np.where(
            self.count >= KNOWN_AFTER, np.maximum(CLIP * self._root_mean_square(), self.largest), CLIP * self.first
        )
        return np.where(limit > 0.0, np.minimum(limit, LARGEST), LARGEST)

    def update(self, X: Array, present: Mask) -> None:
        """Update with a cleaned batch; missing values do not count."""
        n = present.sum(axis=0).astype(np.float64)
        mean = np.where(present, X, 0.0).sum(axis=0) / np.maximum(n, 1.0)
        spread = (np.where(present, X - mean, 0.0) ** 2).sum(axis=0)
        total = np.maximum(self.count + n, 1.0)
        shift = mean - self.mean
        self.spread = self.spread + spread + shift**2 * (self.count * n / total)
        self.mean = self.mean + shift * (n / total)
        self.count = self.count + n
        self.largest = np.maximum(self.largest, np.where(present, np.abs(X), 0.0).max(axis=0, initial=0.0))

    def recompute(self, X: Array, present: Mask, columns: Index, unit: Array) -> None:
        """Give `columns` a unit; their statistics become those of the exemplars' scaled values X (n, columns)."""
        n = np.maximum(present.sum(axis=0), 1)
        self.unit[columns] = unit
        self.mean[columns] = np.where(present, X, 0.0).sum(axis=0) / n
        variance = (np.where(present, X - self.mean[columns], 0.0) ** 2).sum(axis=0) / n
        self.spread[columns] = variance * self.count[columns]
        self.largest[columns] = np.where(present, np.abs(X), 0.0).max(axis=0, initial=0.0)

    def raw_values(self, X: Array, columns: Index) -> Array:
        """Values (n, columns) before cleaning: scaling and shift undone."""
        unit = self.unit[columns]
        return np.asarray((np.where(unit > 0.0, np.sinh(X) * unit, X) if unit.any() else X) + self.origin[columns])

    def deviation(self) -> Array:
        """Standard deviation (d,); 0 for a feature that has not varied."""
        return np.asarray(np.sqrt(self.spread / np.maximum(self.count, 1.0)))

    def _root_mean_square(self) -> Array:
        return np.asarray(np.sqrt(self.spread / np.maximum(self.count, 1.0) + self.mean**2))


def scaled_by_arcsinh(X: Array, unit: Array) -> Array:
    """X (n, d) in units (d,), logarithmic beyond them; columns with unit 0 stay as they are."""
    if not unit.any():
        return X
    with np.errstate(over="ignore"):
        ratio = np.clip(X / np.where(unit > 0.0, unit, 1.0), -FURTHEST, FURTHEST)
    return np.where(unit > 0.0, np.arcsinh(ratio), X)
