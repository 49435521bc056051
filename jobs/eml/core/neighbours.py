r"""Nearest neighbours in a metric's space: how far a sample is from every class.

Called by the views to score samples against the embedded memory; knows embeddings and classes only.

The distance to a class takes its r nearest exemplars $n_1, n_2, \dots$ and sums
$\frac{1}{j} \lVert z - \frac{1}{j}\sum_{i \le j} n_i \rVert^2$ over j = 1..r: the means of the nearest one,
two, ... exemplars, the nearest counting most [1]. It compares classes without a scale, and does not depend on
how many exemplars of each there are, as votes would.
The cheaper sum of $\frac{1}{j} \lVert z - n_j \rVert^2$ serves to compare candidates of a metric.

References
----------
[1] Gou, Zhan, Rao, Shen, Wang, He, Improved pseudo nearest neighbor classification,
    Knowledge-Based Systems 70, 2014.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from eml.core.arrays import Array, Array32, Index, packed, smallest, stable_product, unpacked

TINY = np.float32(1e-30)
FARTHEST = np.float32(1e15)  # squares of embeddings beyond overflow single precision
BLOCK = 64  # queries at a time: what they need stays in the processor's cache
EMPTY = 10.0  # a class without exemplars scores this far below the worst one that has some


@dataclass(frozen=True, slots=True)
class Embedded:
    """Exemplars in a metric's space, grouped by class."""

    T: Array32  # (k, M) columns sorted by class: predictions run along a row of them
    norms: Array32  # (M,)
    starts: Index  # (C + 1,) rows of class c: starts[c] to starts[c + 1]
    order: Index  # (M,) memory row of each embedded row

    @classmethod
    def build(cls, Z: Array32, labels: Index, classes: int) -> "Embedded":
        """Group embedded exemplars by class."""
        order = np.argsort(labels, kind="stable")
        T = np.ascontiguousarray(Z[order].T)
        starts = np.zeros(classes + 1, dtype=np.intp)
        np.cumsum(np.bincount(labels, minlength=classes), out=starts[1:])
        return cls(T, (T * T).sum(axis=0), starts, order)

    def __len__(self) -> int:
        return len(self.norms)

    @property
    def Z(self) -> Array32:
        """The same by rows (M, k)."""
        return self.T.T

    @property
    def nbytes(self) -> int:
        """What its arrays take in memory."""
        return self.T.nbytes + self.norms.nbytes + self.order.nbytes

    @property
    def classes(self) -> int:
        """How many classes it was built for."""
        return len(self.starts) - 1

    def class_distances(self, Q: Array32, neighbours: int) -> Array:
        """Distance (n, C) of queries Q (n, k) to every class; infinite where a class has no exemplar."""
        blocks = range(0, max(len(Q), 1), BLOCK)
        return np.concatenate([self._block_distances(Q[start : start + BLOCK], neighbours) for start in blocks])

    def _block_distances(self, Q: Array32, neighbours: int) -> Array:
        def gaps(found: Index) -> Array32:
            between = self.Z[found]  # (n, C, r, k)
            between -= Q[:, None, None, :]
            return between

        return self.to_classes(self.squared(stable_product(Q, self.Z), Q), gaps, neighbours)

    def to_classes(self, D: Array32, gaps: Callable[[Index], Array32], neighbours: int) -> Array:
        """Distance (n, C) to every class from squared distances D (n, M) to the exemplars.

        `gaps` gives the differences (n, c, r, k) between the samples and some exemplars (n, c, r) each.
        """
        keys = packed(D)
        counts = np.minimum(np.diff(self.starts), neighbours)
        out = np.full((len(D), self.classes), np.inf)
        for count in np.unique(counts[counts > 0]):  # most often all classes have as many as are asked for
            alike = np.flatnonzero(counts == count)
            slices = (keys[:, self.starts[c] : self.starts[c + 1]] for c in alike)
            found, _ = unpacked(np.stack([smallest(part, int(count)) for part in slices], axis=1))  # (n, alike, r)
            out[:, alike] = _to_means(gaps(found))
        return out

    def squared(self, products: Array32, Q: Array32) -> Array32:
        """Squared distances (n, M) from the products of Q (n, k) with the exemplars, in their place."""
        products *= -2.0
        products += (Q * Q).sum(axis=1)[:, None]
        products += self.norms
        return np.maximum(products, 0.0, out=products)


def held_out_distances(Z: Array32, labels: Index, rows: Index, neighbours: int) -> Array:
    """Cheaper distances (s, h, C) of some rows to every class under several embeddings Z (s, n, k), each left out."""
    order, classes = np.argsort(labels, kind="stable"), int(labels.max()) + 1
    Z, Q = Z[:, order], Z[:, rows]
    D = Q @ Z.transpose(0, 2, 1)
    D *= -2.0
    D += (Q * Q).sum(axis=2)[:, :, None]
    D += (Z * Z).sum(axis=2)[:, None, :]
    np.maximum(D, 0.0, out=D)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    D[:, np.arange(len(rows)), place[rows]] = np.inf
    starts = np.zeros(classes + 1, dtype=np.intp)
    np.cumsum(np.bincount(labels), out=starts[1:])
    counts = np.minimum(np.diff(starts), neighbours)
    out = np.full((*D.shape[:2], classes), np.inf)
    for count in np.unique(counts[counts > 0]):  # most often all classes have as many as are asked for
        alike = np.flatnonzero(counts == count)
        slices = (D[:, :, starts[c] : starts[c + 1]] for c in alike)
        near = np.stack([np.partition(part, count - 1, axis=2)[:, :, :count] for part in slices], axis=2)
        near.sort(axis=3)  # (s, h, alike, r)
        weights = (1.0 / np.arange(1, count + 1)).astype(np.float32)
        reached = np.isfinite(near[:, :, :, -1])  # where a row itself is among so few, it is the last
        near[~reached, -1] = 0.0
        total = np.where(reached, weights.sum(), weights[:-1].sum())
        out[:, :, alike] = np.where(total > 0.0, near @ weights / np.maximum(total, TINY), np.inf)
    return out


def _to_means(gaps: Array32) -> Array32:
    averages, ranks = _running_means(gaps.shape[2])
    means = averages @ gaps
    means *= means
    return np.asarray((means.sum(axis=3) / ranks).sum(axis=2) / (1 / ranks).sum())


@cache
def _running_means(r: int) -> tuple[Array32, Array32]:
    """The matrix (r, r) that takes rows to the means of the first one, two, ... of them, and these numbers."""
    ranks = np.arange(1, r + 1, dtype=np.float32)
    return np.tri(r, dtype=np.float32) / ranks[:, None], ranks


def log_scores(distances: Array) -> Array:
    """Scores (n, C) from distances: minus their logarithm, centred; far below for an empty class."""
    finite = np.isfinite(distances)
    scores = -np.log(np.maximum(np.where(finite, distances, 1.0), TINY))
    if not finite.all():
        lowest = np.where(finite, scores, np.inf).min(axis=1, keepdims=True)
        scores = np.where(finite, scores, np.where(np.isfinite(lowest), lowest, 0.0) - EMPTY)
    return np.asarray(scores - scores.mean(axis=1, keepdims=True))
