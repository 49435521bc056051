"""Evolution of a learner's state: what happens when its feature space changes, and before and after that.

Called by the learner and by `fresh`; uses `stages`, `fitting` and `inheriting` for the metrics and `layout` to move
columns. The order of an evolution:

    announce      survivors become known; L^s starts from L^a by distillation
    step          every batch: L^a and L^s together (T-stage)
    evolve        columns move; survivors predict alone
    form_joint_view   with the first labels: the I-stage
    adopt_joint_view  the joint metric is the metric: back in the first state
"""

from dataclasses import dataclass, replace

import numpy as np

from eml.core import arcsinh, category_detection, stages
from eml.core.arrays import Array, Index, Mask
from eml.core.config import LearnerConfig
from eml.core.features import FeatureChange, FeatureSpace
from eml.core.fitting import Fitter
from eml.core.imputation import impute
from eml.core.inheriting import Exemplars, donors_of, inherit
from eml.core.layout import Column, move_columns
from eml.core.linear import Linear
from eml.core.mixture import Mixture
from eml.core.one_hot import fold_evolution
from eml.core.report import Evolution, Takeover
from eml.core.state import State, Upcoming
from eml.core.statistics import Statistics
from eml.core.views import FIRST_WEIGHT, Pooling, RunningAccuracy, View

SAMPLES = 512  # exemplars that a first metric or a distillation looks at
FEWEST_TRUSTED = 64  # exemplars that are enough to learn from without imputed ones
REAL_SHARE = 0.9  # of the survivors that an exemplar must have had itself to judge a metric
KNOWN_SHARE = 0.5  # an exemplar with less of the survivors observed is forgotten, if its class has others


def first_metric(state: State, columns: Index, fitter: Fitter, among: Index | None = None) -> Array:
    """A metric over `columns` from the memory alone, or from some exemplars in it."""
    rows = state.memory.sample(SAMPLES, state.rng, among)
    X = state.memory.samples(rows, columns)
    return fitter.first(X, state.memory.y[rows], *state.encoder.deviations(X.std(axis=0), columns))


def offer_new_metric(state: State, fitter: Fitter) -> None:
    """Features were one-hot encoded: keep the metric, or take a new one if that predicts better."""
    view = state.views[-1]
    fresh = first_metric(state, view.columns, fitter)
    rows = state.memory.sample(SAMPLES, state.rng, trusted(state))
    X = state.memory.samples(rows, view.columns)
    if fitter.better([view.L, fresh], X, state.memory.y[rows], np.arange(len(rows))) is fresh:
        view.L = fresh
        reset_basis(state, fresh)


def reset_basis(state: State, L: Array) -> None:
    """The metric was replaced: kept columns of vanished features, and L^s, belong to another basis."""
    state.retired_columns = {name: np.zeros(len(L)) for name in state.retired_columns}
    state.returned = {}
    state.upcoming = None if state.upcoming is None else Upcoming(state.upcoming.space)


def trusted(state: State) -> Index:
    """Exemplars to learn a metric from: those whose survivors are observed; all of them if these are too few.

    Imputed values are averages over a class: to a metric learnt on them, classes look more compact than they are.
    """
    upcoming = state.upcoming
    columns = np.arange(len(state.space))
    if upcoming is not None:
        columns = state.columns_of(state.space.diff(upcoming.space))
    rows = np.flatnonzero(state.with_observed(columns, KNOWN_SHARE))
    enough = len(rows) >= FEWEST_TRUSTED and len(np.unique(state.memory.y[rows])) == len(np.unique(state.memory.y))
    return rows if enough else np.arange(len(state.memory))


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


