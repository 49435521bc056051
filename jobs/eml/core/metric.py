r"""The step of a metric: pairs that pull, pairs that push, and a safe way to follow both.

Called by `stages`; knows matrices, not classes or stages. A transport plan $F$ between the rows of two
embeddings is a set of weighted edges, and $\langle D, F\rangle = \sum_{ij} F_{ij} \lVert z_i - z'_j \rVert^2$.
Summed over all pairs of a batch, every quadratic form of the paper (G1 to G9) is then a block of one graph Laplacian:

    same space   tr(L X' Lap(W) X L')              Lap(W) = diag(W 1) - W, symmetric, positive semi-definite
    cross space  z' diag(W 1) z - 2 z' W z_other   only the degree is quadratic in this side's L

Edges of (P, Q) pull and are convex in L; edges of (P, K) push and are concave. The paper inverts
their difference, which is indefinite. Here the convex part is taken implicitly and the concave part at the last
L (convex-concave procedure), which always exists:

    L = (L_prev + g R' X) (I + lambda H + g X' A X)^{-1}
    A = Lap(pull) + diag(cross pull 1)                                        (n, n) positive semi-definite
    R = pull_cross Z_other + Lap(push) Z + diag(push_cross 1) Z - push_cross Z_other      (n, k)
"""

from copy import copy
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import lapack

from eml.core.arrays import Array, Index

Matrix: TypeAlias = Any  # an array, dense or sparse; scipy does not say its types

EXPLODED = 1e3  # a step that grows the metric's norm by more than this factor is refused


@dataclass(frozen=True, slots=True)
class Ties:
    """Weighted edges of one side: to samples of the same embedding, and to those of the other one."""

    pull: Matrix  # (n, n) Laplacian of the (P, Q) edges within this side
    push: Matrix  # (n, n) Laplacian of the (P, K) edges within this side
    cross_pull: Matrix | None = None  # (n, n) weights from this side's rows to the other's
    cross_push: Matrix | None = None

    def implicit(self) -> Matrix:
        """A (n, n): the part that is quadratic and convex in this side's metric."""
        return self.pull if self.cross_pull is None else self.pull + sparse.diags_array(self.cross_pull.sum(axis=1))

    def explicit(self, Z: Array, other: Array | None = None) -> Array:
        """R (n, k): the part taken at the last metric; `Z` and `other` are the two embeddings."""
        R = np.asarray(self.push @ Z)
        if self.cross_pull is not None and self.cross_push is not None and other is not None:
            R += self.cross_pull @ other + self.cross_push.sum(axis=1)[:, None] * Z - self.cross_push @ other
        return R

    def gradient(self, X: Array, Z: Array, other: Array | None = None) -> Array:
        """Gradient (k, d) of half the sum of pulls minus pushes with respect to this side's metric."""
        return np.asarray((self.implicit() @ Z - self.explicit(Z, other)).T @ X)


def laplacian(rows: Index, columns: Index, weights: Array, n: int) -> Matrix:
    """Laplacian (n, n) of undirected edges."""
    i, j, w, each = rows.ravel(), columns.ravel(), weights.ravel(), np.arange(n)
    degree = np.bincount(i, w, n) + np.bincount(j, w, n)
    return edges(np.concatenate([each, i, j]), np.concatenate([each, j, i]), np.concatenate([degree, -w, -w]), n)


def edges(rows: Index, columns: Index, weights: Array, n: int) -> Matrix:
    """Weights (n, n) of directed edges; plans of several pairs that share an edge add up."""
    return sparse.csr_array((weights.ravel(), (rows.ravel(), columns.ravel())), shape=(n, n))


def low_rank(L: Array) -> tuple[Array, Array]:
    r"""Factors (V (r, d), h (r,)) of $H = V' diag(h) V$, the weight that makes $tr(L H L')$ the trace norm of L.

    $H = (L'L)^{-1/2}$ on the row space of L only: outside it H would freeze directions, not remove them.
    Divided by the mean singular value so that lambda has no unit.
    """
    gram = L @ L.T  # (k, k), never (d, d)
    values, U = np.linalg.eigh(gram)
    keep = values > values[-1] * 1e-10
    s = np.sqrt(values[keep])
    V = (U[:, keep].T @ L) / s[:, None]
    return V, s.mean() / s if len(s) else s


def frobenius(L: Array) -> tuple[Array, Array]:
    """The ablation without low rank: the same shrinkage for every direction of the row space."""
    V, h = low_rank(L)
    return V, np.ones_like(h)


class SafeStep:
    """The step of L (k, d) over samples X (n, d) as a function of its size; `H` comes with lambda multiplied in.

    Everything in the inverse is identity plus rank n + k, so it is solved in the smaller of the two
    sizes: linear in d once d exceeds the samples (Woodbury), never a (d, d) matrix then. What does not depend
    on the size of the step is computed once. Only the Cholesky factor is made for each size: an eigendecomposition
    would serve all sizes, and costs as much as five to eight of them.
    """

    def __init__(self, L: Array, X: Array, A: Matrix, R: Array, H: tuple[Array, Array]) -> None:
        self.L, self.X, self.toward = L, X, R.T @ X  # (k, d)
        self.V, self.h = H
        self.narrow = X.shape[1] <= len(X) + len(self.V)
        if self.narrow:
            self.S = X.T @ (A @ X)  # (d, d)
            self.low_rank = (self.V.T * self.h) @ self.V
            self.low_rank.flat[:: X.shape[1] + 1] += 1.0
            trace, square = float(np.trace(self.S)), float((self.S * self.S).sum())
        else:
            self.A, self.basis = A.toarray() if sparse.issparse(A) else A, np.vstack([X, self.V])
            self.gram = self.basis @ self.basis.T  # (n + k, n + k)
            AK = A @ self.gram[: len(X), : len(X)]
            trace, square = float(np.trace(AK)), float((AK * AK.T).sum())
        # Typical eigenvalue of X'AX; the plain mean would let directions without data inflate the step.
        self.unit = square / trace if trace > 0.0 else 0.0

    def toward_other(self, R: Array) -> Self:
        """The same step with another explicit part R (n, k); what there is to solve stays."""
        step = copy(self)
        step.toward = R.T @ self.X
        return step

    def __call__(self, gamma: float) -> Array:
        """L after a step of size `gamma`, which has no unit."""
        if not self.unit > 0.0:
            return self.L
        g = gamma / self.unit
        target = self.L + g * self.toward
        if self.narrow:
            _, inverted, failed = lapack.dposv(
                (self.low_rank + g * self.S).T, target.T, overwrite_a=True, overwrite_b=True
            )
            return np.asarray(inverted.T) if failed == 0 else np.full_like(self.L, np.nan)  # nan: refused
        weights = linalg.block_diag(g * self.A, np.diag(self.h))
        inner = np.eye(len(weights)) + weights @ self.gram
        correction = np.linalg.solve(inner, weights @ (self.basis @ target.T))  # (n + k, k)
        return np.asarray(target - (self.basis.T @ correction).T)


def acceptable(new: Array, old: Array) -> bool:
    """Whether an updated metric may replace the last good one."""
    norm = float(np.linalg.norm(new))
    return bool(np.isfinite(norm)) and 0.0 < norm < EXPLODED * float(np.linalg.norm(old))
