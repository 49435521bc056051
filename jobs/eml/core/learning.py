"""One batch of labelled samples: first tested, then learnt by everything that learns.

Called by the learner, for pieces of at most `config.batch`; calls the modules that each know one part: columns, views,
mixture, metric, I-stage, fresh start, survivors. The order in `learn` is the algorithm.
"""

from collections.abc import Sequence

import numpy as np

from eml.core import (
    arcsinh,
    category_detection,
    drift,
    experts,
    fresh,
    inheriting,
    joint_view,
    metric_step,
    new_metric,
    quantization,
    survivors,
)
from eml.core.arrays import Array, Index, Mask
from eml.core.config import LearnerConfig
from eml.core.fitting import Fitter
from eml.core.report import Label
from eml.core.state import State
from eml.core.views import View

TYPICAL_RATE = 0.1  # how fast the typical distance follows
ENOUGH_REAL = 0.8  # share of exemplars with the new features at which the survivors' view retires
NEGLIGIBLE = 0.02  # weight below which a view retires
FIRST_AGAIN = 64  # samples of a new space after which its joint view is rebuilt, and again at every doubling
RESOLUTIONS_AFTER = 256  # labelled samples after which the memory's resolutions are chosen anew


def fitter_for(state: State, config: LearnerConfig) -> Fitter:
    """What fits the metrics of one batch or evolution, and counts its steps."""
    steps = (*config.steps, drift.WIDER) if state.widened else config.steps
    return Fitter(config.objective, steps, config.neighbours, config.rank)


def refresh_views(state: State) -> None:
    """Embed the memory again, and tell the mixture which experts there are now."""
    state.refresh()
    state.mixture.set_experts(experts.expert_specs(state))


def learn(state: State, config: LearnerConfig, raw: Array, labels: Sequence[Label]) -> None:
    """Learn samples (n, outer) of the current space, as they came."""
    fitter = fitter_for(state, config)
    _update_columns(state, config, raw, fitter)
    y = _class_numbers(state, labels)  # from here on there are new classes, which no view knows yet
    X, present = _clean(state, raw)
    _score_views(state, config, X, present, y)
    rows = state.memory.add(X, present, y, state.rng, joint_view.outdated(state))
    state.learnt += len(y)
    state.since += len(y)
    state.revision += 1
    if state.stage == "initial":
        _begin_metric(state, config, fitter)
    else:
        X = _inherit(state, config, raw, X, fitter)
        due = metric_step.is_due(state, len(y))
        if due:
            metric_step.take(state, config, X, y, rows, fitter)
        fresh.learn(state, config, fitter, step=due)
    state.fit(state.linear, young=state.since < config.warm_up)
    survivors.learn(state)
    _end(state, fitter, len(y))
    refresh_views(state)


def _end(state: State, fitter: Fitter, count: int) -> None:
    """Count what was done, and end what has had its time."""
    state.refused += fitter.refused
    state.taken += fitter.taken
    state.widened = max(0, state.widened - 1)
    fresh.end(state)
    survivors.end(state)
    if _is_settled(state) and _passed(state.learnt - count, state.learnt, RESOLUTIONS_AFTER):
        quantization.update_resolutions(state)


def _update_columns(state: State, config: LearnerConfig, raw: Array, fitter: Fitter) -> None:
    """Add columns for new levels; whenever the samples have doubled, detect integer-coded categories again.

    Then a new metric is a candidate, too: it knows the symbols that came since the last one was built.
    """
    category_detection.add_levels(state, raw)
    if not _is_settled(state) or not _doubled(state.learnt, state.learnt + len(raw)):
        return
    if (config.one_hot and category_detection.detect(state, fitter)) or state.encoder.categories:
        new_metric.offer_new_metric(state, fitter)
        state.refresh()


