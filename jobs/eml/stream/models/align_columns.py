"""Readings of one version in the columns of another: by name, and by former names in either direction.

Called by `key_model` for predictions and for what labels teach, and by `version_model` at a rename; knows feature
spaces only.
"""

from functools import lru_cache

import numpy as np

from eml.core import FeatureSpace
from eml.core.arrays import Array, Index

PAIRS = 256  # of versions whose columns are remembered: a key has a few, and most keys have the same


def align_columns(values: Array, own: FeatureSpace, wanted: FeatureSpace) -> Array:
    """Values (n, d) of the space `own` in the columns of `wanted`; a feature the reading does not have is missing."""
    if wanted is own:
        return values
    columns = _columns(own, wanted)
    if columns is None:
        return values
    aligned = np.full((len(values), len(wanted)), np.nan)
    aligned[:, columns[1]] = values[:, columns[0]]
    return aligned


@lru_cache(maxsize=PAIRS)
def _columns(own: FeatureSpace, wanted: FeatureSpace) -> tuple[Index, Index] | None:
    """The columns of `own` that `wanted` has too, and where it has them; None where all are in their place."""
    change = own.diff(wanted)
    here = np.array(own.columns(change.former[name] for name in change.survived), dtype=np.intp)
    there = np.array(wanted.columns(change.survived), dtype=np.intp)
    in_place = len(own) == len(wanted) == len(here) and bool((here == there).all())
    return None if in_place else (here, there)
