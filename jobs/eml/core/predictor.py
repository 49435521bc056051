"""Predictions between two changes of a learner: what they need is laid out once, then each is one compiled call.

Called by the learner, which lets go of its predictor whenever it learns, evolves or reacts. Without numba the views
answer one after another in numpy (`reference`): the same answers but for rounding, at many times the time.

    Predictor   the layout of a learner's state; `kernels` says what the arrays hold
    reference   the same answers from the views themselves, which the tests compare with
    warm_up     compile, or read from the disk what was compiled before, before the first record comes
"""

import logging
from collections.abc import Iterator, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eml.core import experts, linear, missing, mixture, neighbours, statistics
from eml.core.arrays import Array, Array32, Index
from eml.core.state import Fresh, State
from eml.core.views import View

NO_SINGLES, NO_EXEMPLARS = np.zeros(0, dtype=np.float32), np.zeros((0, 0), dtype=np.float32)
NO_COLUMNS = np.zeros((0, 2, 0), dtype=np.float32)
MOST_VIEWS = 3  # the survivors' metric, the joint one, the fresh start's
OPINIONS = ("metric", "survived", "joint", "linear", "fresh")
MARGIN, NOVELTY, BEST, FRESH_BEST, ANSWERS = range(5)  # columns of the answer behind the scores of the classes

_log = logging.getLogger(__name__)


@cache
def kernels() -> ModuleType | None:
    """The compiled functions; None, with a warning, where there is no numba."""
    try:
        from eml.core import kernels as compiled  # noqa: PLC0415  takes a second: not for who predicts nothing
    except ImportError as error:
        _log.warning("predictions are not compiled and take many times as long: %s (pip install numba)", error)
        return None
    return compiled


def warm_up() -> bool:
    """Compile now what predictions need; False where it cannot be compiled."""
    return kernels() is not None


class Predictor:
    """A learner's state as the flat arrays of the compiled functions; valid until the state changes."""

    def __init__(self, state: State, count: int) -> None:
        fresh = state.fresh if experts.fresh_answers(state) else None
        self._state = state
        self._views = [*state.views, *([] if fresh is None else [fresh.view])]
        self._lost: tuple[tuple[Array32, ...], Array32] = _three([], NO_COLUMNS), NO_SINGLES
        linears = _linears(state, fresh)
        singles = [*(view.L.T.astype(np.float32).ravel() for view in self._views), *map(_weights, linears)]
        at_linears = np.cumsum([len(part) for part in singles])[-1 - len(linears) : -1].tolist()
        self._layout = (
            np.concatenate([np.asarray(part, dtype=np.float64) for part in self._numbers(fresh, linears)]),
            np.concatenate(
                [np.asarray(part, dtype=np.int64) for part in self._whole(count, fresh, linears, at_linears)]
            ),
            np.concatenate(singles),
            _three([_embedded(view).T for view in self._views], NO_EXEMPLARS),
        )
        self._width = len(state.classes) + ANSWERS
        self.nbytes = 0  # in memory, with the state, which stays as it is as long as this is of use
        self._count()

    def _numbers(self, fresh: Fresh | None, linears: Sequence[linear.Linear | None]) -> Iterator[ArrayLike]:
        """The parts of the array of numbers."""
        state = self._state
        yield _features(state, linears).ravel()
        yield [*CONSTANTS, state.typical_distance, state.mixture.pooled_share, *_pooling(state, fresh)]
        yield _mixing(state.mixture).ravel()
        yield from (np.zeros(len(state.classes)) if part is None else part.b for part in linears)
        yield from (view.centre for view in self._views)

    def _whole(
        self, count: int, fresh: Fresh | None, linears: Sequence[linear.Linear | None], at_linears: list[int]
    ) -> Iterator[ArrayLike]:
        """The parts of the array of whole numbers."""
        state = self._state
        there = [part is not None for part in linears]
        counts = [count, len(state.views), there[0], fresh is not None, *there[1:]]
        yield [*counts, *at_linears, len(state.mixture.experts) == 1, len(state.space), len(state.classes)]
        yield self._places()
        yield from (_embedded(view).starts for view in self._views)
        yield from (view.columns for view in self._views)

    def answer(self, values: Array) -> Array:
        """Scores and what follows from them (n, C + 4) of samples (n, outer)."""
        compiled: Any = kernels()
        out = np.empty((len(values), self._width))
        values = np.ascontiguousarray(values)
        if not compiled.answer_rows(values, *self._layout, *self._lost, out):
            self._lost = self._columns()
            self._count()
            compiled.answer_rows(values, *self._layout, *self._lost, out)
        return out

    def _count(self) -> None:
        own = sum(part.nbytes for part in (*self._layout[:3], self._lost[1]))
        self.nbytes = self._state.nbytes + own

    def _places(self) -> list[int]:
        """Sizes of each view, and where its parts begin."""
        places, at_columns, at_singles, at_lost = [], 0, 0, 0
        for view in self._views:
            k, d = view.L.shape
            places += [d, k, len(_embedded(view)), at_columns, at_singles, at_lost]
            at_columns, at_singles, at_lost = at_columns + d, at_singles + d * k, at_lost + d + d * k
        return places

    def _columns(self) -> tuple[tuple[Array32, ...], Array32]:
        """What samples with missing values need; made when the first one comes."""
        made = [view.columns_of(self._state.memory) for view in self._views]
        singles = [part for one in made for part in (one.share.astype(np.float32), one.L[: len(one.share)].ravel())]
        return _three([one.E for one in made], NO_COLUMNS), np.concatenate(singles)


