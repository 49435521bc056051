"""The T-stage: while the next space is known, a metric of the survivors is learnt beside the metric of now.

Called by the learner with every batch and by `evolution`, which has the rest of it done at the switch; `stages` has the
paper's step. Columns do not move here.
"""

from dataclasses import replace

import numpy as np

from eml.core import stages
from eml.core.arrays import Array, Index
from eml.core.config import LearnerConfig
from eml.core.features import FeatureChange, FeatureSpace
from eml.core.fitting import Fitter
from eml.core.new_metric import SAMPLES, trusted
from eml.core.state import State, Upcoming


def announce(state: State, space: FeatureSpace) -> None:
    """Start the T-stage towards `space`; the same announcement again changes nothing."""
    if state.upcoming is not None and state.upcoming.space == space:
        return
    state.upcoming = Upcoming(space) if state.space.diff(space).is_evolution else None
    state.rest = state.resting = 0  # there may be few batches until the switch
    if state.stage in {"steady", "transforming"}:
        state.stage = "steady" if state.upcoming is None else "transforming"


def step(state: State, X: Array, y: Index, count: int, fitter: Fitter, *, transform: bool) -> None:
    """One step on samples X. Of the first `count`, one half are anchors, the other half choose the candidate.

    While there are two views, the survivors' metric learns, too: it may be the better one for a long time. Once the
    joint metric has settled, a step costs as much as with one view: one of the two, drawn at random, takes it.
    """
    order = state.rng.permutation(min(count, len(X)))
    anchors, held = order[::2], order[1::2]
    if len(held) == 0 or len(np.unique(y)) < 2:
        return
    view, upcoming = state.views[-1], state.upcoming
    settled = state.stage != "inheriting"
    if len(state.views) == 2 and (not settled or (upcoming is None and state.rng.random() < 0.5)):
        survived = state.views[0]
        survived.L = fitter.improve(survived.L, X[:, survived.columns], y, anchors, held)
        if settled:
            return
    change = state.space.diff(upcoming.space) if upcoming is not None and transform else None
    if upcoming is None or change is None or not change.survived:
        view.L = fitter.improve(view.L, X, y, anchors, held)
        return
    Ls = upcoming.Ls if upcoming.Ls is not None else _distil(state, upcoming, change, fitter)
    view.L, upcoming.Ls = fitter.transform(view.L, Ls, X, state.columns_of(change), y, anchors, held)
    upcoming.steps += 1


def _distil(state: State, upcoming: Upcoming, change: FeatureChange, fitter: Fitter) -> Array:
    """Where L^s starts: L^a on the survivors, distilled (`stages.distil`) if that predicts better."""
    view, memory = state.views[-1], state.memory
    La = np.zeros((len(view.L), len(state.space)))
    La[:, view.columns] = view.L
    rows = memory.sample(SAMPLES, state.rng, trusted(state))
    X = memory.samples(rows, np.arange(len(state.space)))
    survived = state.columns_of(change)
    order = state.rng.permutation(len(rows))
    fitted, held = order[::2], order[1::2]
    trial, _ = stages.distil(La, X[fitted], survived)
    alone, distilled = La[:, survived], stages.distil(La, X, survived)
    better = fitter.better([alone, trial], X[:, survived], memory.y[rows], held)
    upcoming.Ls, upcoming.explained = (alone.copy() if better is alone else distilled[0]), distilled[1]
    return upcoming.Ls


def prepared(state: State, space: FeatureSpace, change: FeatureChange) -> Upcoming:
    """What the T-stage has prepared for this change; nothing if it expected other survivors.

    Only survivors matter: an announcement with other new features, or with none (a feature marked as retiring), has
    prepared for this space, too.
    """
    upcoming = state.upcoming
    if upcoming is None or upcoming.Ls is None or upcoming.space == space:
        return upcoming if upcoming is not None and upcoming.Ls is not None else Upcoming(space)
    awaited = state.space.diff(upcoming.space)
    place = {awaited.former[name]: column for column, name in enumerate(awaited.survived)}
    if set(place) != set(change.former.values()):
        return Upcoming(space)
    columns = [place[change.former[name]] for name in change.survived]
    return replace(upcoming, space=space, Ls=upcoming.Ls[:, columns])


def finish(state: State, upcoming: Upcoming, change: FeatureChange, config: LearnerConfig, fitter: Fitter) -> None:
    """The rest of the T-stage: all of it if the change was not announced."""
    if upcoming.Ls is not None:
        return
    _distil(state, upcoming, change, fitter)
    whole = len(state.views[-1].columns) == len(state.space)
    if not config.transform or not whole or len(state.classes) < 2:
        return
    for _ in range(config.catch_up):
        pool = config.pool * len(state.classes)
        wanted = config.batch + 2 * config.replay + pool
        rows = state.rng.permutation(state.memory.sample(wanted, state.rng, trusted(state)))
        X = state.memory.samples(rows, np.arange(len(state.space)))
        step(state, X, state.memory.y[rows], config.batch + 2 * config.replay, fitter, transform=True)
