"""The joint view after a switch: over survivors and new features, from the first labels on until it is the metric.

Called by the learner while it inherits, and by `evolution`, `fresh` and `survivors`; `inheriting` has the I-stage.
"""

import numpy as np

from eml.core import arcsinh, category_detection
from eml.core.arrays import Mask
from eml.core.config import LearnerConfig
from eml.core.fitting import Fitter
from eml.core.imputation import impute
from eml.core.inheriting import Exemplars, donors_of, inherit
from eml.core.new_metric import KNOWN_SHARE
from eml.core.state import State
from eml.core.views import Pooling, RunningAccuracy, View


def outdated(state: State) -> Mask:
    """Exemplars to replace first: stale ones and, in a full memory, those without the new features."""
    memory = state.memory
    if state.stage != "inheriting" or len(memory) < memory.capacity:
        return memory.stale
    return memory.stale | ~state.with_observed(state.new_columns(), KNOWN_SHARE)


def form(state: State, fitter: Fitter, config: LearnerConfig) -> None:
    """The I-stage: once labelled samples have the new features, and again when there are more of them."""
    category_detection.detect_in_new(state)
    arcsinh.extend(state)
    survived, columns = state.views[0], np.arange(len(state.space))
    X = state.memory.samples(np.arange(len(state.memory)), columns)
    observed = state.memory.observed[:, : len(columns)]
    counted = state.encoder.one_per_category(state.new_columns())
    exemplars = Exemplars(X, state.memory.y, observed, state.statistics.deviation(), counted)
    weight, anchors = float(state.pooling.w.sum()), config.batch // 2 + config.replay
    inheritance = inherit(exemplars, survived, state.returned, weight, fitter, anchors, state.rng)
    if inheritance is None:
        return
    state.memory.set_values(columns, inheritance.imputed)
    state.views = [survived, View("joint", columns, inheritance.L)]
    state.pooling = inheritance.pooling


def impute_memory(state: State) -> None:
    """Impute the new features of old exemplars again: there are more donors by now."""
    memory, survived = state.memory, state.views[0]
    new = state.new_columns()
    donors = donors_of(memory.observed, state.encoder.one_per_category(new))
    receivers = np.ones(len(memory), dtype=np.bool_)
    receivers[donors] = False
    if receivers.any() and len(donors):
        everyone = np.arange(len(memory))
        known = memory.samples(everyone, survived.columns) @ survived.L.T
        memory.set_values(new, impute(known, memory.samples(everyone, new), receivers, memory.y, donors))


def adopt(state: State, rank: int) -> None:
    """The joint metric becomes the metric; if it was built on too few samples to have all its rows, it is rebuilt.

    The survivors' metric stays beside it while there is a survivors' expert.
    """
    carry_retired(state)
    state.returned = {}
    if len(state.views[-1].L) < min(rank, len(state.space)):
        state.stage = "initial"
    else:
        state.stage = "steady" if state.upcoming is None else "transforming"
    if state.survivors is None or state.stage == "initial":
        state.survivors = None
        end_survivors_view(state)


def carry_retired(state: State) -> None:
    """Convert the columns of vanished features from the basis of L^s to the joint one: C with J = C L^s on survivors.

    Done only when the joint view is adopted or ends: until then it may be rebuilt from L^s.
    """
    if state.stage != "inheriting" or len(state.views) < 2:
        return
    survived, joint = state.views
    carry = joint.L[:, survived.columns] @ np.linalg.pinv(survived.L)  # (k', k)
    state.retired_columns = {name: carry @ column for name, column in state.retired_columns.items()}


def end_survivors_view(state: State) -> None:
    """The joint metric goes on alone."""
    joint = state.views[-1]
    state.views = [View("all", joint.columns, joint.L)]
    state.accuracies["all"] = state.accuracies.pop(joint.name, RunningAccuracy())
    state.pooling = Pooling.start(float(state.pooling.w.sum()))
