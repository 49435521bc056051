"""Readings of one version in the columns of another: by name, and by former names in either direction.

Called by `fleet` for stragglers and for the way back of a rollback; knows feature spaces only.
"""

import numpy as np

from eml.core import FeatureSpace
from eml.core.arrays import Array


def placed(values: Array, own: FeatureSpace, wanted: FeatureSpace) -> Array:
    """Values (n, d) of the space `own` in the columns of `wanted`: what that has and the reading has not is missing."""
    if wanted.names == own.names:
        return values
    change = own.diff(wanted)
    there = np.full((len(values), len(wanted)), np.nan)
    there[:, wanted.columns(change.survived)] = values[:, own.columns(change.former[name] for name in change.survived)]
    return there


def with_former_names(new: FeatureSpace, old: FeatureSpace) -> FeatureSpace:
    """`new`, and where `old` calls one of its features a former name of its own, with that as alias.

    Aliases are written in the newer schema only; on the way back they must be read the other way round.
    """
    back = {name: former for former, name in new.diff(old).renamed.items()}
    aliases = {name: new.aliases.get(name, ()) for name in {*new.aliases, *back}}
    return FeatureSpace(new.names, {n: (*a, back[n]) if n in back else a for n, a in aliases.items()})
