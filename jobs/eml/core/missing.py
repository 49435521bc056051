r"""Distances of samples with missing values: both sides lose the columns that a sample does not have.

Called by a view for samples with missing values; knows columns, embeddings and classes, not what a column means.

Embedding the memory again without the missing columns would cost a pass over all of it per pattern. With
$l_i$ the columns of the metric, $e_i$ the values of an exemplar and $z_e = \sum_i l_i e_i$, $z_q$ their embeddings
(a missing value of the sample is 0), the distance without the columns $m$ is that with them and a correction:

$$ \lVert z_q - z_e + \sum_{i \in m} l_i e_i \rVert^2 = \lVert z_q - z_e \rVert^2
   + \sum_{i \in m} e_i (2 l_i z_q - 2 l_i z_e) + \sum_{i, j \in m} e_i (l_i l_j) e_j $$

Where fewer columns are present than missing, the sums run over the present ones (p):

$$ \lVert z_q - \sum_{i \in p} l_i e_i \rVert^2 = \lVert z_q \rVert^2
   - \sum_{i \in p} e_i (2 l_i z_q) + \sum_{i, j \in p} e_i (l_i l_j) e_j $$

They also do where the missing columns dominate so much that the difference would be rounding error only.
"""

import math
import threading
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from eml.core.arrays import TINY, Array, Array32, Index, Mask, stable_product
from eml.core.neighbours import BLOCK, FARTHEST, Embedded

TOO_MUCH = 0.99  # share of the mean square in missing columns beyond which their correction is mostly rounding error
ROUND = 4  # sums are filled up to a multiple of so many columns: most samples of a batch then have one of few shapes
AT_ONCE = 1 << 18  # values of the memory that are worked on together, for fewer calls of numpy


@dataclass(frozen=True, slots=True)
class Group:
    """Samples of a block with sums over equally many columns."""

    rows: slice
    columns: Index  # (n, s)
    by_missing: bool  # whether these are the columns that the samples lack, or those that they have