def _class_numbers(state: State, y: Sequence[Label]) -> Index:
    classes = state.classes
    number = {label: i for i, label in enumerate(classes)}
    plain = [label.item() if isinstance(label, np.generic) else label for label in y]
    for label in plain:
        if label not in number:
            number[label] = len(classes)
            classes.append(label)
    return np.array([number[label] for label in plain], dtype=np.intp)


def _clean(state: State, raw: Array) -> tuple[Array, Mask]:
    statistics, values = state.statistics, state.encoder.encode(raw)
    statistics.set_origins(values)
    X, present, cut = statistics.clean(values)
    statistics.update(X, present)
    state.cut += cut
    state.missing += int(raw.size - np.isfinite(raw).sum())
    return np.where(present, X, statistics.mean), present


def _score_views(state: State, config: LearnerConfig, X: Array, present: Mask, y: Index) -> None:
    """Test, then train: score the views on samples they have not learnt, and weigh them accordingly."""
    newest = state.newest
    if newest is None or newest.embedded is None:
        return
    known = y < newest.embedded.classes  # a class seen for the first time could not be predicted
    if not known.any():
        return
    chosen = np.flatnonzero(known)[: config.tested]
    y = y[chosen]
    scored = experts.score_views(state, X[chosen], present[chosen], config.neighbours)
    experts.count_hits(state, scored, y)
    state.mixture.update(scored.by_expert, y)
    if newest.embedded.classes > 1:
        experts.update_pooling(state, scored, y)
    _follow_distance(state, scored.distances[-1][np.arange(len(y)), y])


def _follow_distance(state: State, own: Array) -> None:
    """Let the typical distance follow the samples' distances (n,) to their own class."""
    own = own[np.isfinite(own)]
    if len(own):
        typical = float(np.median(own))
        rate = TYPICAL_RATE if state.typical_distance > 0.0 else 1.0
        state.typical_distance += (typical - state.typical_distance) * rate


def _begin_metric(state: State, config: LearnerConfig, fitter: Fitter) -> None:
    """Build the first metric again with every batch until there are enough samples to start learning it."""
    enough = state.learnt >= config.warm_up and len(state.classes) > 1
    if enough and config.one_hot:
        category_detection.detect(state, fitter)
    if enough and config.arcsinh:
        arcsinh.choose(state, fitter)
    columns = np.arange(len(state.space))
    L = new_metric.first_metric(state, columns, fitter)
    new_metric.reset_basis(state, L)
    state.views = [View("all", columns, L)]
    if enough:
        state.stage = "steady" if state.upcoming is None else "transforming"


def _inherit(state: State, config: LearnerConfig, raw: Array, X: Array, fitter: Fitter) -> Array:
    """The I-stage, where it runs; the samples X with the columns there are after it."""
    if state.stage != "inheriting" or not config.inherit:
        return X
    if len(state.views) == 1 or _doubled(state.since - len(X), state.since):
        joint_view.form(state, fitter, config)  # built with few donors, it is built again when there are more
    else:
        joint_view.impute_memory(state)
    if len(state.views) == 2:
        new = state.encoder.one_per_category(state.new_columns())
        real = len(inheriting.donors_of(state.memory.observed, new)) / len(state.memory)
        if real >= ENOUGH_REAL or state.pooling.shares[0] < NEGLIGIBLE:
            joint_view.adopt(state, config.rank)
    return state.statistics.clean(state.encoder.encode(raw))[0]  # new features may be one-hot encoded now


def _is_settled(state: State) -> bool:
    return state.stage in {"steady", "transforming"}


def _doubled(before: int, now: int) -> bool:
    """Whether the samples of a space have just become FIRST_AGAIN, or twice, four times, ... as many."""
    return now // FIRST_AGAIN > 0 and (now // FIRST_AGAIN).bit_length() > (before // FIRST_AGAIN).bit_length()


def _passed(before: int, now: int, every: int) -> bool:
    """Whether a count has just passed a multiple of `every`."""
    return now // every > before // every