def evolve(state: State, space: FeatureSpace, config: LearnerConfig, fitter: Fitter) -> Evolution:
    """Move the state into `space`: finish the T-stage, decide what happens to every column, then move."""
    change = state.space.diff(space)
    if not change.is_evolution:
        return _rename(state, space, change)
    _end_last_evolution(state)
    upcoming = state.upcoming = _prepared(state, space, change)
    announced = upcoming.Ls is not None
    warm = bool(state.views) and bool(state.memory.observed[:, state.columns_of(change)].any())
    if warm:
        _finish_transform(state, upcoming, change, config, fitter)
    plan = _plan(state, space, change, config.retired_features if warm else 0)
    takeovers = _takeovers(state, change, upcoming)
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
        form_joint_view(state, fitter, config)
    state.refresh()
    return state.evolution


def _end_last_evolution(state: State) -> None:
    """What is kept only between two evolutions ends here: the survivors' view and expert, and the fresh start."""
    _carry_retired(state)
    state.views = state.views[-1:]
    state.fresh = state.survivors = None


def _prepared(state: State, space: FeatureSpace, change: FeatureChange) -> Upcoming:
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


def _survivors_alone(state: State, survived: Index, Ls: Array, config: LearnerConfig, fitter: Fitter) -> None:
    """One view, of the survivors, until labelled samples have the new features."""
    fresh = first_metric(state, survived, fitter)
    if not config.transform or not np.linalg.norm(Ls) > 0.0 or _is_surely_better(state, survived, Ls, fresh, fitter):
        Ls = fresh
        reset_basis(state, Ls)
    state.views = [View("survived", survived, Ls)]
    state.accuracies.pop("survived", None)
    state.pooling = Pooling.start(float(state.pooling.w.sum()))
    state.stage = "inheriting" if len(survived) < len(state.space) else "steady"


def _is_surely_better(state: State, survived: Index, Ls: Array, fresh: Array, fitter: Fitter) -> bool:
    """Whether a new metric is surely better: one that came through several evolutions may have degraded."""
    memory = state.memory
    real = np.flatnonzero(state.with_observed(survived, REAL_SHARE))
    rows = memory.sample(SAMPLES, state.rng, real)
    if len(rows) < FEWEST_TRUSTED or len(np.unique(memory.y[rows])) < 2:
        return False
    X = memory.samples(rows, survived)
    return fitter.surely_better(Ls, fresh, X, memory.y[rows], np.arange(len(rows)))


def _finish_transform(
    state: State, upcoming: Upcoming, change: FeatureChange, config: LearnerConfig, fitter: Fitter
) -> None:
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


def _takeovers(state: State, change: FeatureChange, upcoming: Upcoming) -> dict[str, Takeover]:
    explained = upcoming.explained
    if explained is None or len(change.survived) == 0:
        return {name: Takeover(0.0, None) for name in change.vanished}
    rows = state.memory.sample(SAMPLES, state.rng)
    Xs = _standard(state.memory.samples(rows, state.columns_of(change)))
    Xv = _standard(state.memory.samples(rows, np.array(state.space.columns(change.vanished), dtype=np.intp)))
    best = np.abs(Xv.T @ Xs).argmax(axis=1) if len(rows) else np.zeros(len(change.vanished), dtype=np.intp)
    return {
        name: Takeover(float(share), change.survived[survivor])
        for name, share, survivor in zip(change.vanished, explained, best, strict=True)
    }


def _standard(X: Array) -> Array:
    deviation = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0))


def _rename(state: State, space: FeatureSpace, change: FeatureChange) -> Evolution:
    """The same features in another order or under other names: columns move, nothing is learnt."""
    columns = [Column(name, state.space.position[change.former[name]]) for name in space.names]
    retired = len(state.retired_columns)
    move_columns(state, space, columns, range(len(space), len(space) + retired))
    if state.upcoming is not None:
        upcoming, state.upcoming = state.upcoming, None
        announce(state, upcoming.space)
    state.refresh()
    return fold_evolution(Evolution(change, announced=False, transform_steps=0, warm=True, returned=(), takeovers={}))


