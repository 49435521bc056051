"""The benchmark's data: classes of two clusters each, features that say nothing, and drift."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

CLASSES = 4
CLUSTERS = 2  # per class: no line separates them
SEPARATION = 0.55  # of the clusters' centres, in standard deviations per informative feature
DRIFT = 0.5  # how far the centres move over the stream, relative to their separation


def mixture(count: int, features: int, informative: int, seed: int) -> tuple[Array, Index]:
    """Samples (n, d) and classes (n,) of a Gaussian mixture whose centres move on from first to last."""
    rng = np.random.default_rng(seed)
    start, way = rng.normal(size=(2, CLASSES, CLUSTERS, informative)) * SEPARATION
    y, cluster = rng.integers(CLASSES, size=count), rng.integers(CLUSTERS, size=count)
    X = rng.normal(size=(count, features))
    X[:, :informative] += start[y, cluster] + np.linspace(0.0, DRIFT, count)[:, None] * way[y, cluster]
    return X, y


def names_of(features: int) -> tuple[str, ...]:
    """Names of the features."""
    return tuple(f"f{i}" for i in range(features))
