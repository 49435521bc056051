"""Every gradient of the paper's terms, by differences of the smoothed objective with plans solved anew.

By the envelope theorem the plans count as constants in a gradient of the smoothed distance; the differences here
do not assume it: they solve every pair again, one by one, by another solver (POT's for single pairs).
"""

from dataclasses import dataclass

import numpy as np
import ot
import pytest

from eml.core import transport
from eml.core.metric import Ties
from eml.core.stages import Hinge, Objective, hinges, own_ties, tied
from eml.core.triplets import Triplets
from tests.unit.core.helpers import Values

K, DA, DS, M, T, N = 2, 4, 3, 3, 5, 9
SIGMA = 2.0  # absolute here, and ample: the solvers converge at once
RHO = 0.7
ALL_ACTIVE, ALL_INACTIVE = 100.0, -100.0  # margins far beyond any distance here


@dataclass
class Problem:
    Xa: Values
    Xs: Values
    La: Values
    Ls: Values
    triplets: Triplets

    @property
    def Za(self) -> Values:
        return np.asarray(self.Xa @ self.La.T)

    @property
    def Zs(self) -> Values:
        return np.asarray(self.Xs @ self.Ls.T)


@pytest.fixture
def problem(monkeypatch) -> Problem:
    monkeypatch.setattr(transport, "TOLERANCE", 1e-15)
    monkeypatch.setattr(transport.solve, "__defaults__", (5000,))  # iterations
    random = np.random.default_rng(11)
    Xa, Xs = 0.6 * random.normal(size=(N, DA)), 0.6 * random.normal(size=(N, DS))
    rows = [random.permutation(N) for _ in range(T)]
    triplets = Triplets(*(np.array([r[i * M : (i + 1) * M] for r in rows]) for i in range(3)))
    return Problem(Xa, Xs, random.normal(size=(K, DA)), random.normal(size=(K, DS)), triplets)


def solved(sides: list[tuple[Values, Values]], triplets: Triplets, margin: float) -> list[Hinge]:
    """The hinges as the learner computes them, smoothed by SIGMA whatever the size of the costs."""
    pairs = [
        ((Z[triplets.P][:, :, None] - other[columns][:, None]) ** 2).sum(axis=3)
        for Z, other in sides
        for columns in (triplets.Q, triplets.K)
    ]
    return hinges(sides, triplets, Objective(sigma=SIGMA / float(np.mean(pairs))), margin)


def smoothed(P: Values, Q: Values) -> float:
    """The smoothed distance of one pair, by POT's solver of one."""
    D = ((P[:, None] - Q[None]) ** 2).sum(axis=2)
    even = np.full(M, 1 / M)
    F = ot.sinkhorn(even, even, D, SIGMA, numItermax=5000, stopThr=1e-11)
    return float((D * F).sum() + SIGMA * (F * np.log(F)).sum())


def half_loss(Z: Values, other: Values, triplets: Triplets, margin: float) -> float:
    """Half the mean hinge over the triplets, P embedded by `Z`, Q and K by `other`."""
    slacks = [
        margin + smoothed(Z[p], other[q]) - smoothed(Z[p], other[k])
        for p, q, k in zip(triplets.P, triplets.Q, triplets.K, strict=True)
    ]
    return float(np.maximum(slacks, 0.0).mean()) / 2


