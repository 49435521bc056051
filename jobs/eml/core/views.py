r"""Views: a metric with the embedded memory; and the pooling of several views' scores.

Called by the learner, `experts` and `evolution`; calls `neighbours` and `missing`.

A view is a metric over some columns of the current space with the memory embedded in it. Right after an
evolution there are two: survivors only (all the memory knows) and the joint space (new features
too, partly estimated). Each scores classes by minus the log distance $s_v$, and the prediction is

$$ p(c) \propto \exp \sum_v w_v s_{v,c} $$

with the weights learnt by online Newton steps on the log loss of what was predicted before it was learnt
(prequential): the same weights calibrate the views and choose between them.
"""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from eml.core.arrays import TINY, Array, Array32, Index, Mask, stable_product
from eml.core.memory import Memory
from eml.core.missing import Columns
from eml.core.neighbours import FARTHEST, Embedded

FIRST_WEIGHT = 4.0  # a class at twice the distance is 16 times less likely, until the weights are learnt
LIGHTEST, HEAVIEST = 0.02, 50.0
BELIEF = 2.0  # initial curvature of the weights: worth a few uncertain samples
RIDGE = 0.1  # added to the curvature in every step: keeps it invertible
FORGET = 0.97  # discount of the past per 32 labels


@dataclass(slots=True)
class View:
    """A metric over `columns` of the space, with the memory embedded."""

    name: str
    columns: Index
    L: Array  # (k, len(columns))
    recent: bool = False  # only the exemplars of the current space are embedded
    embedded: Embedded | None = None
    by_column: Columns | None = None  # built when the first sample with missing values comes
    centre: Array = field(default_factory=lambda: np.zeros(0))  # subtracted before rounding to single precision

    @property
    def nbytes(self) -> int:
        """What its arrays take in memory."""
        parts = (self.L, self.embedded, self.by_column)
        return sum(part.nbytes for part in parts if part is not None)

    def refresh(self, memory: Memory, classes: int, centre: Array) -> None:
        """Embed the memory again after it or the metric changed."""
        self.centre = centre[self.columns]
        Z = self._centred(memory) @ self.L.T.astype(np.float32)
        y = memory.y[memory.recent] if self.recent else memory.y
        self.embedded = Embedded.build(np.clip(Z, -FARTHEST, FARTHEST, out=Z), y, classes)
        self.by_column = None

    def _centred(self, memory: Memory) -> Array32:
        whole = len(self.columns) == memory.X.shape[1]  # then they are all of them, in order: no copy
        X = memory.X if whole else memory.X[:, self.columns]
        X = X[memory.recent] if self.recent else X
        return np.asarray(X - self.centre.astype(np.float32))

    def embed(self, X: Array, there: Mask | None = None) -> Array32:
        """Embedding (n, k) of samples of the whole space; a missing value counts as the centre."""
        centred = X[:, self.columns] - self.centre
        if there is not None:
            centred *= there
        Z = stable_product(centred.astype(np.float32), self.L.astype(np.float32))
        return np.clip(Z, -FARTHEST, FARTHEST, out=Z)

    def distances(self, X: Array, present: Mask, memory: Memory, neighbours: int) -> Array:
        """Distance (n, C) to every class; columns that a sample lacks are left out on both sides."""
        assert self.embedded is not None  # noqa: S101  a view is refreshed before it is asked
        there = present[:, self.columns]
        whole = there.all(axis=1)
        if whole.all():
            return self.embedded.class_distances(self.embed(X), neighbours)
        by_column, Q = self.columns_of(memory), self.embed(X, there)
        if not whole.any():
            return by_column.class_distances(Q, there, neighbours)
        out, part = np.empty((len(X), self.embedded.classes)), ~whole
        out[whole] = self.embedded.class_distances(Q[whole], neighbours)
        out[part] = by_column.class_distances(Q[part], there[part], neighbours)
        return out

    def columns_of(self, memory: Memory) -> Columns:
        """The embedded memory column by column, built on first use."""
        assert self.embedded is not None  # noqa: S101  a view is refreshed before it is asked
        if self.by_column is None:
            self.by_column = Columns.build(self.embedded, self._centred(memory), self.L)
        return self.by_column


@dataclass(slots=True)
class RunningAccuracy:
    """Recent prequential accuracy of a view."""

    hits: float = 0.0  # discounted: right ones and all
    trials: float = 0.0

    def record(self, scores: Array, y: Index) -> None:
        """Update with the scores of labelled samples that were not learnt yet."""
        kept = discount(len(y))
        self.hits = kept * self.hits + float((scores.argmax(axis=1) == y).sum())
        self.trials = kept * self.trials + len(y)

    @property
    def score(self) -> float | None:
        """Discounted share of right predictions; None before the first."""
        return self.hits / self.trials if self.trials > 0.0 else None


@dataclass(slots=True)
class Pooling:
    """Weights of the views, learnt online."""

    w: Array  # (V,)
    curvature: Array  # (V, V)

    @classmethod
    def start(cls, *weights: float) -> Self:
        """Initial weights, with little inertia."""
        return cls(np.array(weights), np.eye(len(weights)) * BELIEF / max(1, len(weights)))

    def logits(self, scores: list[Array]) -> Array:
        """Pooled logits (n, C)."""
        pooled = self.w[0] * scores[0]
        for weight, score in zip(self.w[1:], scores[1:], strict=True):
            pooled = pooled + weight * score
        return np.asarray(pooled)

    def update(self, scores: list[Array], y: Index, steps: int = 1) -> None:
        """Newton steps on the log loss of one batch, damped by the curvature of the batches before."""
        S = np.stack(scores)  # (V, n, C)
        past, before = self.curvature * discount(len(y)), self.w.copy()
        for _ in range(steps):
            p = softmax(self.logits(scores))
            expected = np.einsum("nc,vnc->vn", p, S)
            gradient = expected.sum(axis=1) - S[:, np.arange(len(y)), y].sum(axis=1) + past @ (self.w - before)
            spread = S - expected[:, :, None]
            self.curvature = past + np.einsum("nc,vnc,unc->vu", p, spread, spread)
            step = np.linalg.solve(self.curvature + RIDGE * np.eye(len(self.w)), gradient)
            # Where the softmax is flat a Newton step can be arbitrary: one update at most halves or doubles a weight.
            self.w = np.clip(self.w - step, np.maximum(before / 2, LIGHTEST), np.minimum(before * 2, HEAVIEST))

    @property
    def shares(self) -> Array:
        """Weights that add up to one."""
        return np.asarray(self.w / max(float(self.w.sum()), TINY))


def discount(labels: int) -> float:
    """What the past counts after so many more labels, however they were cut into batches."""
    return float(FORGET ** (labels / 32))


def softmax(logits: Array) -> Array:
    """Probabilities (..., C)."""
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def log_losses(logits: Array, y: Index) -> Array:
    """Log loss (..., n) of each sample: what candidates of a metric are compared by."""
    return np.asarray(-np.log(np.maximum(softmax(logits)[..., np.arange(len(y)), y], 1e-12)))
