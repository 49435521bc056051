"""The learner as it was before an evolution, without the new features: one of the experts while it may be the best.

Called by the learner. Where the survivors know all, whatever looks at new features as well is a little worse, by their
noise; nobody knows beforehand, so both answer (`mixture`). Its metric is the survivors' view, its linear view has the
weights of the survivors, and both are pooled as they were before the evolution. It ends when its share has become
small after most of the memory is of the new space, and with the next evolution.
"""

from dataclasses import replace

import numpy as np

from eml.core import joint_view
from eml.core.state import State, Survivors
from eml.core.views import Pooling

SMALL = 0.01  # share of an expert that was clearly worse lately: one that is level with the best is seldom below 0.02
SELDOM = 4  # windows from fit to fit when most of the memory is of the new space: it changes little by then


def begin(state: State) -> None:
    """The space has changed, and `state.linear` was fitted in it."""
    state.survivors = None
    if state.stage != "inheriting" or state.linear is None or not state.linear.classes:
        return
    columns = state.views[0].columns
    W = np.zeros_like(state.linear.W)
    W[:, columns] = state.linear.W[:, columns]
    state.survivors = Survivors(replace(state.linear, W=W, b=state.linear.b.copy(), retired={}), _pooling(state))
    learn(state)  # features that came back had a part in these weights


def _pooling(state: State) -> Pooling:
    """Metric and linear view, weighed as before the evolution."""
    mixture, weight = state.mixture, float(state.pooling.w.sum())
    if not {"metric", "linear"} <= set(mixture.pooled):
        return Pooling.start(weight / 2, 0.5)
    places = [mixture.pooled.index(name) for name in ("metric", "linear")]
    unit = np.array([weight, 1.0])  # the mixture pools what the metric says times its weight
    curvature = mixture.pooling.curvature[np.ix_(places, places)] / np.outer(unit, unit)
    return Pooling(mixture.pooling.w[places] * unit, curvature)


def learn(state: State) -> None:
    """Fit its linear view; its metric is improved with that of all features."""
    if state.survivors is None:
        return
    linear = state.survivors.linear
    linear.columns = state.views[0].columns
    linear.set_classes(len(state.classes))
    if not _settled(state) or state.revision % SELDOM == 0:
        state.fit(linear, young=False)
    if not linear.classes:  # they have become too many
        _let_go(state)


def end(state: State) -> None:
    """End it when its share has become small; not before the joint metric is the metric."""
    if state.survivors is not None and _settled(state) and state.mixture.experts["survived"].share < SMALL:
        _let_go(state)


def _settled(state: State) -> bool:
    return state.stage in {"steady", "transforming"}


def _let_go(state: State) -> None:
    state.survivors = None
    if _settled(state):
        joint_view.end_survivors_view(state)
