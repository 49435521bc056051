"""The fresh start: a metric and a linear view trained from scratch after an evolution, beside what was carried over.

Called by the learner after every evolution. Where survivors say little about the classes, a learner that starts from
scratch is better than one that carries over; nobody knows beforehand, so both are experts of the mixture. It has no
memory of its own: its views see the exemplars that came since the space changed. It ends when most of the memory is of
the new space. If it was the best expert then, it replaces what was carried over.
"""

import numpy as np

from eml.core.arrays import Index
from eml.core.config import LearnerConfig
from eml.core.fitting import Fitter
from eml.core.linear import Linear, is_too_wide
from eml.core.mixture import Mixture
from eml.core.new_metric import first_metric, reset_basis
from eml.core.state import Fresh, State
from eml.core.views import FIRST_WEIGHT, Pooling, View

FEWEST = 8  # exemplars of the new space before it predicts
FILLED = 0.8  # share of the memory that is of the new space, at which a fresh start has all that can be had


def begin(state: State) -> None:
    """Start from scratch: the space has just changed."""
    state.memory.recent[:] = False
    columns = np.arange(len(state.space))
    view = View("fresh", columns, np.zeros((0, len(columns))), recent=True)
    state.accuracies.pop("fresh", None)
    if state.linear is None or is_too_wide(len(columns), len(state.classes)):
        state.fresh = Fresh(view, None, Pooling.start(FIRST_WEIGHT))
    else:
        state.fresh = Fresh(view, Linear.empty(len(columns)), Pooling.start(FIRST_WEIGHT / 2, 0.5))


def learn(state: State, config: LearnerConfig, fitter: Fitter, *, step: bool) -> None:
    """Rebuild its metric while it is young, improve it later (`step`: a step is due with this batch)."""
    fresh, memory = state.fresh, state.memory
    if fresh is None:
        return
    _set_classes(fresh, len(state.classes))
    rows = np.flatnonzero(memory.recent)
    if len(rows) < FEWEST or len(np.unique(memory.y[rows])) < 2:
        return
    if state.since < config.warm_up or not len(fresh.view.L):
        fresh.view.L = first_metric(state, fresh.view.columns, fitter, rows)
    elif step:
        _improve(state, fresh.view, rows, config, fitter)
    state.fit(fresh.linear, rows, young=state.since < config.warm_up)


def _set_classes(fresh: Fresh, classes: int) -> None:
    """Set its linear view's number of classes; if these are too many, its metric predicts alone."""
    if fresh.linear is None:
        return
    fresh.linear.set_classes(classes)
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
    """End the fresh start when its time is up; it takes over if it was the best expert."""
    fresh, memory = state.fresh, state.memory
    if fresh is None:
        return
    filled = memory.recent.sum() >= FILLED * memory.capacity or state.since >= memory.capacity
    if not filled or "fresh" not in state.mixture.experts:
        return
    if state.mixture.is_best("fresh"):
        _take_over(state, fresh)
    state.fresh = None


def _take_over(state: State, fresh: Fresh) -> None:
    """Replace what was carried over: metric, weights, exemplars."""
    state.memory.keep(np.flatnonzero(state.memory.recent))
    view, state.survivors = fresh.view, None
    state.views = [View("all", view.columns, view.L)]
    state.pooling = Pooling.start(float(fresh.pooling.w[0]) * len(fresh.pooling.w))
    reset_basis(state, view.L)
    if state.linear is not None and fresh.linear is not None:
        fresh.linear.retired = state.linear.retired
        state.linear = fresh.linear
    state.mixture, state.accuracies = Mixture(), {}  # metric and linear view are others than those that had the shares
    state.stage = "steady" if state.upcoming is None else "transforming"
