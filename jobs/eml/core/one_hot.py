r"""One-hot encoding of categories and integer codes: one column per level, 1 where a sample has that level.

Called by the learner with every sample, by `category_detection`, and by whatever lays out columns. A mode, an error
code or a letter arrives as a number, but 3 is not between 2 and 4 there. A category is declared to be one; a code is a
numeric feature that was detected to be one (`category_detection`). Samples come with the features of the input space;
every other module works on the columns of the encoded space, whose names say which columns are levels:

    rpm          a numeric feature
    mode\0=      a category: 1 where its symbol has no column of its own, so that a category always has a column
    mode\0=7     a category: 1 where the hash of its symbol is 7
    gear\03      a code: 1 where it is 3
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from eml.core.arrays import Array, Index, Mask
from eml.core.column_names import (
    MARK,
    categories_in,
    category_column,
    code_column,
    codes_in,
    feature_of,
    is_category,
    level_of,
    other_column,
)
from eml.core.features import FeatureSpace

_Level = TypeVar("_Level", int, float)


@dataclass(frozen=True)
class OneHotEncoder:
    """How samples of the input space become the columns that the learner works on."""

    encoded: FeatureSpace

    @cached_property
    def codes(self) -> Mapping[str, list[int]]:
        """The levels of every feature that is a code."""
        return codes_in(self.encoded.names)

    @cached_property
    def categories(self) -> Mapping[str, list[float]]:
        """The levels of every category: hashes of its symbols."""
        return categories_in(self.encoded.names)

    @cached_property
    def is_identity(self) -> bool:
        """All features are numeric: input and encoded space are the same."""
        return not self.codes and not self.categories

    @cached_property
    def inputs(self) -> FeatureSpace:
        """The features as samples have them."""
        if self.is_identity:
            return self.encoded
        names = tuple(dict.fromkeys(feature_of(name) for name in self.encoded.names))
        aliases = {feature_of(name): tuple(map(feature_of, former)) for name, former in self.encoded.aliases.items()}
        return FeatureSpace(names, aliases, frozenset(self.categories))

    @cached_property
    def sources(self) -> Index:
        """The input column that each encoded column is made of."""
        return np.array([self.inputs.position[feature_of(name)] for name in self.encoded.names], dtype=np.intp)

    @cached_property
    def level(self) -> Array:
        """The level of each encoded column; NaN for a numeric feature and for other symbols."""
        levels = [level_of(name) for name in self.encoded.names]
        return np.array([np.nan if level is None else level for level in levels])

    @cached_property
    def is_numeric(self) -> Mask:
        """Which encoded columns are numeric features."""
        return np.array([MARK not in name for name in self.encoded.names], dtype=np.bool_)

    @cached_property
    def numeric(self) -> Index:
        """The encoded columns that are numeric features."""
        return np.flatnonzero(self.is_numeric)

    @cached_property
    def other_columns(self) -> Index:
        """The encoded columns of symbols without a column of their own, in the order of `categories`."""
        return np.array(self.encoded.columns(other_column(feature) for feature in self.categories), dtype=np.intp)

    @cached_property
    def _grouped(self) -> tuple[Index, Index, Index]:
        """The level columns of categories side by side, where those of each begin, and which categories have any."""
        groups = [
            self.encoded.columns(category_column(feature, level) for level in levels)
            for feature, levels in self.categories.items()
        ]
        sizes = np.array([len(group) for group in groups], dtype=np.intp)
        known = np.flatnonzero(sizes)
        starts = (np.cumsum(sizes) - sizes)[known]
        return np.array([column for group in groups for column in group], dtype=np.intp), starts, known

    def encode(self, X: Array) -> Array:
        """Samples (n, inputs) as the learner's columns (n, encoded).

        A code's level without a column sets none of the code's columns; a symbol without one sets the column of others.
        """
        if self.is_identity:
            return X
        values = X[:, self.sources]
        has = values == self.level
        if len(self.other_columns):
            columns, starts, known = self._grouped
            has[:, self.other_columns] = True
            if len(known):
                has[:, self.other_columns[known]] = ~np.logical_or.reduceat(has[:, columns], starts, axis=1)
        return np.where(self.is_numeric | ~np.isfinite(values), values, has)

    def deviations(self, deviation: Array, columns: Index) -> list[Array]:
        """Ways to scale `columns`, which deviate by this much (len(columns),); held-out samples choose.

        Scaled one by one, a category counts as much as it has levels. Its levels may also have one deviation together,
        that of the category as a whole, so that it counts as one feature.
        """
        mine = self._is_category[columns]
        if not mine.any():
            return [deviation]
        feature = self.sources[columns]
        total = np.bincount(feature[mine], weights=deviation[mine] ** 2, minlength=len(self.inputs))
        return [deviation, np.where(mine & (deviation > 0.0), np.sqrt(total[feature]), deviation)]

    def one_per_category(self, columns: Index) -> Index:
        """These columns, but only one of each category: its columns are observed together and count once."""
        if not self.categories:
            return columns
        seen: set[int] = set()
        kept = []
        for column in columns.tolist():
            source = int(self.sources[column])
            if not self._is_category[column] or source not in seen:
                kept.append(column)
            seen.add(source)
        return np.array(kept, dtype=np.intp)

    @cached_property
    def _is_category(self) -> Mask:
        return np.array([is_category(name) for name in self.encoded.names], dtype=np.bool_)

    def next_space(self, space: FeatureSpace, retired: Iterable[str]) -> FeatureSpace:
        """The next encoded space for the next input space: encoded features stay encoded, also when they return."""
        gone = tuple(retired)
        codes, symbols = codes_in(gone), categories_in(gone)
        if self.is_identity and not codes and not space.categories:
            return space
        former = self.inputs.diff(space).former
        names: list[str] = []
        for name in space.names:
            was = former.get(name)
            if name in space.categories:
                known = self.categories[was] if was is not None else _back(name, space, symbols)
                names += [other_column(name), *(category_column(name, level) for level in known)]
            else:
                levels = self.codes.get(was, []) if was is not None else _back(name, space, codes)
                names += [code_column(name, level) for level in levels] or [name]
        return encoded_space(space, names)


def first_encoded_space(inputs: FeatureSpace) -> FeatureSpace:
    """The encoded space of a learner that has seen nothing: no category has a level yet."""
    return OneHotEncoder(FeatureSpace(())).next_space(inputs, ())


def encoded_space(inputs: FeatureSpace, names: Iterable[str]) -> FeatureSpace:
    """The encoded space with these columns; a feature's columns get the feature's aliases."""
    columns, aliases = tuple(names), {}
    for column in columns:
        feature, mark, level = column.partition(MARK)
        if feature in inputs.aliases:
            aliases[column] = tuple(former + mark + level for former in inputs.aliases[feature])
    return FeatureSpace(columns, aliases)


def _back(name: str, space: FeatureSpace, gone: Mapping[str, list[_Level]]) -> list[_Level]:
    """The levels under which a new feature was known before it vanished."""
    return next((gone[known] for known in (name, *space.aliases.get(name, ())) if known in gone), [])
