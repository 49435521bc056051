"""Evolution of a learner's state: moves it from one feature space to the next.

Called by the learner. `evolution_plan` decides what happens to every column, `layout` moves them; this module has the
order, and gives what is kept its new place. Before and after a switch:

    transforming.announce   survivors become known; L^s starts from L^a by distillation
    transforming.step       every batch: L^a and L^s together (T-stage)
    evolve                  columns move; survivors predict alone
    joint_view.form         with the first labels: the I-stage
    joint_view.adopt        the joint metric is the metric: back in the first state
"""

import numpy as np

from eml.core import evolution_plan, joint_view, transforming
from eml.core.arrays import Array, Index
from eml.core.config import LearnerConfig
from eml.core.evolution_plan import Plan
from eml.core.features import FeatureChange, FeatureSpace
from eml.core.fitting import Fitter
from eml.core.folding import fold_evolution
from eml.core.layout import Column, move_columns
from eml.core.linear import Linear
from eml.core.mixture import Mixture
from eml.core.new_metric import KNOWN_SHARE, first_metric, is_surely_better, reset_basis
from eml.core.report import Evolution
from eml.core.state import State
from eml.core.statistics import Statistics
from eml.core.views import FIRST_WEIGHT, Pooling, View


def evolve(state: State, space: FeatureSpace, config: LearnerConfig, fitter: Fitter) -> Evolution:
    """Move the state into `space`: finish the T-stage, decide what happens to every column, then move."""
    change = state.space.diff(space)
    if not change.is_evolution:
        return _rename(state, space, change)
    _end_last_evolution(state)
    upcoming = state.upcoming = transforming.prepared(state, space, change)
    announced = upcoming.Ls is not None
    warm = bool(state.views) and bool(state.memory.observed[:, state.columns_of(change)].any())
    if warm:
        transforming.finish(state, upcoming, change, config, fitter)
    plan = evolution_plan.decide(state, space, change, config.retired_features if warm else 0)
    takeovers = evolution_plan.takeovers(state, change, upcoming)
    report = Evolution(change, announced, upcoming.steps, warm, tuple(plan.known_as), takeovers)
    state.evolution = fold_evolution(report)
    _move(state, space, plan)
    state.upcoming = None
    state.since = state.rest = state.resting = 0
    if not warm or upcoming.Ls is None:
        _start_cold(state)
        return state.evolution
    survived = np.array([i for i, name in enumerate(space.names) if name in change.former], dtype=np.intp)
    _forget_unobserved(state, survived, config.neighbours)
    _survivors_alone(state, survived, upcoming.Ls, config, fitter)
    if plan.known_as and config.inherit:
        joint_view.form(state, fitter, config)
    state.refresh()
    return state.evolution


def _rename(state: State, space: FeatureSpace, change: FeatureChange) -> Evolution:
    """The same features in another order or under other names: columns move, nothing is learnt."""
    columns = [Column(name, state.space.position[change.former[name]]) for name in space.names]
    retired = len(state.retired_columns)
    move_columns(state, space, columns, range(len(space), len(space) + retired))
    if state.upcoming is not None:
        upcoming, state.upcoming = state.upcoming, None
        transforming.announce(state, upcoming.space)
    state.refresh()
    return fold_evolution(Evolution(change, announced=False, transform_steps=0, warm=True, returned=(), takeovers={}))


def _end_last_evolution(state: State) -> None:
    """What is kept only between two evolutions ends here: the survivors' view and expert, and the fresh start."""
    joint_view.carry_retired(state)
    state.views = state.views[-1:]
    state.fresh = state.survivors = None


def _move(state: State, space: FeatureSpace, plan: Plan) -> None:
    """Retire what vanished, move the columns, and give returning features what is kept of them."""
    _retire(state, plan.change)
    move_columns(state, space, plan.columns, list(plan.retired.values()))
    kept, linear = state.retired_columns, state.linear
    state.returned = {space.position[name]: kept[former] for name, former in plan.known_as.items()}
    state.retired_columns = {name: kept[name] for name in plan.retired}
    if linear is not None:
        for name, former in plan.known_as.items():
            linear.bring_back(former, space.position[name])
        linear.retired = {name: w for name, w in linear.retired.items() if name in plan.retired}


def _retire(state: State, change: FeatureChange) -> None:
    """Put the columns of vanished features aside: of the newest metric and of the linear view."""
    view = state.newest
    for name in change.vanished:
        column = state.space.position[name]
        here = np.flatnonzero(view.columns == column) if view is not None else np.zeros(0, dtype=np.intp)
        rows = len(view.L) if view is not None else 0
        state.retired_columns.pop(name, None)
        state.retired_columns[name] = view.L[:, here[0]].copy() if view is not None and len(here) else np.zeros(rows)
        if state.linear is not None:
            state.linear.retire(name, column)


def _forget_unobserved(state: State, survived: Index, fewest: int) -> None:
    """Drop exemplars with few survivors observed (from two evolutions ago), if their class has better ones."""
    memory = state.memory
    knows = state.with_observed(survived, KNOWN_SHARE)
    enough = np.bincount(memory.y[knows], minlength=len(state.classes)) >= fewest
    memory.keep(np.flatnonzero(knows | ~enough[memory.y]))


def _survivors_alone(state: State, survived: Index, Ls: Array, config: LearnerConfig, fitter: Fitter) -> None:
    """One view, of the survivors, until labelled samples have the new features."""
    fresh = first_metric(state, survived, fitter)
    if not config.transform or not np.linalg.norm(Ls) > 0.0 or is_surely_better(state, survived, Ls, fresh, fitter):
        Ls = fresh
        reset_basis(state, Ls)
    state.views = [View("survived", survived, Ls)]
    state.accuracies.pop("survived", None)
    state.pooling = Pooling.start(float(state.pooling.w.sum()))
    state.stage = "inheriting" if len(survived) < len(state.space) else "steady"


def _start_cold(state: State) -> None:
    """Nothing survived, or nothing had been learnt: start as a new learner that knows the class labels."""
    state.memory.keep(np.zeros(0, dtype=np.intp))
    state.memory.move_columns([None] * len(state.space))
    state.memory.seen[:] = 0
    state.statistics = Statistics.empty(len(state.space))
    state.retired_columns, state.retired_statistics, state.returned = {}, Statistics.empty(0), {}
    state.views, state.pooling, state.mixture, state.fresh = [], Pooling.start(FIRST_WEIGHT), Mixture(), None
    state.survivors = None
    state.linear, state.accuracies = None if state.linear is None else Linear.empty(len(state.space)), {}
    state.stage, state.learnt, state.typical_distance = "initial", 0, 0.0
