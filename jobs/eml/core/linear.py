r"""The linear view: multinomial logistic regression, refitted to the bounded memory with every batch.

Called by the learner and `fresh`; an expert of the mixture beside the metric's views: where a plane separates classes,
neighbours need many exemplars for what a few weights express. With $z$ a sample in standard deviations from the mean,
0 where a value is missing,

$$ \min_{W, b} \sum_i \omega_i \log \frac{\sum_c e^{w_c z_i + b_c}}{e^{w_{y_i} z_i + b_{y_i}}}
   + \frac{\lambda}{2} \lVert W \rVert^2 $$

by a bounded number of L-BFGS steps from the weights of the batch before. A class counts ($\omega$) by the square root
of its frequency: half-way between accuracy over all samples and accuracy over all classes.

A missing value adds nothing to the log odds. Across an evolution survivors keep their weights, new features start with
weight 0, returning features with their last weights; the first fit moves what vanished features contributed to the
survivors. Exemplars without the new features are fitted without them: with imputed values, which make classes look more
compact than they are, it predicted worse.

A fit costs exemplars x features x classes per step, and one key must not delay the others: above `WORK` a fit takes
fewer steps on fewer exemplars, and with room for fewer than `LEAST` exemplars of each class there is no linear view.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize

from eml.core.arrays import Array, Array32, Index, Mask, stable_product
from eml.core.memory import Memory
from eml.core.statistics import Statistics

PENALTY = 1.0  # a normal prior: weights of about one per standard deviation
RARE = 10.0  # times the usual penalty at most, of a feature that few exemplars have
PRIOR = 0.5  # power of a class's frequency that it counts by: 1 is best for accuracy, 0 for rare classes
BIAS_PENALTY = 0.01  # a constant needs hardly any shrinkage
STEPS = 12  # of L-BFGS in a fit for a new space
FEWER_STEPS = 4  # in a fit that starts near its optimum
PAIRS = 8  # of gradients that L-BFGS keeps
WORK = 2**30  # multiply-adds of a fit, one look per step: about a tenth of a second of one core
LEAST = 2  # exemplars of each class: a fit on fewer is useless
FARTHEST = 30.0  # standard deviations: a value further off counts as this far


@dataclass(slots=True)
class Linear:
    """Weights of every column of the space for every class."""

    W: Array  # (C, d) per standard deviation
    b: Array  # (C,)
    centre: Array  # (d,)
    scale: Array  # (d,) one over the standard deviation, 0 where there is none
    retired: dict[str, Array] = field(default_factory=dict)  # vanished feature -> its weights (C,)
    columns: Index | None = None  # those it may use, where it may not use all: the others keep weights of 0

    @classmethod
    def empty(cls, d: int) -> "Linear":
        """An untrained view."""
        return cls(np.zeros((0, d)), np.zeros(0), np.zeros(d), np.zeros(d))

    @property
    def classes(self) -> int:
        """How many classes it was fitted for."""
        return len(self.b)

    def logits(self, X: Array, present: Mask) -> Array:
        """Log odds (n, C) of cleaned samples (n, d), centred; no row's bits depend on the others."""
        Z = self._standard(X, present)
        out = stable_product(Z, self.W.astype(np.float32)) + self.b
        return np.asarray(out - out.mean(axis=1, keepdims=True))

    def fit(
        self,
        memory: Memory,
        statistics: Statistics,
        classes: int,
        rows: Index | None = None,
        *,
        steps: int = STEPS,
    ) -> None:
        """Fit the exemplars (`rows` of them) from the weights there are, where there may be any (`know`)."""
        d = len(self.centre)
        self.set_classes(classes)
        if not self.classes:
            return
        deviation = statistics.deviation()
        self.centre = statistics.mean.copy()
        self.scale = np.where(deviation > 0.0, 1.0 / np.where(deviation > 0.0, deviation, 1.0), 0.0)
        chosen = slice(None) if rows is None else rows
        y = memory.y[chosen]
        if len(np.unique(y)) < 2:
            return
        observed = memory.observed[chosen, :d]
        Z = self._standard(memory.X[chosen, :d], observed)
        mine = np.arange(d) if self.columns is None else self.columns
        start = np.concatenate([self.W[:, mine], self.b[:, None]], axis=1)
        Z = np.hstack([Z if self.columns is None else Z[:, mine], np.ones((len(Z), 1), dtype=np.float32)])
        W = fit(Z, y, _sample_weights(memory, y), start, penalties(observed[:, mine]), steps)
        if np.isfinite(W).all():
            self.W, self.b = np.zeros((len(W), d)), W[:, -1]
            self.W[:, mine] = W[:, :-1]

    def move(self, columns: Sequence[int | None], factor: Array | None = None, is_level: Mask | None = None) -> None:
        """Move the weights to other columns: for each its present place, or None for one without weights.

        A level (`is_level`) of value `factor` adds to the log odds what the column it is made of did at this value.
        """
        new = [i for i, column in enumerate(columns) if column is not None]
        old = [column for column in columns if column is not None]
        W, centre, scale = np.zeros((len(self.W), len(columns))), np.zeros(len(columns)), np.zeros(len(columns))
        W[:, new], centre[new], scale[new] = self.W[:, old], self.centre[old], self.scale[old]
        if factor is not None and is_level is not None:
            W[:, is_level] *= (scale * (factor - centre))[is_level]
            centre[is_level], scale[is_level] = 0.0, 1.0
        self.W, self.centre, self.scale = W, centre, scale

    def retire(self, name: str, column: int) -> None:
        """Keep the weights of a vanished feature for its return."""
        self.retired.pop(name, None)
        self.retired[name] = self.W[:, column].copy()

    def bring_back(self, name: str, column: int) -> None:
        """Give a returning feature its last weights."""
        weights = self.retired.pop(name, None)
        if weights is not None:
            self.W[: len(weights), column] = weights

    def shares(self) -> Array:
        """Share (d,) of every column in the log odds of typical samples."""
        if not len(self.W):
            return np.zeros(len(self.centre))
        size = np.sqrt(((self.W - self.W.mean(axis=0)) ** 2).sum(axis=0)) * (self.scale > 0.0)
        total = float(size.sum())
        return np.asarray(size / total) if total > 0.0 else size

    def _standard(self, X: Array | Array32, present: Mask) -> Array32:
        Z = (X - self.centre) * self.scale
        return np.asarray(np.where(present, np.clip(Z, -FARTHEST, FARTHEST), 0.0), dtype=np.float32)

    def budget(self, exemplars: int, *, young: bool) -> tuple[int, int]:
        """How many of the exemplars to fit, and in how many steps; `young`: the weights are far from the optimum."""
        steps, each = STEPS if young else FEWER_STEPS, _cost(len(self.centre), self.classes)
        if steps * exemplars * each <= WORK:
            return exemplars, steps
        return min(exemplars, WORK // (FEWER_STEPS * each)), FEWER_STEPS

    def set_classes(self, classes: int) -> None:
        """Set the number of classes: new ones have weight 0. With too many classes the view is emptied."""
        if is_too_wide(len(self.centre), classes):
            self.W, self.b, self.retired = self.W[:0], self.b[:0], {}
            return
        more = classes - self.classes
        self.W = np.concatenate([self.W, np.zeros((more, self.W.shape[1]))])
        self.b = np.concatenate([self.b, np.zeros(more)])


def is_too_wide(d: int, classes: int) -> bool:
    """Whether a fit of so many features and classes can afford no more than a few exemplars of each class."""
    return FEWER_STEPS * LEAST * classes * _cost(d, classes) > WORK


def _cost(d: int, classes: int) -> int:
    """Multiply-adds of one exemplar in one step: its log odds, and its part in the gradient."""
    return 2 * (d + 1) * classes


def _sample_weights(memory: Memory, y: Index) -> Array:
    """Weight of each exemplar: more for frequent classes, but rare classes are not outvoted."""
    kept = np.bincount(y, minlength=len(memory.seen)).astype(np.float64)
    each = memory.seen**PRIOR / np.maximum(kept, 1.0)
    weights = each[y]
    return np.asarray(weights * (len(y) / weights.sum()))


def penalties(observed: Mask) -> Array:
    """L2 penalty of every column (d,): larger if few exemplars have it observed."""
    return np.asarray(PENALTY * np.minimum(len(observed) / np.maximum(observed.sum(axis=0), 1), RARE))


def fit(Z: Array32, y: Index, weights: Array, start: Array, penalty: Array, steps: int = STEPS) -> Array:
    """Weights (C, d + 1), the constant last, of samples Z (n, d + 1) whose last column is 1."""
    mine = np.arange(len(y))
    shrink = np.append(penalty, BIAS_PENALTY)
    share = weights.astype(np.float32)[:, None]

    def loss(flat: Array) -> tuple[float, Array]:
        W = flat.reshape(start.shape)
        P = Z @ W.astype(np.float32).T  # (n, C)
        P -= np.ascontiguousarray(P.T).max(axis=0)[:, None]  # the maximum of a few columns each takes ten times as long
        own = P[mine, y].astype(np.float64)
        np.exp(P, out=P)
        total = P.sum(axis=1, keepdims=True)
        loss_sum = weights @ (np.log(total[:, 0].astype(np.float64)) - own)
        P /= total
        P[mine, y] -= 1.0
        P *= share
        pull = W * shrink
        return float(loss_sum + 0.5 * (W * pull).sum()), ((P.T @ Z).astype(np.float64) + pull).ravel()

    options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": PAIRS}
    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x).reshape(start.shape)
