"""TCA: the old stage and the new one are brought together in a few shared directions; then the nearest neighbour.

Built by `methods`; keeps exemplars with `controls`. Reference: S. J. Pan, I. W. Tsang, J. T. Kwok, Q. Yang, "Domain
adaptation via transfer component analysis", IEEE Transactions on Neural Networks 2011. Readings:

- The paper: "the streaming samples in T-stage and I-stage are drawn from the source and target distributions". Source
  and target need the same features, so these are the survivors; new features stay unused.
- The target is the labelled I-batch; no row is shown to it before it is asked. Neighbours come from both stages.
- The kernel is linear: then the problem is one of features instead of samples, with the same solution (`components`).
- Before an evolution, and before the first label after it, one of the two is empty: the components are principal ones.
- The number of components is the one, of a few, with which most labelled rows find their class in their neighbour.
- Features are standardised by running statistics. After an evolution three quarters of the memory are the source's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from eml.core import FeatureSpace
from eml.evaluate.controls import Exemplars, Label
from eml.evaluate.datasets import Floats
from eml.evaluate.rivals.linear import RunningStandard, survivors
from eml.evaluate.rivals.two_stages import TwoStages

_NUMBERS = (5, 10, 20, 30, 50)  # of components, to choose from
_JUDGES = 256  # labelled rows that choose; more of them cost time and change little
_TRADE = 1.0  # μ: a small W counts as much as a small gap
_JITTER = 1e-8  # relative to the mean eigenvalue: pixels that never move make the kernel singular


@dataclass(frozen=True, slots=True)
class _Fitted:
    """What prediction needs, until the next label."""

    directions: Floats  # (features, components)
    known: Floats  # (exemplars, components)
    labels: list[Label]


class Tca:
    """Two bounded memories, of the old stage and of the current one."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        self._space = space
        self._compared = list(range(len(space)))  # columns that both stages have
        self._stages = TwoStages(memory, seed)
        self._standard = RunningStandard(len(space))
        self._fitted: _Fitted | None = None

    def announce(self, space: FeatureSpace) -> None:
        """Nothing to prepare."""

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Remember the batch as one of the current stage."""
        if len(rows):
            self._standard.update(rows)
            self._stages.add(rows, labels)
            self._fitted = None

    def evolve(self, space: FeatureSpace) -> None:
        """Make a source of all that is remembered, as far as it has the survivors."""
        old, new = survivors(self._space, space)
        self._stages.move(old, new, len(space))
        self._standard.move(old, new, len(space))
        self._space, self._fitted = space, None
        self._compared = new or list(range(len(space)))  # without survivors the new stage stands alone

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return the label of the nearest exemplar among the components, None where there is none at all."""
        fitted = self._fitted = self._fitted or self._fit()
        if fitted is None:
            return [None] * len(rows)
        asked = self._standard.apply(rows)[:, self._compared] @ fitted.directions
        return [fitted.labels[place] for place in cdist(asked, fitted.known).argmin(axis=1)]

    def _fit(self) -> "_Fitted | None":
        """Find the components, and how many of them to compare."""
        (source, source_labels), (target, target_labels) = (
            self._stage(self._stages.source),
            self._stage(self._stages.target),
        )
        labels = [*source_labels, *target_labels]
        if not labels:
            return None
        directions = components(source, target, max(_NUMBERS))
        known = np.vstack([source, target]) @ directions
        judges = np.arange(len(source) if target_labels else 0, len(labels))  # the new stage's, if it has any
        judges = judges[np.unique(np.linspace(0, len(judges) - 1, _JUDGES).astype(int))]
        numbers = [number for number in _NUMBERS if number <= directions.shape[1]] or [directions.shape[1]]
        best = max(numbers, key=lambda number: _agreement(known[:, :number], labels, judges))
        return _Fitted(directions[:, :best], known[:, :best], labels)

    def _stage(self, exemplars: Exemplars) -> tuple[Floats, list[Label]]:
        """Standardised exemplars of one stage, and their labels."""
        rows, labels = exemplars.arrays()
        if not labels:
            return np.zeros((0, len(self._compared))), labels
        return self._standard.apply(rows)[:, self._compared], labels


def components(source: Floats, target: Floats, most: int) -> Floats:
    """Directions A, (features, components), leading ones first: rows @ A vary most and the stages' means differ least.

    The reference: min_W tr(WᵀKLKW) + μ tr(WᵀW) subject to WᵀKHKW = I. With K = XXᵀ the embedding KW is XA for A = XᵀW,
    WᵀKLKW = AᵀggᵀA for the gap g of the means, WᵀKHKW = AᵀSA for the scatter S, and the smallest W for an A has
    WᵀW = Aᵀ(XᵀX)⁻¹A. So the columns of A are the leading solutions of S a = θ (ggᵀ + μ(XᵀX)⁻¹) a, with aᵀSa = 1.
    """
    both = np.vstack([source, target])
    width = both.shape[1]
    gap = source.mean(axis=0) - target.mean(axis=0) if len(source) and len(target) else np.zeros(width)
    centred = both - both.mean(axis=0)
    scatter, gram = centred.T @ centred, both.T @ both  # (features, features)
    floor = max(_JITTER * np.trace(gram) / width, np.finfo(np.float64).tiny)
    cost = np.outer(gap, gap) + _TRADE * _inverse(gram + floor * np.eye(width))
    values, directions = eigh(scatter, cost, subset_by_index=[max(0, width - most), width - 1])
    directions = directions[:, values > _JITTER * values[-1]][:, ::-1]  # eigh gives the leading ones last
    spread = np.einsum("fc,fc->c", directions, scatter @ directions)
    unit: Floats = directions / np.sqrt(spread)
    return unit


def _agreement(known: Floats, labels: list[Label], judges: NDArray[np.intp]) -> int:
    """How many of the judges have the label of their nearest fellow."""
    distances = cdist(known[judges], known)
    distances[np.arange(len(judges)), judges] = np.inf  # nobody is his own fellow
    return sum(labels[judge] == labels[place] for judge, place in zip(judges, distances.argmin(axis=1), strict=True))


def _inverse(matrix: Floats) -> Floats:
    """Inverse of a symmetric positive matrix, symmetric to the last bit."""
    inverse = np.linalg.inv(matrix)
    symmetric: Floats = (inverse + inverse.T) / 2
    return symmetric
