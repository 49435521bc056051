"""A fresh start beside what was carried over an evolution: a metric and a linear view of what has come since.

Called by the learner after every evolution. Where survivors know little, what was learnt before is in the way, and
a learner that begins anew is ahead of one that carries over; nobody knows beforehand, so both answer (`mixture`).
It has no memory of its own: its views see the exemplars that came since the space changed. It ends when most of the
memory is of the new space; what was carried over ends in its place where that was right less often.
"""

import numpy as np

from eml.core import evolution
from eml.core.arrays import Index
from eml.core.config import LearnerConfig
from eml.core.fitting import Fitter
from eml.core.linear import Linear, is_too_wide
from eml.core.mixture import Mixture
from eml.core.state import Fresh, State
from eml.core.views import FIRST_WEIGHT, Pooling, View

FEWEST = 8  # exemplars of the new space to begin with
FILLED = 0.8  # share of the memory that is of the new space, at which a fresh start has all that can be had


def begin(state: State) -> None:
    """The space has changed: a fresh start has seen nothing yet."""
    state.memory.recent[:] = False
    columns = np.arange(len(state.space))
    view = View("fresh", columns, np.zeros((0, len(columns))), recent=True)
    state.tallies.pop("fresh", None)
    if state.linear is None or is_too_wide(len(columns), len(state.classes)):
        state.fresh = Fresh(view, None, Pooling.start(FIRST_WEIGHT))
    else:
        state.fresh = Fresh(view, Linear.empty(len(columns)), Pooling.start(FIRST_WEIGHT / 2, 0.5))


def learn(state: State, config: LearnerConfig, fitter: Fitter, *, step: bool) -> None:
    """Lay its metric anew while it is young, then improve it (`step`: this batch is one to step with)."""
    fresh, memory = state.fresh, state.memory
    if fresh is None:
        return
    _know(fresh, len(state.classes))
    rows = np.flatnonzero(memory.recent)
    if len(rows) < FEWEST or len(np.unique(memory.y[rows])) < 2:
        return
    if state.since < config.warm_up or not len(fresh.view.L):
        fresh.view.L = evolution.first_metric(state, fresh.view.columns, fitter, rows)
    elif step:
        _improve(state, fresh.view, rows, config, fitter)
    state.fit(fresh.linear, rows, young=state.since < config.warm_up)


def _know(fresh: Fresh, classes: int) -> None:
    """Have its linear view know so many classes; where they are too many its metric answers alone."""
    if fresh.linear is None:
        return
    fresh.linear.know(classes)
    if not fresh.linear.classes:
        fresh.linear, fresh.pooling = None, Pooling.start(2.0 * float(fresh.pooling.w[0]))


def _improve(state: State, view: View, rows: Index, config: LearnerConfig, fitter: Fitter) -> None:
    count = config.batch + 2 * config.replay
    drawn = state.memory.sample(count + config.pool * len(state.classes), state.rng, rows)
    drawn = state.rng.permutation(drawn)
    order = np.arange(min(count, len(drawn)))
    X, y = state.memory.samples(drawn, view.columns), state.memory.y[drawn]
    view.L = fitter.improve(view.L, X, y, order[::2], order[1::2])


def end(state: State) -> None:
    """End the fresh start when it has had its time, or what was carried over if that is the worse of the two."""
    fresh, memory = state.fresh, state.memory
    if fresh is None:
        return
    filled = memory.recent.sum() >= FILLED * memory.capacity or state.since >= memory.capacity
    if not filled or "fresh" not in state.mixture.experts:
        return
    if state.mixture.favours("fresh"):
        _take_over(state, fresh)
    state.fresh = None


def _take_over(state: State, fresh: Fresh) -> None:
    """What was carried over is let go: metric, weights, exemplars."""
    state.memory.keep(np.flatnonzero(state.memory.recent))
    view, state.survivors = fresh.view, None
    state.views = [View("all", view.columns, view.L)]
    state.pooling = Pooling.start(float(fresh.pooling.w[0]) * len(fresh.pooling.w))
    evolution.begin_basis(state, view.L)
    if state.linear is not None and fresh.linear is not None:
        fresh.linear.retired = state.linear.retired
        state.linear = fresh.linear
    state.mixture, state.tallies = Mixture(), {}  # metric and linear view are others than those that had the shares
    state.stage = "steady" if state.upcoming is None else "transforming"
