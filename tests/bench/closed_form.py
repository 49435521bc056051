r"""The safe step against the paper's closed form as printed, on the same samples, triplets and plans.

The paper updates (its twelfth equation; the eighth without the other space is the same with G1 for G9)

$$ L_t = L_{t-1} (I + \lambda H + \gamma G)^{-1} $$
$$ G = Q' diag(1'F) Q - K' diag(1'F) K - P'FQ - Q'F'P + P'FK + K'F'P $$

with every matrix d x d. Two readings are needed to run it at all: each pair has its own plan F (the paper writes one
for all), and H is $(L'L)^{-1/2}$ with a ridge (the printed $(LL')^{-1/2}$ is k x k and does not fit the product).
The sums over triplets are one product each, as fast as numpy can form them.

References
----------
[1] Dong et al., Evolving Metric Learning for Incremental and Decremental Features.
"""

from dataclasses import dataclass

import numpy as np

from eml.core import LearnerConfig, stages
from eml.core.arrays import Array, squared_distances
from eml.core.metric import SafeStep
from eml.core.stages import Hinge, Objective
from eml.core.triplets import Triplets, local_triplets
from tests.bench.measure import Comparison, in_turn, milliseconds
from tests.bench.streams import mixture

GAMMA = 0.1
RIDGE = 1e-6  # relative to the largest eigenvalue of L'L, whose rank is k < d


@dataclass(frozen=True, slots=True)
class Problem:
    """What both forms are given: everything up to the step itself."""

    L: Array  # (k, d)
    X: Array  # (n, d) the samples that are in a triplet
    Z: Array  # (n, k)
    triplets: Triplets
    hinge: Hinge
    objective: Objective


def problem(d: int, config: LearnerConfig, objective: Objective, seed: int = 3) -> Problem:
    """The triplets of one update of the learner: its anchors and its pool, in `d` features."""
    X, y = mixture(config.batch + 2 * config.replay + config.pool, d, min(64, d), seed)
    L = stages.principal(X, config.rank)
    anchors = np.arange(0, config.batch + 2 * config.replay, 2)
    Z = X @ L.T
    distances = squared_distances(Z[anchors], Z)
    triplets, involved = local_triplets(distances, anchors, y.astype(np.intp), objective.signature).compact()
    X, Z = X[involved], Z[involved]
    (hinge,) = stages.hinges([(Z, Z)], triplets, objective)
    return Problem(L, X, Z, triplets, hinge, objective)


def safe(p: Problem) -> Array:
    """Our step: the edges as Laplacians over n samples, solved in n + k."""
    ties = stages.own_ties(p.hinge, p.triplets, len(p.X))
    step = SafeStep(p.L, p.X, ties.implicit(), ties.explicit(p.Z), p.objective.regulariser(p.L))
    return step(GAMMA)


def literal_G(p: Problem) -> Array:
    """The paper's G (d, d), averaged over the triplets like ours."""
    weight = (p.hinge.active / len(p.triplets))[:, None, None]
    near, far = p.hinge.near.F * weight, p.hinge.far.F * weight  # (T, m, m)
    P, Q, K = (p.X[rows] for rows in (p.triplets.P, p.triplets.Q, p.triplets.K))  # (T, m, d)
    flat = (-1, p.X.shape[1])

    def product(left: Array, right: Array) -> Array:
        return np.asarray(left.reshape(flat).T @ right.reshape(flat))  # (d, d), summed over the triplets

    PFQ, PFK = product(P, near @ Q), product(P, far @ K)
    pull = product(Q, near.sum(axis=1)[:, :, None] * Q)
    push = product(K, far.sum(axis=1)[:, :, None] * K)
    return pull - push - PFQ - PFQ.T + PFK + PFK.T


def literal_H(L: Array) -> Array:
    """The paper's H (d, d)."""
    values, vectors = np.linalg.eigh(L.T @ L)
    values = np.maximum(values, 0.0) + RIDGE * values[-1]
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def literal(p: Problem, H: Array | None = None) -> Array:
    """The paper's closed form; with `H` given it need not be computed."""
    H = literal_H(p.L) if H is None else H
    return np.asarray(p.L @ np.linalg.inv(np.eye(p.L.shape[1]) + p.objective.lam * H + GAMMA * literal_G(p)))


def safe_against_literal(d: int = 2048, repetitions: int = 5, config: LearnerConfig | None = None) -> list[Comparison]:
    """How many times faster the safe step is, with H computed as printed and with H for nothing."""
    config = config or LearnerConfig()
    p = problem(d, config, config.objective)
    H = literal_H(p.L)
    rivals = {"safe": lambda: safe(p), "literal": lambda: literal(p), "without H": lambda: literal(p, H)}
    took = in_turn(rivals, repetitions)
    what = f"safe step, d = {d}, against the paper's closed form"
    return [
        Comparison(
            f"{what}: times as fast",
            took["literal"] / took["safe"],
            milliseconds(took["safe"], took["literal"]),
            at_least=20.0,
        ),
        Comparison(
            f"{what}, H for nothing: same",
            took["without H"] / took["safe"],
            milliseconds(took["safe"], took["without H"]),
        ),
    ]
