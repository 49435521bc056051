"""What happens to a learner's state when its feature space changes, and while a change is on its way.

Called by the learner; moves metrics, memory and statistics from one space to the next with `stages`,
`fitting` and `inheriting`. The order of an evolution:

    announce      survivors become known; L^s starts from L^a by distillation
    step          every batch: L^a and L^s together (T-stage)
    evolve        columns are laid out anew; survivors predict alone
    form_joint_view   with the first labels: the I-stage
    settle        the joint metric is the metric: back in the first state
"""

from dataclasses import replace

import numpy as np

from eml.core import levels, squashing, stages
from eml.core.arrays import Array, Index, Mask
from eml.core.completion import complete
from eml.core.config import LearnerConfig
from eml.core.features import FeatureChange, FeatureSpace
from eml.core.fitting import Fitter
from eml.core.inheriting import Exemplars, donors_of, inherit
from eml.core.linear import Linear
from eml.core.mixture import Mixture
from eml.core.report import Evolution, Takeover
from eml.core.spelling import fold_evolution
from eml.core.state import State, Upcoming
from eml.core.statistics import Statistics
from eml.core.views import FIRST_WEIGHT, Pooling, Tally, View

SAMPLES = 512  # exemplars that a first metric or a distillation looks at
FEWEST_TRUSTED = 64  # exemplars that are enough to learn from without estimated ones
REAL_SHARE = 0.9  # of the survivors that an exemplar must have had itself to judge a metric
KNOWN_SHARE = 0.5  # an exemplar with less of the survivors observed is forgotten, if its class has others


def first_metric(state: State, columns: Index, fitter: Fitter, among: Index | None = None) -> Array:
    """A metric over `columns` from the memory alone, or from some exemplars in it."""
    rows = state.memory.sample(SAMPLES, state.rng, among)
    X = state.memory.samples(rows, columns)
    return fitter.first(X, state.memory.y[rows], *state.spelling.deviations(X.std(axis=0), columns))


def begin_anew(state: State, fitter: Fitter) -> None:
    """Features were spelled out: go on with the metric there is, or with a fresh one if that predicts better."""
    view = state.views[-1]
    fresh = first_metric(state, view.columns, fitter)
    rows = state.memory.sample(SAMPLES, state.rng, trusted(state))
    X = state.memory.samples(rows, view.columns)
    if fitter.better([view.L, fresh], X, state.memory.y[rows], np.arange(len(rows))) is fresh:
        view.L = fresh
        begin_basis(state, fresh)


def begin_basis(state: State, L: Array) -> None:
    """A metric was laid anew: what is kept of vanished features, and what was prepared, were of another basis."""
    state.attic = {name: np.zeros(len(L)) for name in state.attic}
    state.returned = {}
    state.upcoming = None if state.upcoming is None else Upcoming(state.upcoming.space)


def trusted(state: State) -> Index:
    """Exemplars to learn a metric from: those that know what is to survive; all where they are too few.

    Estimates are averages of fellows: a metric learnt on them takes classes for more compact than they are.
    """
    upcoming = state.upcoming
    columns = np.arange(len(state.space))
    if upcoming is not None:
        columns = state.columns_of(state.space.diff(upcoming.space))
    rows = np.flatnonzero(state.knowing(columns, KNOWN_SHARE))
    enough = len(rows) >= FEWEST_TRUSTED and len(np.unique(state.memory.y[rows])) == len(np.unique(state.memory.y))
    return rows if enough else np.arange(len(state.memory))


def announce(state: State, space: FeatureSpace) -> None:
    """Start the T-stage towards `space`; the same announcement twice changes nothing."""
    if state.upcoming is not None and state.upcoming.space == space:
        return
    state.upcoming = Upcoming(space) if state.space.diff(space).is_evolution else None
    state.rest = state.resting = 0  # there may be few batches until the switch
    if state.stage in {"steady", "transforming"}:
        state.stage = "steady" if state.upcoming is None else "transforming"


