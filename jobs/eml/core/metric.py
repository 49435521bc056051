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

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eml.core.arrays import Array, Index

EXPLODED = 1e3  # a step that grows the metric's norm by more than this factor is refused


@dataclass(frozen=True, slots=True)
class Ties:
    """Weighted edges of one side: to samples of the same embedding, and to those of the other one."""

    pull: Array  # (n, n) Laplacian of the (P, Q) edges within this side
    push: Array  # (n, n) Laplacian of the (P, K) edges within this side
    cross_pull: Array | None = None  # (n, n) weights from this side's rows to the other's
    cross_push: Array | None = None

    def implicit(self) -> Array:
        """A (n, n): the part that is quadratic and convex in this side's metric."""
        return self.pull if self.cross_pull is None else self.pull + np.diag(self.cross_pull.sum(axis=1))

    def explicit(self, Z: Array, other: Array | None = None) -> Array:
        """R (n, k): the part taken at the last metric; `Z` and `other` are the two embeddings."""
        R = self.push @ Z
        if self.cross_pull is not None and self.cross_push is not None and other is not None:
            R += self.cross_pull @ other + self.cross_push.sum(axis=1)[:, None] * Z - self.cross_push @ other
        return R

    def gradient(self, X: Array, Z: Array, other: Array | None = None) -> Array:
        """Gradient (k, d) of half the sum of pulls minus pushes with respect to this side's metric."""
        return np.asarray((self.implicit() @ Z - self.explicit(Z, other)).T @ X)


def laplacian(rows: Index, columns: Index, weights: Array, n: int) -> Array:
    """Laplacian (n, n) of undirected edges."""
    W = edges(rows, columns, weights, n)
    W += W.T
    degree = W.sum(axis=1)
    np.negative(W, out=W)
    W.flat[:: n + 1] += degree
    return W


def edges(rows: Index, columns: Index, weights: Array, n: int) -> Array:
    """Weights (n, n) of directed edges; plans of several pairs that share an edge add up."""
    summed = np.bincount((rows * n + columns).ravel(), weights.ravel(), n * n)
    return np.asarray(summed, dtype=np.float64).reshape(n, n)


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
    on the size of the step is computed once.
    """

    def __init__(self, L: Array, X: Array, A: Array, R: Array, H: tuple[Array, Array]) -> None:
        self.L, self.toward = L, R.T @ X  # (k, d)
        self.V, self.h = H
        self.narrow = X.shape[1] <= len(X) + len(self.V)
        if self.narrow:
            self.S = X.T @ (A @ X)  # (d, d)
            self.low_rank = np.eye(X.shape[1]) + (self.V.T * self.h) @ self.V
            trace, square = float(np.trace(self.S)), float((self.S * self.S).sum())
        else:
            self.A, self.basis = A, np.vstack([X, self.V])
            self.gram = self.basis @ self.basis.T  # (n + k, n + k)
            AK = A @ self.gram[: len(X), : len(X)]
            trace, square = float(np.trace(AK)), float((AK * AK.T).sum())
        # Typical eigenvalue of X'AX; the plain mean would let directions without data inflate the step.
        self.unit = square / trace if trace > 0.0 else 0.0

    def __call__(self, gamma: float) -> Array:
        """L after a step of size `gamma`, which has no unit."""
        if not self.unit > 0.0:
            return self.L
        g = gamma / self.unit
        target = self.L + g * self.toward
        if self.narrow:
            inverted = linalg.solve(self.low_rank + g * self.S, target.T, assume_a="pos", check_finite=False)
            return np.asarray(inverted.T)
        weights = linalg.block_diag(g * self.A, np.diag(self.h))
        inner = np.eye(len(weights)) + weights @ self.gram
        correction = np.linalg.solve(inner, weights @ (self.basis @ target.T))  # (n + k, k)
        return np.asarray(target - (self.basis.T @ correction).T)


def acceptable(new: Array, old: Array) -> bool:
    """Whether an updated metric may replace the last good one."""
    norm = float(np.linalg.norm(new))
    return bool(np.isfinite(norm)) and 0.0 < norm < EXPLODED * float(np.linalg.norm(old))