CONSTANTS = (
    statistics.FURTHEST,
    float(neighbours.FARTHEST),
    linear.FARTHEST,
    float(neighbours.TINY),
    neighbours.EMPTY,
    missing.TOO_MUCH,
    mixture.SMOOTHING,
)


def _three(parts: list[Array32], none: Array32) -> tuple[Array32, ...]:
    """As many as the compiled functions take, whatever number of views there is."""
    return (*parts, *[none] * (MOST_VIEWS - len(parts)))


def _linears(state: State, fresh: Fresh | None) -> list[linear.Linear | None]:
    """The linear views that answer: of all columns, of the fresh start, of the survivors."""
    return [
        state.linear if state.linear is not None and state.linear.classes > 0 else None,
        None if fresh is None else fresh.linear,
        None if state.survivors is None else state.survivors.linear,
    ]


def _pooling(state: State, fresh: Fresh | None) -> list[float]:
    """Two weights each: of the metric views, of the fresh start's views, of the survivors'."""
    weights = [*state.pooling.w[: len(state.views)], 0.0][:2]
    weights += [0.0, 0.0] if fresh is None else [*fresh.pooling.w, 0.0][:2]
    return weights + ([0.0, 0.0] if state.survivors is None else state.survivors.pooling.w.tolist())


def _embedded(view: View) -> neighbours.Embedded:
    assert view.embedded is not None  # noqa: S101  a view is refreshed before it is asked
    return view.embedded


def _weights(view: linear.Linear | None) -> Array32:
    return NO_SINGLES if view is None else view.W.T.astype(np.float32).ravel()


def _features(state: State, linears: Sequence[linear.Linear | None]) -> Array:
    """A row for each thing that is known of every column."""
    encoder, known = state.encoder, state.statistics
    d = len(state.space)
    others = np.full(d, -1.0)
    for column in encoder.other_columns:
        others[encoder.sources == encoder.sources[column]] = column
    scales = [np.zeros((2, d)) if part is None else np.stack([part.centre, part.scale]) for part in linears]
    rows = [encoder.sources, encoder.is_numeric, encoder.level, others]
    rows += [known.origin, known.unit, known.mean, known.limits(), *np.concatenate(scales)]
    return np.array(rows, dtype=np.float64)


def _mixing(mixed: mixture.Mixture) -> Array:
    """Of every opinion the weight that calibrates it, its share, and its weight among those that are pooled."""
    table = np.zeros((len(OPINIONS), 3))
    for name, expert in mixed.experts.items():
        table[OPINIONS.index(name), :2] = expert.calibration.w[0], expert.share
    for name, weight in zip(mixed.pooled, mixed.pooling.w, strict=True):
        table[OPINIONS.index(name), 2] = weight
    return table


def reference(state: State, values: Array, count: int) -> Array:
    """What `Predictor.answer` says, by the views themselves."""
    cleaned, present, _ = state.statistics.clean(state.encoder.encode(values))
    scored = experts.score_views(state, cleaned, present, count)
    p = state.mixture.probabilities(scored.by_expert)
    top = np.sort(p, axis=1)
    margin = top[:, -1] - top[:, -2] if p.shape[1] > 1 else np.ones(len(p))
    comparable = present.any(axis=1) & (state.typical_distance > 0.0)
    novelty = np.where(comparable, scored.distances[-1].min(axis=1) / (state.typical_distance or 1.0), np.inf)
    fresh: Index = (
        scored.by_expert["fresh"].argmax(axis=1) if "fresh" in scored.by_expert else np.zeros(len(p), np.intp)
    )
    return np.column_stack([p, margin, novelty, p.argmax(axis=1), fresh])
