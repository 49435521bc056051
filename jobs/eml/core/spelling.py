"""Names and columns of features that are codes: one column per level, 1 where a sample has it.

First stop of a sample in the learner. A mode, an error code, a letter is a number to the sensor, but 3 is not between
2 and 4 there. Outside this module and `levels` nothing knows of it: samples come with the features of the outer space,
and everything else works on the columns of the inner one, which says by its names which of them are levels.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eml.core.arrays import Array, Index
from eml.core.features import FeatureChange, FeatureSpace
from eml.core.report import Evolution, Takeover

MARK = "\0"  # between a feature's name and its level: no name has it


def spelled(name: str, level: int) -> str:
    """The name of a level's column."""
    return f"{name}{MARK}{level}"


def feature_of(name: str) -> str:
    """The feature that a column belongs to."""
    return name.partition(MARK)[0]


def level_of(name: str) -> int | None:
    """The level that a column stands for; None for an amount."""
    level = name.partition(MARK)[2]
    return int(level) if level else None


def levels_in(names: Iterable[str]) -> dict[str, list[int]]:
    """The levels of every feature that is spelled out among these columns."""
    found: dict[str, list[int]] = {}
    for name in names:
        level = level_of(name)
        if level is not None:
            found.setdefault(feature_of(name), []).append(level)
    return found


@dataclass(frozen=True)
class Spelling:
    """The columns that a space's features have in the learner."""

    inner: FeatureSpace

    @cached_property
    def levels(self) -> Mapping[str, list[int]]:
        """The levels of every feature that is a code."""
        return levels_in(self.inner.names)

    @cached_property
    def plain(self) -> bool:
        """No feature is a code: inner and outer are the same."""
        return not self.levels

    @cached_property
    def outer(self) -> FeatureSpace:
        """The features as samples have them."""
        if self.plain:
            return self.inner
        names = tuple(dict.fromkeys(feature_of(name) for name in self.inner.names))
        aliases = {feature_of(name): tuple(map(feature_of, former)) for name, former in self.inner.aliases.items()}
        return FeatureSpace(names, aliases)

    @cached_property
    def sources(self) -> Index:
        """The outer column that each inner one is made of."""
        return np.array([self.outer.position[feature_of(name)] for name in self.inner.names], dtype=np.intp)

    @cached_property
    def level(self) -> Array:
        """The level of each inner column, NaN for an amount."""
        levels = [level_of(name) for name in self.inner.names]
        return np.array([np.nan if level is None else level for level in levels])

    @cached_property
    def amounts(self) -> Index:
        """The inner columns that are no levels."""
        return np.flatnonzero(np.isnan(self.level))

    def spell(self, X: Array) -> Array:
        """Samples (n, outer) as the learner's columns (n, inner); a level that has no column is none of them."""
        if self.plain:
            return X
        values = X[:, self.sources]
        return np.where(np.isnan(self.level) | ~np.isfinite(values), values, values == self.level)

    def towards(self, space: FeatureSpace, attic: Iterable[str]) -> FeatureSpace:
        """The inner space for the next outer one: what is spelled out stays so, and so does what comes back."""
        gone = levels_in(attic)
        if self.plain and not gone:
            return space
        former = self.outer.diff(space).former
        names: list[str] = []
        for name in space.names:
            levels = self.levels.get(former[name], []) if name in former else _back(name, space, gone)
            names += [spelled(name, level) for level in levels] or [name]
        return inner_space(space, names)


def inner_space(outer: FeatureSpace, names: Iterable[str]) -> FeatureSpace:
    """The space of these columns; those of a feature have had the names that it has had."""
    columns, aliases = tuple(names), {}
    for column in columns:
        feature, mark, level = column.partition(MARK)
        if feature in outer.aliases:
            aliases[column] = tuple(former + mark + level for former in outer.aliases[feature])
    return FeatureSpace(columns, aliases)


# -- reports, in the words of the outer space ----------------------------------------------------------------------


def fold_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """A feature's share is that of all its levels."""
    folded = dict.fromkeys(map(feature_of, weights), 0.0)
    for name, share in weights.items():
        folded[feature_of(name)] += share
    return folded


def fold_evolution(evolution: Evolution) -> Evolution:
    """What happened, told of features instead of columns."""
    inner = evolution.change
    vanished, survived, augmented = map(_features, (inner.vanished, inner.survived, inner.augmented))
    former = {feature_of(new): feature_of(old) for new, old in inner.former.items()}
    own: dict[str, list[Takeover]] = {}
    for name, takeover in evolution.takeovers.items():
        own.setdefault(feature_of(name), []).append(takeover)
    return Evolution(
        FeatureChange(vanished, survived, augmented, former),
        evolution.announced,
        evolution.transform_steps,
        evolution.warm,
        _features(evolution.returned),
        {name: _takeover(levels) for name, levels in own.items()},
    )


def _features(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(feature_of, names)))


def _takeover(own: list[Takeover]) -> Takeover:
    """Of a feature's levels the mean share, and the survivor that has most of one."""
    best = max(own, key=lambda takeover: takeover.share)
    by = None if best.by is None else feature_of(best.by)
    return Takeover(sum(takeover.share for takeover in own) / len(own), by)


def _back(name: str, space: FeatureSpace, gone: Mapping[str, list[int]]) -> list[int]:
    """The levels under which a new feature was known before it vanished."""
    return next((gone[known] for known in (name, *space.aliases.get(name, ())) if known in gone), [])
