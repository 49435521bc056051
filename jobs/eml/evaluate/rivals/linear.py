"""What the linear rivals share: classes in order of appearance, running moments, running standardisation, ridge.

Called by `pegasos`, `opid`, `opide`, `tca` and `firf`; knows arrays, and of feature spaces which columns survive. What
is kept of the rows is their count, means and scatter: one pass, bounded by the features and not by the stream.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from eml.core import FeatureSpace
from eml.evaluate.controls import Label, RunningScale
from eml.evaluate.datasets import Floats

# In rows: how many of them say as much as the penalty does. Largest first: where all are alike, nothing was learnt yet.
PENALTIES: tuple[float, ...] = tuple(10.0 ** (exponent / 2) for exponent in range(8, -1, -1))
_TINY = 1e-9  # a fit of as many columns as rows has no freedom left to be judged by


def survivors(old: FeatureSpace, new: FeatureSpace) -> tuple[list[int], list[int]]:
    """Columns of the survived features: in the old space, and in the same order in the new one."""
    change = old.diff(new)
    return old.columns(change.former[name] for name in change.survived), new.columns(change.survived)


class Classes:
    """The labels seen so far, numbered in order of appearance."""

    def __init__(self) -> None:
        self.labels: list[Label] = []
        self._place: dict[Label, int] = {}

    def __len__(self) -> int:
        return len(self.labels)

    def numbers(self, labels: Sequence[Label]) -> list[int]:
        """Numbers of `labels`; a new one gets the next number."""
        for label in labels:
            if label not in self._place:
                self._place[label] = len(self.labels)
                self.labels.append(label)
        return [self._place[label] for label in labels]

    def indicators(self, labels: Sequence[Label]) -> Floats:
        """One-vs-rest targets: 1 in the column of a row's class, 0 elsewhere; (rows, classes)."""
        numbers = self.numbers(labels)
        targets = np.zeros((len(numbers), len(self)))
        targets[np.arange(len(numbers)), numbers] = 1.0
        return targets

    def best(self, scores: Floats) -> list[Label | None]:
        """Label of each row's largest score; scores: (rows, classes)."""
        return [self.labels[place] for place in scores.argmax(axis=1)]


class RunningStandard(RunningScale):
    """Rows to mean 0 and deviation 1 by the statistics of the rows learnt so far."""

    def apply(self, rows: Floats) -> Floats:
        """Standardise `rows`; a feature that was never seen is left as it is."""
        standard: Floats = (rows - self._mean) / self.deviation()
        return standard


@dataclass(frozen=True, slots=True)
class Linear:
    """Scores of classes, linear in a row."""

    weights: Floats  # (features, classes)
    intercept: Floats  # (classes,)

    def scores(self, rows: Floats) -> Floats:
        """Scores of `rows`: (rows, classes)."""
        scores: Floats = rows @ self.weights + self.intercept
        return scores


