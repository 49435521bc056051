"""Initialises and improves a metric: `stages` proposes candidates, held-out samples choose.

Called by the learner, `evolution`, `fresh`, the I-stage and the detection of categories and scales. A step that is good
for its own triplets can hurt nearest neighbours, and data sets need different steps. So every step comes in a few
sizes, "none" among them, and the log loss of nearest neighbours on samples that were no anchors decides: an online
choice of the step size, without a schedule and without a setting per data set.
"""

from dataclasses import dataclass

import numpy as np

from eml.core import stages
from eml.core.arrays import Array, Index
from eml.core.metric import acceptable
from eml.core.neighbours import held_out_distances, log_scores
from eml.core.stages import Objective
from eml.core.views import log_losses

SURE = 0.5  # standard errors by which a step must beat standing still
WEIGHTS = (
    1.0,
    2.0,
    4.0,
    8.0,
)  # of the scores, when candidates are compared; with larger ones only the worst samples count
SCALINGS = (1.0, 0.5, 0.0)  # powers of the standard deviation by which features are divided
RELEVANCE = 0.25  # power of a feature's between-class share of variance, by which it is weighted


@dataclass(slots=True)
class Fitter:
    """Chooses metrics by held-out samples; counts steps taken and updates refused."""

    objective: Objective
    steps: tuple[float, ...]
    neighbours: int
    rank: int
    refused: int = 0
    taken: int = 0

    def first(self, X: Array, y: Index, *deviations: Array) -> Array:
        """An initial metric (k, d): principal directions under the scaling with the least leave-one-out loss.

        Features that separate the classes count more, if that is surely better. With categories there are several ways
        to compute the features' deviations (d,); all are tried.
        """
        everyone, factors = np.arange(len(X)), [scaling(d, power) for d in deviations for power in SCALINGS]
        metrics = [_principal(X, factor, self.rank) for factor in factors]
        best = self.best_of(metrics, X, y, everyone)
        weighed = _principal(X, factors[best] * relevance(X, y) ** RELEVANCE, self.rank)
        return self._surest([metrics[best], weighed], X, y, everyone)

    def better(self, candidates: list[Array], X: Array, y: Index, held: Index) -> Array:
        """The candidate that predicts the held-out samples best; the first if they cannot tell."""
        return candidates[self.best_of(candidates, X, y, held)]

    def best_of(self, candidates: list[Array], X: Array, y: Index, held: Index) -> int:
        """Index of that candidate."""
        if len(np.unique(y)) < 2 or len(held) == 0:
            return 0
        return int(self._losses(candidates, X, y, held).mean(axis=1).argmin())

    def surely_better(self, L: Array, candidate: Array, X: Array, y: Index, held: Index) -> bool:
        """Whether a candidate beats L on held-out samples by more than chance would let it."""
        return self._surest([L, candidate], X, y, held) is candidate

    def prefers(self, before: Array, after: Array, y: Index, sure: float = SURE) -> bool:
        """Whether the samples surely predict each other better by other features (n, d') than by those they have."""
        everyone = np.arange(len(y))
        than, then = (self._losses([self.first(X, y, X.std(axis=0))], X, y, everyone)[0] for X in (before, after))
        return surely(than - then, sure)

    def improve(self, L: Array, X: Array, y: Index, anchors: Index, held: Index) -> Array:
        """The best next L, or L itself."""
        candidates = stages.improve(L, X, y, anchors, self.steps, self.objective)
        return self._best(L, candidates, X, y, held)

    def transform(
        self, La: Array, Ls: Array, X: Array, survived: Index, y: Index, anchors: Index, held: Index
    ) -> tuple[Array, Array]:
        """The best next L^a and L^s of a T-stage step."""
        Xs = X[:, survived]
        pairs = stages.transform(La, Ls, X, Xs, y, anchors, self.steps, self.objective)
        return self._best(La, [a for a, _ in pairs], X, y, held), self._best(Ls, [s for _, s in pairs], Xs, y, held)

    def _best(self, L: Array, candidates: list[Array], X: Array, y: Index, held: Index) -> Array:
        """The candidate with the least held-out loss, if it beats L by more than chance would let it."""
        sound = [candidate for candidate in candidates if acceptable(candidate, L)]
        self.refused += len(candidates) - len(sound)
        best = self._surest([L, *sound], X, y, held)
        self.taken += best is not L
        return best

    def _surest(self, candidates: list[Array], X: Array, y: Index, held: Index) -> Array:
        """The first, unless the best of the others beats it by more than chance would let it."""
        if len(candidates) == 1 or len(np.unique(y)) < 2:
            return candidates[0]
        lost = self._losses(candidates, X, y, held)  # (candidates, held)
        gains = lost[0] - lost[1:]
        best = int(gains.mean(axis=1).argmax())
        return candidates[1 + best] if surely(gains[best]) else candidates[0]

    def _losses(self, candidates: list[Array], X: Array, y: Index, held: Index) -> Array:
        """Log loss (candidates, held) of every held-out sample against all others."""
        centred = (X - X.mean(axis=0)).astype(np.float32)
        embedded = np.zeros((len(candidates), len(X), max(len(L) for L in candidates)), dtype=np.float32)
        for Z, L in zip(embedded, candidates, strict=True):
            np.matmul(centred, L.T.astype(np.float32), out=Z[:, : len(L)])
        distances = held_out_distances(embedded, y, held, self.neighbours)
        return losses(log_scores(distances.reshape(-1, distances.shape[2])).reshape(distances.shape), y[held])


def surely(gains: Array, errors: float = SURE) -> bool:
    """Whether the mean gain is above 0 by more than so many standard errors."""
    return bool(gains.mean() > errors * gains.std() / np.sqrt(len(gains)))


def losses(scores: Array, y: Index) -> Array:
    """Log losses (..., n) at the best weight for the scores (..., n, C): no candidate wins by being less confident."""
    weighed = log_losses(np.multiply.outer(WEIGHTS, scores), y)  # (weights, ..., n)
    best = weighed.mean(axis=-1, keepdims=True).argmin(axis=0, keepdims=True)
    return np.asarray(np.take_along_axis(weighed, best, axis=0)[0])


def _principal(X: Array, factors: Array, rank: int) -> Array:
    L = stages.principal(X * factors, rank) * factors
    size = float(np.sqrt((X @ L.T).var(axis=0).sum()))
    return L / size if size > 0.0 else L  # embeddings of about 1 are safe in single precision


def relevance(X: Array, y: Index) -> Array:
    """Share (d,) of every feature's variance that is between classes."""
    counts = np.bincount(y).astype(np.float64)
    present = np.flatnonzero(counts)
    centred = X - X.mean(axis=0)
    means = np.stack([centred[y == c].mean(axis=0) for c in present])
    total = (centred**2).sum(axis=0)
    return np.asarray((counts[present] @ means**2) / np.where(total > 0.0, total, 1.0))


def scaling(deviation: Array, power: float) -> Array:
    """Factor per feature: its deviation, relative to the largest, to the minus `power`; 0 if it never varied."""
    largest = float(deviation.max(initial=0.0))
    if not largest > 0.0:
        return np.ones_like(deviation)
    relative = deviation / largest
    return np.where(relative > 0.0, np.maximum(relative, 1e-12) ** -power, 0.0)