@dataclass(frozen=True, slots=True)
class Columns:
    """The embedded exemplars column by column; an empty column at the end fills up sums.

    Columns are scaled by the length of their direction in the embedding, so that no feature's unit can overflow.
    """

    embedded: Embedded
    L: Array32  # (d + 1, k) the direction of every column, of length 1
    E: Array32  # (d + 1, 2, M) every exemplar's e_i from the centre, and its 2 e_i (l_i z_e)
    share: Array  # (d,) of every column in the mean square of the exemplars

    @property
    def nbytes(self) -> int:
        """What its arrays take in memory, without the embedding."""
        return self.L.nbytes + self.E.nbytes

    @classmethod
    def build(cls, embedded: Embedded, X: Array32, L: Array) -> "Columns":
        """Columns of exemplars X (M, d), taken from the centre and in the memory's order, under the metric L (k, d)."""
        k, d = L.shape
        lengths = np.sqrt((L * L).sum(axis=0))
        directions, E = np.zeros((d + 1, k), dtype=np.float32), np.zeros((d + 1, 2, len(X)), dtype=np.float32)
        directions[:d] = (L / np.maximum(lengths, TINY)).T
        values, products = E[:, 0], E[:, 1]
        np.multiply(X[embedded.order].T, lengths.astype(np.float32)[:, None], out=values[:d])
        np.clip(values, -FARTHEST, FARTHEST, out=values)
        np.matmul(2.0 * directions, embedded.Z.T, out=products)
        products *= values
        squares = np.square(values[:d], dtype=np.float64).sum(axis=1)
        return cls(embedded, directions, E, squares / max(float(squares.sum()), TINY))

    def class_distances(self, Q: Array32, there: Mask, neighbours: int) -> Array:
        """Distance (n, C) to every class; Q (n, k) embeds 0 where a value is missing, `there` (n, d) is not."""
        starts = range(0, len(Q), BLOCK)
        blocks = [(Q[start : start + BLOCK], there[start : start + BLOCK]) for start in starts]
        return np.concatenate([self._block_distances(*block, neighbours) for block in blocks])

    def _block_distances(self, Q: Array32, there: Mask, neighbours: int) -> Array:
        order, groups = self._groups(there)
        Q = Q[order]
        D = self._uncorrected(Q, sum(len(group.columns) for group in groups if not group.by_missing))
        for group in groups:
            self._correct(D[group.rows], Q[group.rows], group)
        np.maximum(D, 0.0, out=D)

        def gaps(found: Index) -> Array32:
            Z = np.empty((*found.shape, Q.shape[1]), dtype=np.float32)
            for group in groups:
                self._embeddings(found[group.rows], group, Z[group.rows])
            Z -= Q[:, None, None, :]
            return Z

        out = np.empty((len(Q), self.embedded.classes))
        out[order] = self.embedded.to_classes(D, gaps, neighbours)
        return out

    def _groups(self, there: Mask) -> tuple[Index, list[Group]]:
        """An order of the rows, and groups of them: BLAS sums by shape, and a row's shape depends on that row alone."""
        d, absent = there.shape[1], ~there
        missing = np.count_nonzero(absent, axis=1)
        by_missing = (2 * missing <= d) & ((absent * self.share).sum(axis=1) <= TOO_MUCH)
        counts = np.where(by_missing, missing, d - missing)
        sizes = np.maximum(-(-counts // ROUND) * ROUND, ROUND)
        shapes = np.where(by_missing, sizes, -sizes)
        order = np.argsort(shapes, kind="stable")
        shapes = shapes[order]
        columns = np.full((len(there), int(sizes.max())), d)
        columns[np.arange(columns.shape[1]) < counts[order, None]] = np.nonzero((there ^ by_missing[:, None])[order])[1]
        groups: list[Group] = []
        start = 0
        for end in [*(np.flatnonzero(np.diff(shapes)) + 1).tolist(), len(shapes)]:
            size = abs(int(shapes[start]))
            step = max(1, AT_ONCE // (size * self.E.shape[2]))
            cuts = [*range(start, end, step), end]
            rows = (slice(*cut) for cut in pairwise(cuts))
            groups += [Group(part, columns[part, :size], bool(shapes[start] > 0)) for part in rows]
            start = end
        return order, groups

    def _uncorrected(self, Q: Array32, first: int) -> Array32:
        """What is to be corrected (n, M): squared distances from row `first` on, before it the squares of Q alone."""
        D = np.zeros((len(Q), self.E.shape[2]), dtype=np.float32)
        D[first:] = stable_product(-2.0 * Q[first:], self.embedded.Z)
        D[first:] += self.embedded.norms
        D += (Q * Q).sum(axis=1)[:, None]
        return D

    def _correct(self, D: Array32, Q: Array32, group: Group) -> None:
        """Add both sums over the columns of a group to D (n, M)."""
        (n, s), M, k = group.columns.shape, D.shape[1], Q.shape[1]
        L = self.L[group.columns]  # (n, s, k)
        E = np.take(self.E, group.columns, axis=0, out=_ROOMS.array(0, n, s, 2, M), mode="clip")
        values = E[:, :, 0]
        if s <= k:  # whichever product is smaller
            gram = L @ L.transpose(0, 2, 1)
            D += np.einsum("nsm,nsm->nm", np.matmul(gram, values, out=_ROOMS.array(1, n, s, M)), values)
        else:
            Z = np.matmul(L.transpose(0, 2, 1), values, out=_ROOMS.array(1, n, k, M))
            D += np.einsum("nkm,nkm->nm", Z, Z)
        factors = np.empty((n, s, 2), dtype=np.float32)  # of both parts of E
        np.matmul(L, (2.0 if group.by_missing else -2.0) * Q[:, :, None], out=factors[:, :, :1])
        factors[:, :, 1] = -1.0 if group.by_missing else 0.0
        D += (factors.reshape(n, 1, 2 * s) @ E.reshape(n, 2 * s, M))[:, 0]

    def _embeddings(self, found: Index, group: Group, out: Array32) -> None:
        """Embeddings (n, C, r, k) of exemplars (n, C, r) by the columns that the group's samples have."""
        n, stride = len(found), 2 * self.E.shape[2]
        places = (stride * group.columns)[:, None, :] + found.reshape(n, -1, 1)
        np.matmul(self.E.take(places), self.L[group.columns], out=out.reshape(n, -1, out.shape[3]))
        if group.by_missing:
            np.subtract(self.embedded.Z[found], out, out=out)


class _Rooms(threading.local):
    """Arrays to work in, used again and again: new pages from the system cost more than what is computed in them."""

    def __init__(self) -> None:
        self.kept = [np.empty(0, dtype=np.float32) for _ in range(2)]

    def array(self, number: int, *shape: int) -> Array32:
        """An array of this shape with anything in it, until the next of the same number is asked for."""
        size = math.prod(shape)
        if size > len(self.kept[number]):
            self.kept[number] = np.empty(size, dtype=np.float32)
        return self.kept[number][:size].reshape(shape)


_ROOMS = _Rooms()
