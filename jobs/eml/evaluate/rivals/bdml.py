"""BDML, metric learning on sparse codes, both levels at once.

J. Xu, L. Luo, C. Deng, H. Huang: "Bilevel Distance Metric Learning for Robust Image Recognition", Advances in Neural
Information Processing Systems 31, 2018.

Built by `methods` through `metric_space`, which has the exemplars and says what happens at an evolution; codes and
their gradients are in `sparse_codes`.

The lower level writes samples X in a dictionary D with sparse codes Z that are alike where samples are; the upper
level learns a metric M of codes that brings a class together and pushes others away:

    Z, D = argmin  ½ ||X - Z D||² + λ |Z|₁ + ½ β tr(Zᵀ G Z),      G: Laplacian of the samples' nearest neighbours
    M    = argmin  Σ [1 + d_M(z_i, z_j) - d_M(z_i, z_k)]₊ + ½ μ ||M - M_0||²,   M positive semi-definite

over triplets with y_i = y_j ≠ y_k. Both go into one problem through the lower level's optimality conditions.

Readings, since the reference's own settings were not to be had (λ, β and μ are those of a handful that did well on
USPS0vs5, Splice and Satimage): at most 120 atoms (the size its reviewers quote) of norm 1, in the beginning samples;
the graph term as ½ β ||z - mean of its neighbours' codes||², which serves new samples, too; triplets of the nearest
samples; the levels in turns, in which the metric takes projected gradient steps and the
dictionary one step on both levels' losses, the upper one's by way of the codes' optimality conditions. The metric is
fitted anew from the exemplars whenever there are new ones when a prediction is asked for.
"""

from collections.abc import Sequence

import numpy as np

from eml.core import FeatureSpace
from eml.evaluate.controls import Label
from eml.evaluate.datasets import Floats
from eml.evaluate.rivals import sparse_codes
from eml.evaluate.rivals.metric_space import MetricMethod, Numbers, sample, squared_distances
from eml.evaluate.rivals.sparse_codes import Lower

ATOMS = 120
ROWS = 256  # of a fit at most
TURNS = 5  # of the two levels
STEPS = 20  # of the metric in each turn
WEIGHT = 0.05  # μ
FRIENDS, FOES = 3, 5  # of each sample, the nearest ones, in its triplets
BEND = 0.05  # a dictionary's step, as a share of its own size


class BilevelMetric:
    """A dictionary and a metric of codes; None: nothing is learnt, rows stay rows."""

    def __init__(self, _width: int, seed: int) -> None:
        self._seed = seed
        self.lower: Lower | None = None
        self.metric = np.eye(0)

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Not in one pass."""

    def fit(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Both levels in turns, until the last codes have their metric."""
        rows, classes = sample(rows, labels, ROWS, self._seed)
        self.lower = None
        if len(np.unique(classes)) < 2 or not np.ptp(rows, axis=0).any():
            return
        lower = sparse_codes.begin(rows, ATOMS, self._seed)
        triplets = nearest_triplets(rows, classes)
        metric = start(lower.codes)
        for _ in range(TURNS):
            metric = learnt(metric, lower.codes, triplets)
            edges = hinge_edges(metric, lower.codes, triplets)
            lower = sparse_codes.bent(lower, 2.0 * laplacian(edges) @ lower.codes @ metric, BEND)
        self.metric = learnt(start(lower.codes), lower.codes, triplets)
        self.lower = lower

    def embed(self, rows: Floats) -> Floats:
        """Return each row's code in the space where the metric is Euclidean."""
        if self.lower is None:
            return rows
        values, vectors = np.linalg.eigh(self.metric)
        return np.asarray(self.lower.encode(rows) @ (vectors * np.sqrt(np.maximum(values, 0.0))))

    def keep(self, _columns: Sequence[int]) -> None:
        """Fitted anew before the next prediction, with the features that are left."""
        self.lower = None


def nearest_triplets(rows: Floats, classes: Numbers) -> Numbers:
    """Triplets (n, 3) of a sample, one of its nearest of its class, and one of its nearest of the others."""
    squares = squared_distances(rows, rows)
    np.fill_diagonal(squares, np.inf)
    alike = classes[:, None] == classes[None, :]
    found = []
    for place, (distances, same) in enumerate(zip(squares, alike, strict=True)):
        order = np.argsort(distances, kind="stable")
        friends = [other for other in order[same[order]] if other != place][:FRIENDS]
        foes = order[~same[order]][:FOES]
        found += [(place, friend, foe) for friend in friends for foe in foes]
    return np.array(found, dtype=np.intp).reshape(-1, 3)


def start(codes: Floats) -> Floats:
    """M_0: the identity, on the scale on which two codes are 1 apart on average."""
    typical = squared_distances(codes, codes).mean()
    return np.asarray(np.eye(codes.shape[1]) / max(typical, np.finfo(np.float64).tiny))


def learnt(metric: Floats, codes: Floats, triplets: Numbers) -> Floats:
    """Projected gradient steps on the upper level."""
    origin = start(codes)
    size = origin[0, 0]  # steps are in units of M_0, for codes have no scale of their own
    for step in range(STEPS):
        edges = hinge_edges(metric, codes, triplets)
        slope = size**2 * codes.T @ laplacian(edges) @ codes + WEIGHT * (metric - origin)
        metric = positive(metric - slope / (WEIGHT * (step + 2)))
    return metric


def hinge_edges(metric: Floats, codes: Floats, triplets: Numbers) -> Floats:
    """Weight (n, n) of each pair's distance in the mean hinge: positive to be pulled, negative to be pushed."""
    sample_, friend, foe = triplets.T
    edges = np.zeros((len(codes), len(codes)))
    if not len(triplets):
        return edges
    root = codes @ metric
    own = (root * codes).sum(axis=1)
    squares = own[:, None] + own[None, :] - 2.0 * root @ codes.T
    active = 1.0 + squares[sample_, friend] - squares[sample_, foe] > 0.0
    np.add.at(edges, (sample_[active], friend[active]), 1.0 / len(triplets))
    np.add.at(edges, (sample_[active], foe[active]), -1.0 / len(triplets))
    return edges


def laplacian(edges: Floats) -> Floats:
    """K such that Σ edges_ij d_M(z_i, z_j) = tr(Zᵀ K Z M)."""
    both = edges + edges.T
    return np.asarray(np.diag(both.sum(axis=1)) - both)


def positive(matrix: Floats) -> Floats:
    """The nearest positive semi-definite matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


class Bdml(MetricMethod):
    """BDML behind the harness's four calls."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        super().__init__(space, seed, memory, BilevelMetric)
