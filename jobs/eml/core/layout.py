"""Moves a learner's whole state to other columns: the only place where columns move.

Called by `evolution`, when the feature space changes or features are renamed or reordered, and by `category_detection`,
when a feature gets one column per level. The caller decides which columns there will be; this module moves memory,
statistics, metrics and linear views accordingly. It learns nothing and knows no rules about features.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eml.core.arrays import Array, Index, Mask
from eml.core.features import FeatureSpace
from eml.core.state import State
from eml.core.statistics import Statistics
from eml.core.views import View


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the next space.

    `source` is the present column it is made of: an active one or, counted on from those, a retired one.
    """

    name: str
    source: int | None  # None: a new feature
    factor: float = 1.0  # the source's column of a metric is multiplied by it
    values: Array | None = None  # (n,) values of the exemplars, 0 or 1, where they differ from the source's: a level


def move_columns(state: State, space: FeatureSpace, columns: Sequence[Column], retired: Sequence[int]) -> None:
    """Move the state to `space`, which has these columns; behind them it keeps some retired ones, named by source.

    A level's column of a metric is its source's times the factor, so encoding a feature changes no distance.
    """
    sources = [column.source for column in columns]
    is_level = np.array([column.values is not None for column in columns], dtype=np.bool_)
    _move_memory(state, columns, [*sources, *retired])
    _move_statistics(state, sources, retired, is_level)
    active = len(state.space)
    made_of = [source if source is not None and source < active else None for source in sources]
    factor = np.array([column.factor for column in columns])
    for view in (*state.views, *([] if state.fresh is None else [state.fresh.view])):
        _move_view(view, made_of, factor)
    for linear in state.linears:
        if linear is not None:
            linear.move(made_of, factor, is_level)
    returned = state.returned
    state.returned = {
        j: returned[source] * factor[j] for j, source in enumerate(made_of) if source is not None and source in returned
    }
    state.space = space


def _move_memory(state: State, columns: Sequence[Column], sources: list[int | None]) -> None:
    memory = state.memory
    memory.move_columns(sources)
    for j, column in enumerate(columns):
        if column.values is not None:
            memory.X[:, j], memory.resolution[j] = column.values, 0.0


def _move_statistics(state: State, sources: list[int | None], retired: Sequence[int], is_level: Mask) -> None:
    pairs = zip(state.statistics.fields(), state.retired_statistics.fields(), strict=True)
    everything = Statistics(*(np.concatenate(pair) for pair in pairs))
    state.statistics, state.retired_statistics = everything.select(sources), everything.select(list(retired))
    levels = np.flatnonzero(is_level)
    if len(levels):
        statistics, memory = state.statistics, state.memory
        statistics.origin[levels] = statistics.first[levels] = 0.0
        values = memory.X[:, levels].astype(np.float64)
        statistics.recompute(values, memory.observed[:, levels], levels, np.zeros(len(levels)))


def _move_view(view: View, made_of: list[int | None], factor: Array) -> None:
    place = {int(column): i for i, column in enumerate(view.columns)}
    columns: Index = np.array([j for j, source in enumerate(made_of) if source in place], dtype=np.intp)
    places = [place[source] for source in made_of if source is not None and source in place]
    view.L, view.columns = view.L[:, places] * factor[columns], columns
