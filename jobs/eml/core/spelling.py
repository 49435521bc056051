r"""Names and columns of categories and codes: one column per level, 1 where a sample has it.

First stop of a sample in the learner. A mode, an error code, a letter is a number to the learner, but 3 is not between
2 and 4 there. A category is declared to be one; a code is a number that turned out to be one (`levels`). Outside this
module and `levels` nothing knows of it: samples come with the features of the outer space, and everything else works on
the columns of the inner one, which says by its names which of them are levels.

    rpm          an amount
    mode\0=      a category: 1 where its symbol has no column of its own, so a category always has a column
    mode\0=7     a category: 1 where its symbol has the number 7
    gear\03      a code: 1 where it is 3
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from eml.core.arrays import Array, Index, Mask
from eml.core.features import FeatureChange, FeatureSpace
from eml.core.report import Evolution, Takeover

MARK = "\0"  # between a feature's name and its level: no name has it
SYMBOL = "="  # before the level of a category; alone: the column of all its other symbols

_Level = TypeVar("_Level", int, float)


def spelled(name: str, level: int) -> str:
    """The name of the column of a code's level."""
    return f"{name}{MARK}{level}"


def symbol(name: str, level: float) -> str:
    """The name of the column of a category's level, from which `level_of` reads the same number."""
    return f"{name}{MARK}{SYMBOL}{level:.17g}"


def others(name: str) -> str:
    """The name of the column of all symbols of a category that have none of their own."""
    return f"{name}{MARK}{SYMBOL}"


def feature_of(name: str) -> str:
    """The feature that a column belongs to."""
    return name.partition(MARK)[0]


def is_category(name: str) -> bool:
    """Whether a column is one of a category."""
    return name.partition(MARK)[2].startswith(SYMBOL)


def level_of(name: str) -> float | None:
    """The level that a column stands for; None for an amount and for other symbols."""
    level = name.partition(MARK)[2].removeprefix(SYMBOL)
    return float(level) if level else None


def codes_in(names: Iterable[str]) -> dict[str, list[int]]:
    """The levels of every code that is spelled out among these columns."""
    found: dict[str, list[int]] = {}
    for name in names:
        level = level_of(name)
        if level is not None and not is_category(name):
            found.setdefault(feature_of(name), []).append(int(level))
    return found


def symbols_in(names: Iterable[str]) -> dict[str, list[float]]:
    """The levels of every category among these columns, in the order of the columns."""
    found: dict[str, list[float]] = {}
    for name in names:
        if is_category(name):
            level = level_of(name)
            found.setdefault(feature_of(name), []).extend([] if level is None else [level])
    return found


