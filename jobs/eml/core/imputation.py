"""Imputes new features of exemplars that are older than the features.

Called by the I-stage (`inheriting`) and by `evolution`. Such an exemplar (a receiver) takes the new features of its
nearest exemplars of the same class that have them (the donors), by the survivors' metric; the nearest counts most.
"""

import numpy as np

from eml.core.arrays import Array, Index, Mask, nearest, squared_distances

DONORS = 4


def impute(Z: Array, values: Array, receivers: Mask, y: Index, donors: Index) -> Array:
    """`values` (n, d_n) with estimates in the rows of `receivers`; Z (n, k) is the survivors' embedding.

    A class without donors of its own takes from all of them.
    """
    out = values.copy()
    for c in np.unique(y[receivers]):
        take, give = np.flatnonzero(receivers & (y == c)), donors[y[donors] == c]
        give = give if len(give) else donors
        D = squared_distances(Z[take], Z[give])
        found, near = nearest(D, min(DONORS, len(give)))
        weight = 1.0 / (near + 1e-3 * D.mean() + np.finfo(np.float32).tiny)
        weight /= weight.sum(axis=1, keepdims=True)
        out[take] = np.einsum("nr,nrd->nd", weight, values[give[found]])
    return out
