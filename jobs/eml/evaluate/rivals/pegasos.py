"""Pegasos, one pass: a linear SVM by stochastic sub-gradient steps.

Built by `methods`. Reference: S. Shalev-Shwartz, Y. Singer, N. Srebro (and A. Cotter), "Pegasos: primal estimated
sub-gradient solver for SVM", ICML 2007 and Mathematical Programming 2011. Readings:

- One-vs-rest for several classes, all with the same steps; each row is used once, in the order in which it comes.
- A constant feature is the bias, one of the reference's own proposals.
- "One-pass Pegasos assumes that the vanished and augmented features are available in different feature evolution
  stages": in each stage it trains on the features of that stage. The survivors keep their weights, new features start
  at 0, and the count of steps goes on, so that the next step does not wipe out what was learnt. The other reading, all
  features in all stages, would give it values that no other method can have.
- Rows are standardised by running statistics, and divided by the root of the number of features: the reference's step
  is made for rows of norm about 1.
"""

from collections.abc import Sequence

import numpy as np

from eml.core import FeatureSpace
from eml.evaluate.controls import Label
from eml.evaluate.datasets import Floats
from eml.evaluate.rivals.linear import Classes, RunningStandard, survivors

_PENALTY = 1e-3  # λ; the reference's experiments take 1e-4 to 1e-6 with many passes, one short pass needs shorter steps


class Pegasos:
    """One hyperplane per class, against the rest."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        del seed, memory  # rows come in a random order already, and none is kept
        self._space = space
        self._classes = Classes()
        self._standard = RunningStandard(len(space))
        self._weights = np.zeros((0, len(space) + 1))  # (classes, features and bias)
        self._steps = 0

    def announce(self, space: FeatureSpace) -> None:
        """Nothing to prepare."""

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Take one step with each row."""
        if not len(rows):
            return
        self._standard.update(rows)
        signs = 2.0 * self._classes.indicators(labels) - 1.0
        new = len(self._classes) - len(self._weights)
        self._weights = np.pad(self._weights, ((0, new), (0, 0)))
        for row, sign in zip(self._inputs(rows), signs, strict=True):
            self._step(row, sign)

    def evolve(self, space: FeatureSpace) -> None:
        """Keep the survivors' weights and the bias; new features have none yet."""
        old, new = survivors(self._space, space)
        weights = np.zeros((len(self._classes), len(space) + 1))
        weights[:, [*new, -1]] = self._weights[:, [*old, -1]]
        self._standard.move(old, new, len(space))
        self._space, self._weights = space, weights

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return the class whose hyperplane lies farthest behind the row, None before any label."""
        if not len(self._classes):
            return [None] * len(rows)
        return self._classes.best(self._inputs(rows) @ self._weights.T)

    def objective(self, rows: Floats, labels: Sequence[Label]) -> float:
        """λ/2 ||w||² + mean hinge loss, averaged over the classes: what Pegasos makes small."""
        signs = 2.0 * self._classes.indicators(labels) - 1.0
        hinge = np.maximum(0.0, 1.0 - signs * (self._inputs(rows) @ self._weights.T))
        return float(_PENALTY / 2 * (self._weights**2).sum(axis=1).mean() + hinge.mean())

    def _inputs(self, rows: Floats) -> Floats:
        standard = self._standard.apply(rows) / np.sqrt(max(1, rows.shape[1]))
        return np.hstack([standard, np.ones((len(rows), 1))])

    def _step(self, row: Floats, sign: Floats) -> None:
        """Step: w ← (1 - ηλ) w + η y x where the margin is below 1, η = 1 / (λ t); then into the ball 1/√λ."""
        self._steps += 1
        margin = sign * (self._weights @ row)  # (classes,)
        self._weights *= 1.0 - 1.0 / self._steps
        self._weights += np.outer(np.where(margin < 1.0, sign, 0.0), row) / (_PENALTY * self._steps)
        norm = np.linalg.norm(self._weights, axis=1, keepdims=True)
        self._weights *= np.minimum(1.0, 1.0 / np.sqrt(_PENALTY) / np.maximum(norm, np.finfo(float).tiny))