@dataclass(frozen=True)
class Spelling:
    """The columns that a space's features have in the learner."""

    inner: FeatureSpace

    @cached_property
    def codes(self) -> Mapping[str, list[int]]:
        """The levels of every feature that is a code."""
        return codes_in(self.inner.names)

    @cached_property
    def symbols(self) -> Mapping[str, list[float]]:
        """The levels of every category: numbers of symbols."""
        return symbols_in(self.inner.names)

    @cached_property
    def plain(self) -> bool:
        """All features are amounts: inner and outer are the same."""
        return not self.codes and not self.symbols

    @cached_property
    def outer(self) -> FeatureSpace:
        """The features as samples have them."""
        if self.plain:
            return self.inner
        names = tuple(dict.fromkeys(feature_of(name) for name in self.inner.names))
        aliases = {feature_of(name): tuple(map(feature_of, former)) for name, former in self.inner.aliases.items()}
        return FeatureSpace(names, aliases, frozenset(self.symbols))

    @cached_property
    def sources(self) -> Index:
        """The outer column that each inner one is made of."""
        return np.array([self.outer.position[feature_of(name)] for name in self.inner.names], dtype=np.intp)

    @cached_property
    def level(self) -> Array:
        """The level of each inner column, NaN for an amount and for other symbols."""
        levels = [level_of(name) for name in self.inner.names]
        return np.array([np.nan if level is None else level for level in levels])

    @cached_property
    def is_amount(self) -> Mask:
        """Which inner columns are those of amounts."""
        return np.array([MARK not in name for name in self.inner.names], dtype=np.bool_)

    @cached_property
    def amounts(self) -> Index:
        """The inner columns that are no levels."""
        return np.flatnonzero(self.is_amount)

    @cached_property
    def others(self) -> Index:
        """The inner columns of symbols without a column of their own, in the order of `symbols`."""
        return np.array(self.inner.columns(others(feature) for feature in self.symbols), dtype=np.intp)

    @cached_property
    def _grouped(self) -> tuple[Index, Index, Index]:
        """The level columns of categories side by side, where those of each begin, and which categories have any."""
        groups = [
            self.inner.columns(symbol(feature, level) for level in levels) for feature, levels in self.symbols.items()
        ]
        sizes = np.array([len(group) for group in groups], dtype=np.intp)
        known = np.flatnonzero(sizes)
        starts = (np.cumsum(sizes) - sizes)[known]
        return np.array([column for group in groups for column in group], dtype=np.intp), starts, known

    def spell(self, X: Array) -> Array:
        """Samples (n, outer) as the learner's columns (n, inner).

        A level of a code that has no column is none of them; a symbol that has none is one of the others.
        """
        if self.plain:
            return X
        values = X[:, self.sources]
        has = values == self.level
        if len(self.others):
            columns, starts, known = self._grouped
            has[:, self.others] = True
            if len(known):
                has[:, self.others[known]] = ~np.logical_or.reduceat(has[:, columns], starts, axis=1)
        return np.where(self.is_amount | ~np.isfinite(values), values, has)

    def deviations(self, deviation: Array, columns: Index) -> list[Array]:
        """Ways to scale `columns`, which deviate by this much (len(columns),); held-out samples choose.

        Scaled one by one, a category counts as much as it has levels. Its levels may also have one deviation together,
        that of the category as a whole, so that it counts as one feature.
        """
        mine = self._of_category[columns]
        if not mine.any():
            return [deviation]
        feature = self.sources[columns]
        total = np.bincount(feature[mine], weights=deviation[mine] ** 2, minlength=len(self.outer))
        return [deviation, np.where(mine & (deviation > 0.0), np.sqrt(total[feature]), deviation)]

    def one_each(self, columns: Index) -> Index:
        """These columns, but of each category one: they are there together or not at all, and count once."""
        if not self.symbols:
            return columns
        seen: set[int] = set()
        kept = []
        for column in columns.tolist():
            source = int(self.sources[column])
            if not self._of_category[column] or source not in seen:
                kept.append(column)
            seen.add(source)
        return np.array(kept, dtype=np.intp)

    @cached_property
    def _of_category(self) -> Mask:
        return np.array([is_category(name) for name in self.inner.names], dtype=np.bool_)

    def towards(self, space: FeatureSpace, attic: Iterable[str]) -> FeatureSpace:
        """The inner space for the next outer one: what is spelled out stays so, and so does what comes back."""
        gone = tuple(attic)
        codes, symbols = codes_in(gone), symbols_in(gone)
        if self.plain and not codes and not space.categories:
            return space
        former = self.outer.diff(space).former
        names: list[str] = []
        for name in space.names:
            was = former.get(name)
            if name in space.categories:
                known = self.symbols[was] if was is not None else _back(name, space, symbols)
                names += [others(name), *(symbol(name, level) for level in known)]
            else:
                levels = self.codes.get(was, []) if was is not None else _back(name, space, codes)
                names += [spelled(name, level) for level in levels] or [name]
        return inner_space(space, names)


def first_columns(outer: FeatureSpace) -> FeatureSpace:
    """The inner space of a learner that has seen nothing: no category has a level yet."""
    return Spelling(FeatureSpace(())).towards(outer, ())


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
    own: dict[str, dict[str, Takeover]] = {}
    for name, takeover in evolution.takeovers.items():
        own.setdefault(feature_of(name), {})[name] = takeover
    return Evolution(
        FeatureChange(vanished, survived, augmented, former),
        evolution.announced,
        evolution.transform_steps,
        evolution.warm,
        _features(evolution.returned),
        {feature: _takeover(feature, levels) for feature, levels in own.items()},
    )


def _features(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(feature_of, names)))


def _takeover(feature: str, own: dict[str, Takeover]) -> Takeover:
    """Of a feature's levels the mean share, and the survivor that has most of one."""
    levels = [takeover for name, takeover in own.items() if name != others(feature)] or list(own.values())
    best = max(levels, key=lambda takeover: takeover.share)
    by = None if best.by is None else feature_of(best.by)
    return Takeover(sum(takeover.share for takeover in levels) / len(levels), by)


def _back(name: str, space: FeatureSpace, gone: Mapping[str, list[_Level]]) -> list[_Level]:
    """The levels under which a new feature was known before it vanished."""
    return next((gone[known] for known in (name, *space.aliases.get(name, ())) if known in gone), [])
