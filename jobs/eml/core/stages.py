r"""The paper's stages as steps of matrices: one metric alone, two tied metrics, and stacking.

Called by the learner with samples, classes and the metrics of the moment; calls `triplets`,
`transport` and `metric`. Keeps nothing between calls.

    improve      L over one space (Eq. 3; also L^z over the stacked space, Eq. 6)
    transform    L^a and L^s tied by both consistency hinges (T-stage, Eq. 4 and 5)
    distil       where L^s starts: the survivors' best linear account of L^a x^a
    principal    where a first metric and L^z start: the main directions of the samples
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eml.core import transport
from eml.core.arrays import TINY, Array, Index, squared_distances
from eml.core.metric import SafeStep, Ties, edges, frobenius, laplacian, low_rank
from eml.core.transport import Plans
from eml.core.triplets import Triplets, local_triplets


@dataclass(frozen=True, slots=True)
class Objective:
    """The weights of the paper's terms; all without units, the same for every data set."""

    sigma: float = 0.1  # smoothing, relative to the mean cost of the pairs
    margin: float = 0.3  # hinge margin, relative to the median distance to other classes
    rho: float = 0.3  # weight of the consistency hinges against the own hinge
    lam: float = 1e-3  # weight of the low-rank term
    signature: int = 4  # samples in a signature
    wasserstein: bool = True  # False: plain mean distances (ablation)
    low_rank: bool = True  # False: Frobenius norm in place of the trace norm (ablation)

    def plans(self, D: Array) -> Plans:
        """Transport plans of many pairs, or uniform ones in the ablation."""
        return transport.solve(D, self.sigma) if self.wasserstein else transport.uniform(D)

    def regulariser(self, L: Array) -> tuple[Array, Array]:
        """Lambda H in factors."""
        V, h = (low_rank if self.low_rank else frobenius)(L)
        return V, self.lam * h


@dataclass(frozen=True, slots=True)
class Hinge:
    """One hinge over T triplets: $[margin + W(P, Q) - W(P, K)]_+$, each with its own plans."""

    near: Plans
    far: Plans
    active: Array  # (T,) 1 where the hinge is active
    loss: float  # mean over the triplets


def pair_costs(Z: Array, rows: Index, other: Array, columns: Index) -> Array:
    """Costs (T, m, m) between signatures of two embeddings."""
    P, Q = Z[rows], other[columns]  # (T, m, k)
    D = (P * P).sum(axis=2)[:, :, None] + (Q * Q).sum(axis=2)[:, None, :] - 2.0 * (P @ Q.transpose(0, 2, 1))
    return np.asarray(np.maximum(D, 0.0))


def hinges(
    sides: list[tuple[Array, Array]], triplets: Triplets, objective: Objective, margin: float | None = None
) -> list[Hinge]:
    """One hinge per (embedding of P, embedding of Q and K); all their pairs are solved in one go.

    The margin is relative to the first side's median distance to other classes unless it is given.
    """
    costs = [pair_costs(Z, triplets.P, other, columns) for Z, other in sides for columns in (triplets.Q, triplets.K)]
    plans = objective.plans(np.concatenate(costs))
    parts = [plans.part(i * len(triplets), (i + 1) * len(triplets)) for i in range(len(costs))]
    gap = objective.margin * float(np.median(parts[1].linear)) if margin is None else margin
    return [_hinge(near, far, gap) for near, far in zip(parts[::2], parts[1::2], strict=True)]


def _hinge(near: Plans, far: Plans, margin: float) -> Hinge:
    slack = margin + near.value - far.value
    return Hinge(near, far, (slack > 0.0).astype(np.float64), float(np.maximum(slack, 0.0).mean()))


def own_ties(h: Hinge, triplets: Triplets, n: int) -> Ties:
    """Edges of a hinge within one embedding, averaged over the triplets."""
    weight = h.active[:, None, None] / len(triplets)
    return Ties(
        pull=laplacian(*_grid(triplets.P, triplets.Q), h.near.F * weight, n),
        push=laplacian(*_grid(triplets.P, triplets.K), h.far.F * weight, n),
    )


def tied(own: Ties, first: Hinge, second: Hinge, triplets: Triplets, rho: float) -> Ties:
    """`own` with the edges of both consistency hinges, seen from this side.

    `first` has this side's P against the other's Q and K; `second` the other's P against this side's Q and K,
    so its plans are read backwards.
    """
    n = own.pull.shape[0]
    one, two = (rho * h.active[:, None, None] / len(triplets) for h in (first, second))
    (p_q, q), (p_k, k) = _grid(triplets.P, triplets.Q), _grid(triplets.P, triplets.K)
    return Ties(
        own.pull,
        own.push,
        cross_pull=edges(p_q, q, first.near.F * one, n) + edges(q, p_q, second.near.F * two, n),
        cross_push=edges(p_k, k, first.far.F * one, n) + edges(k, p_k, second.far.F * two, n),
    )


def _grid(rows: Index, columns: Index) -> tuple[Index, Index]:
    shape = (*rows.shape, columns.shape[1])
    return np.broadcast_to(rows[:, :, None], shape), np.broadcast_to(columns[:, None, :], shape)


