r"""The I-stage: from the survivors' metric to one over survivors and new features.

Called by `evolution` once the memory has labelled samples with the new features (the donors). Its steps:

1. new features are imputed where exemplars lack them (`imputation`);
2. survivors' embedding and new features are stacked on one scale, $Z = [L^s x^s, a x^n]$;
   the scale a is the one whose neighbours predict held-out donors best;
3. $L^z$ is learnt on Z (Eq. 6) and folded: $L^z \cdot blockdiag(L^s, a I)$ is one metric over the new space,
   so the next evolution finds the learner in its first state.

A returning feature has its last column of the metric: it may join $L^s$ at once instead of being stacked.
"""

from dataclasses import dataclass

import numpy as np

from eml.core import stages
from eml.core.arrays import Array, Index, Mask
from eml.core.fitting import Fitter, losses, scaling, surely
from eml.core.imputation import impute
from eml.core.neighbours import Embedded, log_scores
from eml.core.views import Pooling, View, log_losses

BLOCK_SCALES = (0.35, 0.7, 1.4)  # of the new block against the survivors' embedding
FEWEST_DONORS = 8
ENOUGH_DONORS = 32  # with fewer, the new features must surely help
POOLING_STEPS = 5  # Newton converges from the even weights


@dataclass(frozen=True, slots=True)
class Stack:
    """The stacked space: `top` (k, d) embeds the known columns, beside it stand the `loose` columns times `factor`."""

    top: Array
    loose: Index
    factor: Array

    def embed(self, X: Array) -> Array:
        """Z (n, k + d_n)."""
        return self.beside(X @ self.top.T, X)

    def beside(self, known: Array, X: Array) -> Array:
        """Z, given its first part."""
        return np.hstack([known, X[:, self.loose] * self.factor])

    def fold(self, Lz: Array) -> Array:
        """One metric over the space from L^z over the stack."""
        k = len(self.top)
        L = Lz[:, :k] @ self.top
        L[:, self.loose] += Lz[:, k:] * self.factor
        return L


@dataclass(frozen=True, slots=True)
class Exemplars:
    """What the I-stage needs of the memory."""

    X: Array  # (n, d)
    y: Index  # (n,)
    observed: Mask  # (n, d)
    deviation: Array  # (d,) of each feature, by the running statistics
    counted: Index | None = None  # new columns that say whether an exemplar has the new features; None: all of them


@dataclass(frozen=True, slots=True)
class Inheritance:
    """Result of the I-stage: the joint metric, the pooling, the imputed memory."""

    L: Array  # (k', d)
    pooling: Pooling
    imputed: Array  # (n, d) the memory with imputed new features


def donors_of(observed: Mask, new: Index) -> Index:
    """Exemplars that have most of the new features."""
    return np.flatnonzero(observed[:, new].mean(axis=1) > 0.5)