def step(state: State, X: Array, y: Index, count: int, fitter: Fitter, *, transform: bool) -> None:
    """One step on samples X of which the first `count` may be anchors: one half are, the other decides.

    While there are two views the survivors' one goes on learning as well: it may be the better one for long. Once the
    joint one has settled a step costs what it costs with one view: lots say which of them takes it.
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
    """Where L^s starts: L^a on the survivors, with what they tell of the vanished if that predicts better."""
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
    """Move the state into `space`."""
    change = state.space.diff(space)
    if not change.is_evolution:
        return _rename(state, space, change)
    _carry_attic(state)
    state.views = state.views[-1:]  # a survivors' view beside it ends here: no catch-up steps for it
    state.fresh = state.survivors = None  # they were of the space before
    upcoming = _prepared(state, space, change)
    announced = upcoming.Ls is not None
    warm = bool(state.views) and bool(state.memory.observed[:, state.columns_of(change)].any())
    state.upcoming = upcoming
    if warm:
        _finish_transform(state, upcoming, change, config, fitter)
    returned = tuple(name for name in change.augmented if _attic_name(state, space, name) is not None)
    takeovers = _takeovers(state, change, upcoming)
    state.evolution = fold_evolution(Evolution(change, announced, upcoming.steps, warm, returned, takeovers))
    columns = [state.space.position.get(change.former.get(name, "")) for name in space.names]
    _lay_out(state, space, change, columns, config.retired_features if warm else 0)
    state.upcoming = None
    state.since = state.rest = state.resting = 0
    if not warm or upcoming.Ls is None:
        _start_cold(state)
        return state.evolution
    survived = np.array([i for i, column in enumerate(columns) if column is not None], dtype=np.intp)
    _forget_strangers(state, survived, config.neighbours)
    _survivors_alone(state, survived, upcoming.Ls, config, fitter)
    if change.augmented and returned and config.inherit:
        form_joint_view(state, fitter, config)
    state.refresh()
    return state.evolution


def _prepared(state: State, space: FeatureSpace, change: FeatureChange) -> Upcoming:
    """What the T-stage has made so far for this change; nothing where it awaited other survivors.

    It is about survivors alone: a space that was announced with other new features, or with none (all that a
    retiring feature tells), has prepared for this one as well.
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
    """One view, of the survivors, until labels show the new features."""
    fresh = first_metric(state, survived, fitter)
    if not config.transform or not np.linalg.norm(Ls) > 0.0 or _outdoes(state, survived, Ls, fresh, fitter):
        Ls = fresh
        begin_basis(state, Ls)
    state.views = [View("survived", survived, Ls)]
    state.tallies.pop("survived", None)
    state.pooling = Pooling.start(float(state.pooling.w.sum()))
    state.stage = "inheriting" if len(survived) < len(state.space) else "steady"


def _outdoes(state: State, survived: Index, Ls: Array, fresh: Array, fitter: Fitter) -> bool:
    """Whether a fresh metric is surely better: what came through several evolutions may have lost its way."""
    memory = state.memory
    real = np.flatnonzero(state.knowing(survived, REAL_SHARE))
    rows = memory.sample(SAMPLES, state.rng, real)
    if len(rows) < FEWEST_TRUSTED or len(np.unique(memory.y[rows])) < 2:
        return False
    X = memory.samples(rows, survived)
    return fitter.surely_better(Ls, fresh, X, memory.y[rows], np.arange(len(rows)))


def _finish_transform(
    state: State, upcoming: Upcoming, change: FeatureChange, config: LearnerConfig, fitter: Fitter
) -> None:
    """What the T-stage has not had time for: all of it when nobody announced the change."""
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
    columns = [state.space.position[change.former[name]] for name in space.names]
    place = np.argsort(columns)  # where an old column went
    returned = {int(place[column]): values for column, values in state.returned.items()}
    _lay_out(state, space, change, list(columns), len(state.attic))
    state.returned = returned
    started = [] if state.fresh is None else [state.fresh.view]
    for view in (*state.views, *started):
        moved = place[view.columns]
        order = np.argsort(moved)
        view.columns, view.L = moved[order], view.L[:, order]
    for linear in state.linears[1:]:
        if linear is not None:
            linear.move(columns)
    if state.upcoming is not None:
        upcoming, state.upcoming = state.upcoming, None
        announce(state, upcoming.space)
    state.refresh()
    return fold_evolution(Evolution(change, announced=False, transform_steps=0, warm=True, returned=(), takeovers={}))


# -- columns: active ones first, then those of vanished features ----------------------------------------------------


def _attic_name(state: State, space: FeatureSpace, name: str) -> str | None:
    """The name under which a new feature was known before it vanished."""
    return next((known for known in (name, *space.aliases.get(name, ())) if known in state.attic), None)


def _lay_out(
    state: State, space: FeatureSpace, change: FeatureChange, columns: list[int | None], keep_retired: int
) -> None:
    """Move memory, statistics and the attic to the next space."""
    old, attic = state.space, list(state.attic)
    back = {name: _attic_name(state, space, name) for name in change.augmented}
    back_columns = {name: len(old) + attic.index(known) for name, known in back.items() if known is not None}
    active = [
        column if column is not None else back_columns.get(name)
        for name, column in zip(space.names, columns, strict=True)
    ]
    gone = {known for known in back.values() if known is not None}
    _retire(state, change)
    stay = [name for name in state.attic if name not in gone]
    stay = stay[len(stay) - min(len(stay), keep_retired) :]
    position = {name: len(old) + i for i, name in enumerate(attic)} | {n: old.position[n] for n in change.vanished}
    retired = [position[name] for name in stay]
    everything = Statistics(
        *(np.concatenate(pair) for pair in zip(state.statistics.fields(), state.attic_statistics.fields(), strict=True))
    )
    state.statistics = everything.select(active)
    state.attic_statistics = everything.select(list(retired))
    state.memory.remap([*active, *retired])
    _move_linear(state, space, change, columns, back)
    state.returned = {space.position[name]: state.attic[known] for name, known in back.items() if known is not None}
    state.attic = {name: state.attic[name] for name in stay}
    if state.linear is not None:
        state.linear.retired = {name: w for name, w in state.linear.retired.items() if name in state.attic}
    state.space = space


