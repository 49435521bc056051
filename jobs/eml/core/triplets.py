"""Triplets of signatures: which samples pull together and which push apart.

Called by `stages` with the distances of the anchors to a pool of labelled samples.

The paper does not say how signatures are drawn. Drawn from whole classes they pull the clusters of a class together,
which nearest neighbours do not need and which costs accuracy. Here they are local: P is an anchor with its nearest
samples of the same class, Q the next nearest of that class, K the nearest of all other classes. A triplet whose Q is
nearer than its K by the margin is satisfied and changes nothing, so the metric rests where neighbours are right.
"""

from dataclasses import dataclass

import numpy as np

from eml.core.arrays import Array, Index, nearest


@dataclass(frozen=True, slots=True)
class Triplets:
    """T triplets as rows of the pool, each signature of m samples (repeated where a class has fewer)."""

    P: Index  # (T, m) the anchor's side
    Q: Index  # (T, m) same class
    K: Index  # (T, m) other classes

    def __len__(self) -> int:
        return len(self.P)

    def compact(self) -> tuple["Triplets", Index]:
        """The same triplets over only the samples they involve, and the pool's rows of those."""
        involved, place = np.unique(np.stack([self.P, self.Q, self.K]), return_inverse=True)
        return Triplets(*place.reshape(3, *self.P.shape)), involved


def local_triplets(distances: Array, anchors: Index, labels: Index, m: int) -> Triplets:
    """One triplet per anchor for which the pool has samples of the same class and of others.

    `distances` (A, n): squared distances of the anchors to the pool; `anchors` (A,): their rows in
    the pool; `labels` (n,): class of each sample of the pool.
    """
    D = distances.copy()
    D[np.arange(len(anchors)), anchors] = 0.0
    parts = [_of_class(D, anchors, labels, int(c), m) for c in np.unique(labels[anchors])]
    return Triplets(*(np.concatenate([part[side] for part in parts]) for side in range(3)))


def _of_class(D: Array, anchors: Index, labels: Index, c: int, m: int) -> tuple[Index, Index, Index]:
    same, others = np.flatnonzero(labels == c), np.flatnonzero(labels != c)
    if len(same) < 2 or len(others) == 0:
        none = np.empty((0, m), dtype=np.intp)
        return none, none, none
    mine = D[labels[anchors] == c]
    near = same[nearest(mine[:, same], min(2 * m, len(same)))[0]]  # an anchor is its own nearest neighbour
    half = min(m, (near.shape[1] + 1) // 2)
    far = others[nearest(mine[:, others], min(m, len(others)))[0]]
    fill = np.arange(m)
    return near[:, fill % half], near[:, half + fill % (near.shape[1] - half)], far[:, fill % far.shape[1]]
