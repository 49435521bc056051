"""What an evolution does to the columns, decided before any of them moves.

Called by `evolution`, which then moves them. Changes nothing: survivors keep their columns, returning features get
theirs back, the last features to vanish are retired.
"""

from dataclasses import dataclass

import numpy as np

from eml.core.arrays import Array
from eml.core.features import FeatureChange, FeatureSpace
from eml.core.layout import Column
from eml.core.new_metric import SAMPLES
from eml.core.report import Takeover
from eml.core.state import State, Upcoming


@dataclass(frozen=True, slots=True)
class Plan:
    """What an evolution does to the columns, decided before any of them moves."""

    change: FeatureChange
    columns: list[Column]  # of the next space
    known_as: dict[str, str]  # a returning feature -> the name under which it was retired
    retired: dict[str, int]  # features that will be retired -> their present column, retired ones behind active ones


def decide(state: State, space: FeatureSpace, change: FeatureChange, most_retired: int) -> Plan:
    """Survivors keep their columns, returning features get theirs back, the last features to vanish are retired."""
    known = {name: _retired_name(state, space, name) for name in change.augmented}
    known_as = {name: former for name, former in known.items() if former is not None}
    place = {name: len(state.space) + i for i, name in enumerate(state.retired_columns)}
    source = {name: place[former] for name, former in known_as.items()}
    source |= {name: state.space.position[former] for name, former in change.former.items()}
    place |= {name: state.space.position[name] for name in change.vanished}
    names = [*(name for name in state.retired_columns if name not in change.vanished), *change.vanished]
    names = [name for name in names if name not in known_as.values()]
    retired = {name: place[name] for name in names[len(names) - min(len(names), most_retired) :]}
    return Plan(change, [Column(name, source.get(name)) for name in space.names], known_as, retired)


def _retired_name(state: State, space: FeatureSpace, name: str) -> str | None:
    """The name under which a new feature was known before it vanished."""
    return next((known for known in (name, *space.aliases.get(name, ())) if known in state.retired_columns), None)


def takeovers(state: State, change: FeatureChange, upcoming: Upcoming) -> dict[str, Takeover]:
    """How far the survivors account for each vanished feature, and the survivor that is most like it."""
    explained = upcoming.explained
    if explained is None or len(change.survived) == 0:
        return {name: Takeover(0.0, None) for name in change.vanished}
    rows = state.memory.sample(SAMPLES, state.rng)
    Xs = _standard(state.memory.samples(rows, state.columns_of(change)))
    Xv = _standard(state.memory.samples(rows, np.array(state.space.columns(change.vanished), dtype=np.intp)))
    best = np.abs(Xv.T @ Xs).argmax(axis=1) if len(rows) else np.zeros(len(change.vanished), dtype=np.intp)
    return {
        name: Takeover(float(share), change.survived[survivor])
        for name, share, survivor in zip(change.vanished, explained, best, strict=True)
    }


def _standard(X: Array) -> Array:
    deviation = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0))