def between(p: Problem, Z: Values, other: Values) -> float:
    """A margin at which some triplets are active and some are not, none on the edge."""
    slacks = sorted(
        smoothed(Z[a], other[b]) - smoothed(Z[a], other[c])
        for a, b, c in zip(p.triplets.P, p.triplets.Q, p.triplets.K, strict=True)
    )
    return -(slacks[T // 2 - 1] + slacks[T // 2]) / 2


def same_gradient(loss, gradient: Values, at: Values, h: float = 1e-5) -> None:
    numerical = np.empty_like(at)
    for place in np.ndindex(at.shape):
        moved = np.zeros_like(at)
        moved[place] = h
        numerical[place] = (loss(at + moved) - loss(at - moved)) / (2 * h)
    assert np.abs(numerical).max() > 1e-2  # there is something to be compared
    np.testing.assert_allclose(gradient, numerical, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("margin", [ALL_ACTIVE, None], ids=["all active", "some active"])
def test_gradient_of_the_own_hinge(problem, margin):
    p = problem
    margin = between(p, p.Za, p.Za) if margin is None else margin
    (own,) = solved([(p.Za, p.Za)], p.triplets, margin)
    assert own.active.sum() == (T if margin == ALL_ACTIVE else T - T // 2)
    gradient = own_ties(own, p.triplets, N).gradient(p.Xa, p.Za)
    same_gradient(lambda L: half_loss(p.Xa @ L.T, p.Xa @ L.T, p.triplets, margin), gradient, p.La)


@pytest.mark.parametrize("margin", [ALL_ACTIVE, None], ids=["all active", "some active"])
@pytest.mark.parametrize("side", ["La", "Ls"])
@pytest.mark.parametrize("which", ["first", "second"])
def test_gradient_of_a_consistency_hinge(problem, which, side, margin):
    p = problem
    P, QK = (p.Za, p.Zs) if which == "first" else (p.Zs, p.Za)
    margin = between(p, P, QK) if margin is None else margin
    (hinge,) = solved([(P, QK)], p.triplets, margin)
    assert hinge.active.sum() == (T if margin == ALL_ACTIVE else T - T // 2)
    (absent,) = solved([(P, QK)], p.triplets, ALL_INACTIVE)
    nothing = Ties(np.zeros((N, N)), np.zeros((N, N)))
    begins_here = (which == "first") == (side == "La")  # this side's P against the other's Q and K
    first, second = (hinge, absent) if begins_here else (absent, hinge)
    ties = tied(nothing, first, second, p.triplets, RHO)
    if side == "La":
        X, L, Z, other = p.Xa, p.La, p.Za, p.Zs
    else:
        X, L, Z, other = p.Xs, p.Ls, p.Zs, p.Za

    def loss(moved: Values) -> float:
        mine = X @ moved.T
        return RHO * half_loss(*((mine, other) if begins_here else (other, mine)), p.triplets, margin)

    same_gradient(loss, ties.gradient(X, Z, other), L)


@pytest.mark.parametrize("side", ["La", "Ls"])
def test_gradient_of_the_whole_objective_of_a_side(problem, side):
    p = problem
    sides = [(p.Za, p.Za), (p.Zs, p.Zs), (p.Za, p.Zs), (p.Zs, p.Za)]
    margin = 0.5 * float(np.median([h.far.linear for h in solved(sides, p.triplets, 0.0)]))
    own_a, own_s, a_to_s, s_to_a = solved(sides, p.triplets, margin)
    if side == "La":
        ties = tied(own_ties(own_a, p.triplets, N), a_to_s, s_to_a, p.triplets, RHO)
        X, L, Z, other = p.Xa, p.La, p.Za, p.Zs
    else:
        ties = tied(own_ties(own_s, p.triplets, N), s_to_a, a_to_s, p.triplets, RHO)
        X, L, Z, other = p.Xs, p.Ls, p.Zs, p.Za

    def loss(moved: Values) -> float:
        mine = X @ moved.T
        cross = half_loss(mine, other, p.triplets, margin) + half_loss(other, mine, p.triplets, margin)
        return half_loss(mine, mine, p.triplets, margin) + RHO * cross

    same_gradient(loss, ties.gradient(X, Z, other), L)


# -- the corrected G1 to G8, literally -----------------------------------------------------------------------------


def diag_form(X: Values, weights: Values) -> Values:
    return np.asarray(X.T @ np.diag(weights) @ X)


def S(P: Values, Q: Values, F: Values) -> Values:
    crossed = P.T @ F @ Q
    return np.asarray(diag_form(P, F.sum(axis=1)) + diag_form(Q, F.sum(axis=0)) - crossed - crossed.T)


@pytest.mark.parametrize("margin", [ALL_ACTIVE, None], ids=["all active", "some active"])
def test_the_blocks_of_the_laplacian_are_the_papers_matrices(problem, margin):
    p, t = problem, problem.triplets
    margin = between(p, p.Za, p.Zs) if margin is None else margin
    sides = [(p.Za, p.Za), (p.Zs, p.Zs), (p.Za, p.Zs), (p.Zs, p.Za)]
    own_a, own_s, first, second = solved(sides, t, margin)
    ties_a = tied(own_ties(own_a, t, N), first, second, t, RHO)
    ties_s = tied(own_ties(own_s, t, N), second, first, t, RHO)
    gradient_a, gradient_s = np.zeros((K, DA)), np.zeros((K, DS))
    for i in range(T):
        Pa, Qa, Ka = p.Xa[t.P[i]], p.Xa[t.Q[i]], p.Xa[t.K[i]]
        Ps, Qs, Ks = p.Xs[t.P[i]], p.Xs[t.Q[i]], p.Xs[t.K[i]]
        F1, F2, F3, F4 = first.near.F[i], first.far.F[i], second.near.F[i], second.far.F[i]
        nu1, nu2, nu3, nu4 = (F.sum(axis=0) for F in (F1, F2, F3, F4))
        G1 = S(Pa, Qa, own_a.near.F[i]) - S(Pa, Ka, own_a.far.F[i])
        G2 = diag_form(Qa, nu3) - diag_form(Ka, nu4)
        G3 = Ks.T @ F2.T @ Pa - Qs.T @ F1.T @ Pa
        G4 = Ps.T @ F4 @ Ka - Ps.T @ F3 @ Qa
        G5 = S(Ps, Qs, own_s.near.F[i]) - S(Ps, Ks, own_s.far.F[i])
        G6 = Pa.T @ F2 @ Ks - Pa.T @ F1 @ Qs
        G7 = diag_form(Qs, nu1) - diag_form(Ks, nu2)
        G8 = Ka.T @ F4.T @ Ps - Qa.T @ F3.T @ Ps
        on_a, on_s, on_1, on_2 = own_a.active[i], own_s.active[i], first.active[i], second.active[i]
        gradient_a += on_a * p.La @ G1 + RHO * (on_2 * p.La @ G2 + on_1 * p.Ls @ G3 + on_2 * p.Ls @ G4)
        gradient_s += on_s * p.Ls @ G5 + RHO * (on_1 * p.La @ G6 + on_1 * p.Ls @ G7 + on_2 * p.La @ G8)
    np.testing.assert_allclose(ties_a.gradient(p.Xa, p.Za, p.Zs), gradient_a / T, atol=1e-10)
    np.testing.assert_allclose(ties_s.gradient(p.Xs, p.Zs, p.Za), gradient_s / T, atol=1e-10)


def test_the_own_quadratic_forms_are_the_papers_matrices(problem):
    p, t = problem, problem.triplets
    (own,) = solved([(p.Za, p.Za)], t, ALL_ACTIVE)
    ties = own_ties(own, t, N)
    pull = sum(S(p.Xa[t.P[i]], p.Xa[t.Q[i]], own.near.F[i]) for i in range(T)) / T
    push = sum(S(p.Xa[t.P[i]], p.Xa[t.K[i]], own.far.F[i]) for i in range(T)) / T
    np.testing.assert_allclose(p.Xa.T @ ties.pull @ p.Xa, pull, atol=1e-12)
    np.testing.assert_allclose(p.Xa.T @ ties.push @ p.Xa, push, atol=1e-12)
    assert np.linalg.eigvalsh(ties.pull.toarray()).min() > -1e-12
    assert np.linalg.eigvalsh(ties.push.toarray()).min() > -1e-12


def test_the_trace_of_the_own_form_is_the_transport_cost(problem):
    p, t = problem, problem.triplets
    (own,) = solved([(p.Za, p.Za)], t, ALL_ACTIVE)
    ties = own_ties(own, t, N)
    np.testing.assert_allclose(np.trace(p.Za.T @ ties.pull @ p.Za), own.near.linear.mean())
    np.testing.assert_allclose(np.trace(p.Za.T @ ties.push @ p.Za), own.far.linear.mean())


def test_an_inactive_hinge_contributes_nothing(problem):
    p, t = problem, problem.triplets
    own, first, second = solved([(p.Za, p.Za), (p.Za, p.Zs), (p.Zs, p.Za)], t, ALL_INACTIVE)
    ties = tied(own_ties(own, t, N), first, second, t, RHO)
    assert ties.cross_pull is not None
    assert ties.cross_push is not None
    assert own.loss == first.loss == second.loss == 0.0
    assert not any(part.toarray().any() for part in (ties.pull, ties.push, ties.cross_pull, ties.cross_push))
    assert not ties.gradient(p.Xa, p.Za, p.Zs).any()


def test_repeated_triplets_change_no_average(problem):
    p, t = problem, problem.triplets
    twice = Triplets(*(np.concatenate([side, side]) for side in (t.P, t.Q, t.K)))
    once_ties, twice_ties = (own_ties(solved([(p.Za, p.Za)], u, ALL_ACTIVE)[0], u, N) for u in (t, twice))
    np.testing.assert_allclose(twice_ties.pull.toarray(), once_ties.pull.toarray(), atol=1e-12)
    np.testing.assert_allclose(twice_ties.push.toarray(), once_ties.push.toarray(), atol=1e-12)