# -- columns: active ones first, then those of vanished features ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Plan:
    """What an evolution does to the columns, decided before any of them moves."""

    change: FeatureChange
    columns: list[Column]  # of the next space
    known_as: dict[str, str]  # a returning feature -> the name under which it was retired
    retired: dict[str, int]  # features that will be retired -> their present column, retired ones behind active ones


def _plan(state: State, space: FeatureSpace, change: FeatureChange, most_retired: int) -> _Plan:
    """Survivors keep their columns, returning features get theirs back, the last features to vanish are retired."""
    known = {name: _retired_name(state, space, name) for name in change.augmented}
    known_as = {name: former for name, former in known.items() if former is not None}
    place = {name: len(state.space) + i for i, name in enumerate(state.retired_columns)}
    source = {name: place[former] for name, former in known_as.items()}
    source |= {name: state.space.position[former] for name, former in change.former.items()}
    place |= {name: state.space.position[name] for name in change.vanished}
    names = [*(name for name in state.retired_columns if name not in change.vanished), *change.vanished]
    names = [name for name in names if name not in known_as.values()]
    retired = {name: place[name] for name in names[len(names) - min(len(names), most_retired) :]}
    return _Plan(change, [Column(name, source.get(name)) for name in space.names], known_as, retired)


def _retired_name(state: State, space: FeatureSpace, name: str) -> str | None:
    """The name under which a new feature was known before it vanished."""
    return next((known for known in (name, *space.aliases.get(name, ())) if known in state.retired_columns), None)


def _move(state: State, space: FeatureSpace, plan: _Plan) -> None:
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


def _forget_unobserved(state: State, survived: Index, fewest: int) -> None:
    """Drop exemplars with few survivors observed (from two evolutions ago), if their class has better ones."""
    memory = state.memory
    knows = state.with_observed(survived, KNOWN_SHARE)
    enough = np.bincount(memory.y[knows], minlength=len(state.classes)) >= fewest
    memory.keep(np.flatnonzero(knows | ~enough[memory.y]))


# -- after the switch ----------------------------------------------------------------------------------------------


def outdated(state: State) -> Mask:
    """Exemplars to replace first: stale ones and, in a full memory, those without the new features."""
    memory = state.memory
    if state.stage != "inheriting" or len(memory) < memory.capacity:
        return memory.stale
    return memory.stale | ~state.with_observed(state.new_columns(), KNOWN_SHARE)


def form_joint_view(state: State, fitter: Fitter, config: LearnerConfig) -> None:
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


def _carry_retired(state: State) -> None:
    """Convert the columns of vanished features from the basis of L^s to the joint one: C with J = C L^s on survivors.

    Done only when the joint view is adopted or ends: until then it may be rebuilt from L^s.
    """
    if state.stage != "inheriting" or len(state.views) < 2:
        return
    survived, joint = state.views
    carry = joint.L[:, survived.columns] @ np.linalg.pinv(survived.L)  # (k', k)
    state.retired_columns = {name: carry @ column for name, column in state.retired_columns.items()}


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


def adopt_joint_view(state: State, rank: int) -> None:
    """The joint metric becomes the metric; if it was built on too few samples to have all its rows, it is rebuilt.

    The survivors' metric stays beside it while there is a survivors' expert.
    """
    _carry_retired(state)
    state.returned = {}
    if len(state.views[-1].L) < min(rank, len(state.space)):
        state.stage = "initial"
    else:
        state.stage = "steady" if state.upcoming is None else "transforming"
    if state.survivors is None or state.stage == "initial":
        state.survivors = None
        end_survivors_view(state)


def end_survivors_view(state: State) -> None:
    """The joint metric goes on alone."""
    joint = state.views[-1]
    state.views = [View("all", joint.columns, joint.L)]
    state.accuracies["all"] = state.accuracies.pop(joint.name, RunningAccuracy())
    state.pooling = Pooling.start(float(state.pooling.w.sum()))