def _move_linear(
    state: State,
    space: FeatureSpace,
    change: FeatureChange,
    columns: list[int | None],
    back: dict[str, str | None],
) -> None:
    """Survivors keep their weights, new features have none, and those that come back get their last ones."""
    linear = state.linear
    if linear is None:
        return
    for name in change.vanished:
        linear.retire(name, state.space.position[name])
    linear.move(columns)
    for name, known in back.items():
        if known is not None:
            linear.bring_back(known, space.position[name])


def _retire(state: State, change: FeatureChange) -> None:
    """Put the columns of vanished features aside."""
    view = state.newest
    for name in change.vanished:
        column = state.space.position[name]
        here = np.flatnonzero(view.columns == column) if view is not None else np.zeros(0, dtype=np.intp)
        rows = len(view.L) if view is not None else 0
        state.attic.pop(name, None)
        state.attic[name] = view.L[:, here[0]].copy() if view is not None and len(here) else np.zeros(rows)


def _start_cold(state: State) -> None:
    """Nothing survived, or nothing had been learnt: begin as a new learner that knows the classes' names."""
    state.memory.keep(np.zeros(0, dtype=np.intp))
    state.memory.remap([None] * len(state.space))
    state.memory.seen[:] = 0
    state.statistics = Statistics.empty(len(state.space))
    state.attic, state.attic_statistics, state.returned = {}, Statistics.empty(0), {}
    state.views, state.pooling, state.mixture, state.fresh = [], Pooling.start(FIRST_WEIGHT), Mixture(), None
    state.survivors = None
    state.linear, state.tallies = None if state.linear is None else Linear.empty(len(state.space)), {}
    state.stage, state.learnt, state.usual = "initial", 0, 0.0


def _forget_strangers(state: State, survived: Index, fewest: int) -> None:
    """Drop exemplars that hardly know the survivors (seen two evolutions ago), where their class has better ones."""
    memory = state.memory
    knows = state.knowing(survived, KNOWN_SHARE)
    enough = np.bincount(memory.y[knows], minlength=len(state.classes)) >= fewest
    memory.keep(np.flatnonzero(knows | ~enough[memory.y]))


# -- after the switch ----------------------------------------------------------------------------------------------


def outdated(state: State) -> Mask:
    """The exemplars to replace first: stale ones, and in a full memory those without the new features."""
    memory = state.memory
    if state.stage != "inheriting" or len(memory) < memory.capacity:
        return memory.stale
    return memory.stale | ~state.knowing(state.new_columns(), KNOWN_SHARE)


def form_joint_view(state: State, fitter: Fitter, config: LearnerConfig) -> None:
    """The I-stage, as soon as labelled samples show the new features; and again when there are more of them."""
    levels.extend(state)
    squashing.extend(state)
    survived, columns = state.views[0], np.arange(len(state.space))
    X = state.memory.samples(np.arange(len(state.memory)), columns)
    observed = state.memory.observed[:, : len(columns)]
    counted = state.spelling.one_each(state.new_columns())
    exemplars = Exemplars(X, state.memory.y, observed, state.statistics.deviation(), counted)
    weight, anchors = float(state.pooling.w.sum()), config.batch // 2 + config.replay
    inheritance = inherit(exemplars, survived, state.returned, weight, fitter, anchors, state.rng)
    if inheritance is None:
        return
    state.memory.put(columns, inheritance.completed)
    state.views = [survived, View("joint", columns, inheritance.L)]
    state.pooling = inheritance.pooling


def _carry_attic(state: State) -> None:
    """Move the columns of vanished features from the basis of L^s to the joint one: C with J = C L^s on survivors.

    Done when the joint view stays or ends, since until then it may be begun anew from L^s.
    """
    if state.stage != "inheriting" or len(state.views) < 2:
        return
    survived, joint = state.views
    carry = joint.L[:, survived.columns] @ np.linalg.pinv(survived.L)  # (k', k)
    state.attic = {name: carry @ column for name, column in state.attic.items()}


def complete_memory(state: State) -> None:
    """Estimate the new features of old exemplars anew: there are more donors by now."""
    memory, survived = state.memory, state.views[0]
    new = state.new_columns()
    donors = donors_of(memory.observed, state.spelling.one_each(new))
    needy = np.ones(len(memory), dtype=np.bool_)
    needy[donors] = False
    if needy.any() and len(donors):
        everyone = np.arange(len(memory))
        known = memory.samples(everyone, survived.columns) @ survived.L.T
        memory.put(new, complete(known, memory.samples(everyone, new), needy, memory.y, donors))


def settle(state: State, rank: int) -> None:
    """The joint metric is the metric now; one begun on too few samples to have all its rows is begun anew.

    The survivors' one stays beside it for as long as they have an expert of their own.
    """
    _carry_attic(state)
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
    state.tallies["all"] = state.tallies.pop(joint.name, Tally())
    state.pooling = Pooling.start(float(state.pooling.w.sum()))
