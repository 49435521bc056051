"""A metric from the memory alone, and which exemplars one may learn from.

Called by the learner, by the T-stage, by an evolution and by `fresh`; uses `fitting`. Nothing here knows why a new
metric is wanted: a space is new, features were one-hot encoded, or a metric may have degraded.
"""

import numpy as np

from eml.core.arrays import Array, Index
from eml.core.fitting import Fitter
from eml.core.state import State, Upcoming

SAMPLES = 512  # exemplars that a first metric or a distillation looks at
FEWEST_TRUSTED = 64  # exemplars that are enough to learn from without imputed ones
REAL_SHARE = 0.9  # of the survivors that an exemplar must have had itself to judge a metric
KNOWN_SHARE = 0.5  # an exemplar with less of the survivors observed knows little of them


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


def is_surely_better(state: State, survived: Index, Ls: Array, fresh: Array, fitter: Fitter) -> bool:
    """Whether a new metric is surely better: one that came through several evolutions may have degraded."""
    memory = state.memory
    real = np.flatnonzero(state.with_observed(survived, REAL_SHARE))
    rows = memory.sample(SAMPLES, state.rng, real)
    if len(rows) < FEWEST_TRUSTED or len(np.unique(memory.y[rows])) < 2:
        return False
    X = memory.samples(rows, survived)
    return fitter.surely_better(Ls, fresh, X, memory.y[rows], np.arange(len(rows)))


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