class Moments:
    """Count, means and centred scatter of rows and of their targets, updated batch by batch (Chan's formula)."""

    def __init__(self, width: int, classes: int = 0) -> None:
        self.count = 0
        self.mean = np.zeros(width)
        self.scatter = np.zeros((width, width))
        self.target_mean = np.zeros(classes)
        self.target_squares = np.zeros(classes)  # centred, as the scatter
        self.cross = np.zeros((width, classes))

    def update(self, rows: Floats, targets: Floats) -> None:
        """Take in a batch; targets: (rows, classes), with a column more for each class that is new."""
        self.widen(targets.shape[1])
        count = self.count + len(rows)
        row_mean, target_mean = rows.mean(axis=0), targets.mean(axis=0)
        row_step, target_step = row_mean - self.mean, target_mean - self.target_mean
        between = self.count * len(rows) / count
        centred = rows - row_mean
        self.scatter += centred.T @ centred + between * np.outer(row_step, row_step)
        self.target_squares += ((targets - target_mean) ** 2).sum(axis=0) + between * target_step**2
        self.cross += centred.T @ (targets - target_mean) + between * np.outer(row_step, target_step)
        self.mean += row_step * len(rows) / count
        self.target_mean += target_step * len(rows) / count
        self.count = count

    def widen(self, classes: int) -> None:
        """Make room for new classes: no row so far was of theirs, so all their moments are exactly 0."""
        more = classes - len(self.target_mean)
        self.target_mean = np.pad(self.target_mean, (0, more))
        self.target_squares = np.pad(self.target_squares, (0, more))
        self.cross = np.pad(self.cross, ((0, 0), (0, more)))

    def mapped(self, matrix: Floats) -> Self:
        """Moments of rows @ matrix, exact without seeing a row again; matrix: (width, new width)."""
        moments = type(self)(matrix.shape[1], len(self.target_mean))
        moments.count = self.count
        moments.mean = self.mean @ matrix
        moments.scatter = matrix.T @ self.scatter @ matrix
        moments.cross = matrix.T @ self.cross
        moments.target_mean, moments.target_squares = self.target_mean.copy(), self.target_squares.copy()
        return moments

    def deviation(self) -> Floats:
        """Standard deviation of each column; 1 where it never moved."""
        variance = np.maximum(np.diag(self.scatter), 0.0) / max(self.count, 1)
        return np.where(variance > 0, np.sqrt(variance), 1.0)

    def through_means(self, weights: Floats) -> Linear:
        """Weights as a model that gives the mean row the mean target."""
        return Linear(weights, self.target_mean - self.mean @ weights)


@dataclass(frozen=True, slots=True)
class _Problem:
    """Least squares of standardised columns, turned into their principal directions: ZᵀZ = V Λ Vᵀ, c = Vᵀ ZᵀR."""

    deviation: Floats  # (columns, 1)
    values: Floats  # Λ: (columns,)
    vectors: Floats  # V: (columns, columns)
    turned: Floats  # c: (columns, classes)
    penalty: float  # ρ


def ridge(moments: Moments, start: Floats) -> Linear:
    """min_w ||Z (w - start) - R||² + ρ ||w - start||² with R = Y - Z start: w = start + V (Λ + ρ)⁻¹ c.

    Z are the standardised rows. `start`, (columns, classes), are weights of raw columns, where w stays unless rows lead
    away from it. ρ is chosen by `chosen_penalty`'s rule.
    """
    problem = _problem(moments, start)
    step = problem.vectors @ (problem.turned / (problem.values + problem.penalty)[:, None])
    return moments.through_means(start + step / problem.deviation)


def chosen_penalty(moments: Moments) -> float:
    """The penalty of a ridge regression from 0, by generalised cross-validation: of rows learnt, and in one pass."""
    return _problem(moments, np.zeros_like(moments.cross)).penalty


def _problem(moments: Moments, start: Floats) -> _Problem:
    deviation = moments.deviation()[:, None]
    values, vectors = np.linalg.eigh(moments.scatter / (deviation * deviation.T))
    values = np.maximum(values, 0.0)
    turned = vectors.T @ ((moments.cross - moments.scatter @ start) / deviation)
    penalty = _penalty(values, turned, _left(moments, start), moments.count)
    return _Problem(deviation, values, vectors, turned, penalty)


def _left(moments: Moments, start: Floats) -> float:
    """||R||², what the start leaves of the targets, from moments alone."""
    told = 2.0 * (start * moments.cross).sum() - (start * (moments.scatter @ start)).sum()
    return float(moments.target_squares.sum() - told)


def _penalty(values: Floats, turned: Floats, left: float, count: int) -> float:
    """Generalised cross-validation: the ρ of the smallest ||residual||² / (1 - freedom / count)²."""
    told = (turned**2).sum(axis=1)  # (columns,)

    def score(penalty: float) -> float:
        residual = left - (told * (values + 2.0 * penalty) / (values + penalty) ** 2).sum()
        freedom = 1.0 + (values / (values + penalty)).sum()  # 1: the intercept
        return float(max(residual, 0.0) / max(1.0 - freedom / count, _TINY) ** 2)

    return min(PENALTIES, key=score)


def selection(columns: Sequence[int], width: int) -> Floats:
    """The matrix that picks `columns`: rows @ selection(columns, width) = rows[:, columns]."""
    return np.eye(width)[:, list(columns)]
