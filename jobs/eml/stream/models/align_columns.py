"""Readings of one version in the columns of another: by name, and by former names in either direction.

Called by `fleet` for predictions and for what labels teach, and by `line` at a rename; knows feature spaces only.
"""

from functools import lru_cache

import numpy as np

from eml.core import FeatureSpace
from eml.core.arrays import Array, Index

PAIRS = 256  # of versions whose columns are remembered: a key has a few, and most keys have the same


def placed(values: Array, own: FeatureSpace, wanted: FeatureSpace) -> Array:
    """Values (n, d) of the space `own` in the columns of `wanted`: what that has and the reading has not is missing."""
    if wanted is own:
        return values
    columns = _columns(own, wanted)
    if columns is None:
        return values
    there = np.full((len(values), len(wanted)), np.nan)
    there[:, columns[1]] = values[:, columns[0]]
    return there


@lru_cache(maxsize=PAIRS)
def _columns(own: FeatureSpace, wanted: FeatureSpace) -> tuple[Index, Index] | None:
    """The columns of `own` that `wanted` has too, and where it has them; None where all are in their place."""
    change = own.diff(wanted)
    here = np.array(own.columns(change.former[name] for name in change.survived), dtype=np.intp)
    there = np.array(wanted.columns(change.survived), dtype=np.intp)
    in_place = len(own) == len(wanted) == len(here) and bool((here == there).all())
    return None if in_place else (here, there)