def improve(
    L: Array, X: Array, y: Index, anchors: Index, gammas: tuple[float, ...], objective: Objective
) -> list[Array]:
    """Candidates for the next L, one per step size; none where every triplet is satisfied already."""
    Z = X @ L.T  # (n, k)
    triplets = local_triplets(squared_distances(Z[anchors], Z), anchors, y, objective.signature)
    if len(triplets) == 0:
        return []
    triplets, involved = triplets.compact()
    X, Z = X[involved], Z[involved]
    (own,) = hinges([(Z, Z)], triplets, objective)
    share = own.active.mean()  # of violated triplets: passive where little is wrong
    if share == 0.0:
        return []
    step = _step(L, X, own_ties(own, triplets, len(X)), Z, None, objective)
    return [_same_size(step(gamma * share), L) for gamma in gammas]


def transform(
    La: Array,
    Ls: Array,
    Xa: Array,
    Xs: Array,
    y: Index,
    anchors: Index,
    gammas: tuple[float, ...],
    objective: Objective,
) -> list[tuple[Array, Array]]:
    """Candidates for the next L^a and L^s, one pair per step size: a T-stage step, L^a first, then L^s."""
    Za, Zs = Xa @ La.T, Xs @ Ls.T
    triplets = local_triplets(squared_distances(Za[anchors], Za), anchors, y, objective.signature)
    if len(triplets) == 0:
        return []
    triplets, involved = triplets.compact()
    Xa, Xs, Za, Zs = Xa[involved], Xs[involved], Za[involved], Zs[involved]
    n = len(involved)
    own_a, own_s, a_to_s, s_to_a = t_hinges(Za, Zs, triplets, objective)
    ties_a = tied(own_ties(own_a, triplets, n), a_to_s, s_to_a, triplets, objective.rho)
    ties_s = tied(own_ties(own_s, triplets, n), s_to_a, a_to_s, triplets, objective.rho)
    step_a, step_s = _step(La, Xa, ties_a, Za, Zs, objective), _step(Ls, Xs, ties_s, Zs, Za, objective)
    candidates = []
    for gamma in gammas:
        La_new = step_a(gamma * own_a.active.mean())
        stepped = step_s.toward_other(ties_s.explicit(Zs, Xa @ La_new.T))
        size = np.linalg.norm(La) / max(float(np.linalg.norm(La_new)), TINY)
        Ls_new = stepped(gamma * own_s.active.mean())
        candidates.append((La_new * size, Ls_new * size))  # one factor: the two stay in one space
    return candidates


def t_hinges(Za: Array, Zs: Array, triplets: Triplets, objective: Objective) -> list[Hinge]:
    """Own hinges of both spaces and both consistency hinges, with one margin (Eq. 4 and 5)."""
    return hinges([(Za, Za), (Zs, Zs), (Za, Zs), (Zs, Za)], triplets, objective)


def _step(L: Array, X: Array, ties: Ties, Z: Array, other: Array | None, objective: Objective) -> SafeStep:
    return SafeStep(L, X, ties.implicit(), ties.explicit(Z, other), objective.regulariser(L))


def _same_size(new: Array, old: Array) -> Array:
    """Neighbours do not see the size of a metric; keeping it stops a slow drift to zero or infinity."""
    norm = np.linalg.norm(new)
    return new * (np.linalg.norm(old) / norm) if norm > 0.0 else new


def distil(La: Array, Xa: Array, survived: Index, ridge: float = 0.1) -> tuple[Array, Array]:
    """L^s to start the T-stage from, and how well the survivors account for each vanished feature.

    L^s is L^a on the survivors plus what they tell of the vanished part, by ridge regression:
    the least-squares form of the consistency terms. The account is the share of variance
    explained, in [0, 1], of every vanished feature in the order of the old space.
    """
    vanished = np.setdiff1d(np.arange(Xa.shape[1]), survived)
    Xs, Xv = Xa[:, survived], Xa[:, vanished]
    if len(vanished) == 0 or len(Xa) < 2 or len(survived) == 0:
        return La[:, survived].copy(), np.zeros(len(vanished))
    centred_v, deviation = Xv - Xv.mean(axis=0), Xs.std(axis=0)
    unit = np.where(deviation > 0.0, 1.0 / np.where(deviation > 0.0, deviation, 1.0), 0.0)
    standard = (Xs - Xs.mean(axis=0)) * unit  # a ridge means the same for every feature only on one scale
    predict = _ridge(standard, ridge)
    vanished_part = centred_v @ La[:, vanished].T  # (n, k)
    Ls = La[:, survived] + predict(vanished_part).T * unit
    left = centred_v - standard @ predict(centred_v)
    variance = (centred_v**2).sum(axis=0)
    explained = 1.0 - np.divide((left**2).sum(axis=0), variance, out=np.ones_like(variance), where=variance > 0.0)
    return Ls, np.clip(explained, 0.0, 1.0)


def _ridge(X: Array, ridge: float) -> Callable[[Array], Array]:
    """Ridge regression on X, solved in the smaller of samples and features."""
    n, d = X.shape
    weight = ridge * float((X * X).sum()) / min(n, d) + TINY
    if d <= n:
        primal = linalg.cho_factor(X.T @ X + weight * np.eye(d))
        return lambda Y: np.asarray(linalg.cho_solve(primal, X.T @ Y))
    dual = linalg.cho_factor(X @ X.T + weight * np.eye(n))
    return lambda Y: np.asarray(X.T @ linalg.cho_solve(dual, Y))


def principal(X: Array, rank: int) -> Array:
    """Orthonormal rows (k, d) that keep most of X (n, d): all of the space where it fits, k <= rank otherwise."""
    d = X.shape[1]
    if d <= rank:
        return np.eye(d)
    _, _, V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    V = V[:rank]
    signs = np.sign(V[np.arange(len(V)), np.abs(V).argmax(axis=1)])
    return np.asarray(V * signs[:, None])