def inherit(
    exemplars: Exemplars,
    survived: View,
    returned: dict[int, Array],
    weight: float,
    fitter: Fitter,
    anchors: int,
    rng: np.random.Generator,
) -> Inheritance | None:
    """Run the I-stage over the memory; None while there are too few donors.

    A view built on few donors is poor: it is taken only if it surely helps the survivors' view.
    """
    X, y = exemplars.X, exemplars.y
    new = np.setdiff1d(np.arange(X.shape[1]), survived.columns)
    donors = donors_of(exemplars.observed, new if exemplars.counted is None else exemplars.counted)
    if len(donors) < FEWEST_DONORS or len(np.unique(y[donors])) < 2:
        return None
    known = X[:, survived.columns] @ survived.L.T
    receivers = np.ones(len(X), dtype=np.bool_)
    receivers[donors] = False
    folds = _folds(known, X, new, y, receivers, donors, rng)
    truth = np.concatenate([y[test] for test, _ in folds])
    stacks = _stacks(survived, returned, new, known, X[donors], exemplars.deviation)
    scores = _scores(stacks, folds, y, fitter.neighbours)
    best = int(np.argmin([log_losses(weight * score, truth).mean() for score in scores]))
    stack, joint = stacks[best], scores[best]
    alone = np.concatenate([_held_out(known, test, y, fitter.neighbours) for test, _ in folds])
    few = len(donors) < min(ENOUGH_DONORS, len(X) // 2)
    if few and not surely(losses(alone, truth) - losses((alone + joint) / 2, truth)):
        return None
    pooling = Pooling.start(weight / 2, weight / 2)
    pooling.update([alone, joint], truth, steps=POOLING_STEPS)

    imputed = X.copy()
    imputed[:, new] = impute(known, X[:, new], receivers, y, donors)
    Lz = _learn(stack.embed(imputed), y, donors, fitter, anchors, rng)
    return Inheritance(stack.fold(Lz), pooling, imputed)


def _folds(
    known: Array, X: Array, new: Index, y: Index, receivers: Mask, donors: Index, rng: np.random.Generator
) -> list[tuple[Index, Array]]:
    """Two halves of the donors, each with the memory imputed from the other half alone."""
    half = rng.permutation(donors)
    folds = []
    for test, give in ((half[::2], half[1::2]), (half[1::2], half[::2])):
        without = receivers.copy()
        without[test] = True
        filled = X.copy()
        filled[:, new] = impute(known, X[:, new], without, y, give)
        filled[test] = X[test]  # a held-out donor is predicted from its own values, but is nobody's neighbour
        folds.append((test, filled))
    return folds


def _stacks(
    survived: View, returned: dict[int, Array], new: Index, known: Array, given: Array, deviation: Array
) -> list[Stack]:
    top = np.zeros((len(survived.L), len(deviation)))
    top[:, survived.columns] = survived.L
    unit = _typical(known)
    stacks = []
    for loose, base in _bases(top, new, returned):
        for power in (1.0, 0.0):
            factor = scaling(deviation[loose], power)
            own = _typical(given[:, loose] * factor)
            stacks += [Stack(base, loose, factor * (a * unit / own if own > 0.0 else 0.0)) for a in BLOCK_SCALES]
    return stacks


def _bases(top: Array, new: Index, returned: dict[int, Array]) -> list[tuple[Index, Array]]:
    """All new features stacked; or, where some are back, those with their last columns in the known part."""
    bases = [(new, top)]
    if returned:
        back = top.copy()
        for column, values in returned.items():
            back[:, column] = values
        bases.append((np.setdiff1d(new, list(returned)), back))
    return bases


def _typical(Z: Array) -> float:
    """Typical deviation of a block's main directions: the variance-weighted mean of variances, as a deviation."""
    variance = Z.var(axis=0)
    total = float(variance.sum())
    return float(np.sqrt((variance**2).sum() / total)) if total > 0.0 else 0.0


def _scores(stacks: list[Stack], folds: list[tuple[Index, Array]], y: Index, neighbours: int) -> list[Array]:
    """Scores of the held-out donors under each stack; those with the same top share what it embeds."""
    tops = {id(stack.top): stack.top for stack in stacks}
    known = {top: [filled @ L.T for _, filled in folds] for top, L in tops.items()}
    return [
        np.concatenate(
            [
                _held_out(stack.beside(Z, filled), test, y, neighbours)
                for Z, (test, filled) in zip(known[id(stack.top)], folds, strict=True)
            ]
        )
        for stack in stacks
    ]


def _held_out(Z: Array, test: Index, y: Index, neighbours: int) -> Array:
    """Scores of the held-out donors against everybody else."""
    Z = Z - Z.mean(axis=0)
    rest = np.setdiff1d(np.arange(len(Z)), test)
    embedded = Embedded.build(Z[rest].astype(np.float32), y[rest], int(y.max()) + 1)
    return log_scores(embedded.class_distances(Z[test].astype(np.float32), neighbours))


def _learn(Z: Array, y: Index, donors: Index, fitter: Fitter, anchors: int, rng: np.random.Generator) -> Array:
    """L^z from principal rows, improved with the donors as anchors."""
    rows = rng.permutation(len(Z))[: 8 * anchors]
    Lz = stages.principal(Z[np.union1d(rows, donors)], fitter.rank)
    for _ in range(2):
        mine = rng.permutation(donors)[: 2 * anchors]
        others = np.setdiff1d(rng.permutation(len(Z))[: 6 * anchors], mine)
        pool = np.concatenate([mine, others])
        half = np.arange(len(mine))
        Lz = fitter.improve(Lz, Z[pool], y[pool], half[::2], half[1::2])
        Lz = fitter.improve(Lz, Z[pool], y[pool], half[1::2], half[::2])
    return Lz
