"""CDML, metric learning along curves.

S. Chen, L. Luo, J. Yang, C. Gong, J. Li, H. Huang: "Curvilinear Distance Metric Learning", Advances in Neural
Information Processing Systems 32, 2019.

Built by `methods` through `metric_space`, which has the exemplars and says what happens at an evolution; the curves
themselves are in `curves`.

A linear metric measures along straight lines; here m curves θ(t) = Σ_k t^k θ_k through the origin take their place.
A sample stands at its nearest point T(x) of each curve, and two samples are as far from each other as the arc between
their points is long, times the length of the curve's first unit:

    d²(x, x̂) = Σ_i  len_i(0, 1)² len_i(T_i(x), T_i(x̂))²

An arc's length is a difference of two positions along its curve, so each sample has a place in m dimensions, and
curves of order 1 give d² = ||L (x - x̂)||². The loss is the contrastive one of the authors' published code:

    mean over pairs of one class of [d² - 2]₊²  +  mean over other pairs of [8 - d²]₊²  +  λ Σ ||θ||²

Readings: order 2; the curves begin as the principal directions of samples scaled to a mean squared distance in the
middle of 2 and 8, are learnt as lines, and bent from there; all pairs of a bounded number of samples, and their exact
gradient by L-BFGS, instead of drawn pairs and a gradient from random differences. The metric is fitted anew from the
exemplars whenever there are new ones when a prediction is asked for.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from eml.core import FeatureSpace
from eml.evaluate.controls import Label
from eml.evaluate.datasets import Floats
from eml.evaluate.rivals import curves
from eml.evaluate.rivals.metric_space import MetricMethod, sample, squared_distances

NEAR, FAR = 2.0, 8.0  # pairs of one class are to be within, other pairs beyond; squared
ORDER = 2  # the least that is curved
CURVES = 24  # at most
WEIGHT = 1e-3  # λ
ROWS = 256  # of a fit at most
STEPS = 30  # of L-BFGS at most, for the lines and for the curves


class CurvilinearMetric:
    """Curves (curves, features, order), for rows divided by one `scale`; None: nothing is learnt, rows stay rows."""

    def __init__(self, _width: int, seed: int, *, order: int = ORDER) -> None:
        self._seed, self._order = seed, order
        self.curves: Floats | None = None
        self.scale = 1.0

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Not in one pass."""

    def fit(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Turn the principal directions, then bend them, until classes are apart."""
        rows, classes = sample(rows, labels, ROWS, self._seed)
        typical = float(squared_distances(rows, rows).mean())
        self.curves = None
        if len(np.unique(classes)) < 2 or typical <= 0.0:
            return
        self.scale = float(np.sqrt(typical / ((NEAR + FAR) / 2)))
        rows = rows / self.scale
        alike = classes[:, None] == classes[None, :]
        # lines first: where a nearest point jumps the loss has an edge, and a bent start ends at the first one
        self.curves = descended(straight(rows), rows, alike)
        if self._order > 1:
            bends = np.zeros((*self.curves.shape[:2], self._order - 1))
            self.curves = descended(np.concatenate([self.curves, bends], axis=2), rows, alike)

    def embed(self, rows: Floats) -> Floats:
        """Return each row's positions along the curves."""
        return rows if self.curves is None else curves.positions(self.curves, rows / self.scale)

    def keep(self, _columns: Sequence[int]) -> None:
        """Fitted anew before the next prediction, with the features that are left."""
        self.curves = None


def straight(rows: Floats) -> Floats:
    """Principal directions as curves of order 1."""
    _, _, directions = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    return np.asarray(directions[:CURVES, :, None])


def descended(start: Floats, rows: Floats, alike: NDArray[np.bool_]) -> Floats:
    """Curves with a smaller loss than those at the start."""

    def objective(flat: Floats) -> tuple[float, Floats]:
        value, slope = loss(flat.reshape(start.shape), rows, alike)
        return value, slope.ravel()

    found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return np.asarray(found.x).reshape(start.shape)


def loss(theta: Floats, rows: Floats, alike: NDArray[np.bool_]) -> tuple[float, Floats]:
    """The contrastive loss over all pairs of `rows`, and its gradient (curves, features, order)."""
    places, pull_back = curves.positions_with_gradient(theta, rows)
    squares = squared_distances(places, places)
    shares = np.where(alike, 1.0 / alike.sum(), 1.0 / (~alike).sum())
    excess = np.where(alike, np.maximum(squares - NEAR, 0.0), -np.maximum(FAR - squares, 0.0))
    value = float((shares * excess**2).sum() + WEIGHT * (theta**2).sum())
    edges = 2.0 * shares * excess  # derivative by each squared distance; symmetric
    slope = 4.0 * (edges.sum(axis=1)[:, None] * places - edges @ places)
    return value, pull_back(slope) + 2.0 * WEIGHT * theta


class Cdml(MetricMethod):
    """CDML behind the harness's four calls."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        super().__init__(space, seed, memory, CurvilinearMetric)
