"""Decides whether features are arcsinh-scaled: held-out samples decide, once there are enough.

Called by the learner when its first stage ends (`choose`), and by the I-stage for new features (`extend`); changes
memory and statistics. Energies, concentrations and counts spread over decades: squared distances then see only the
largest values, where a decision tree, which uses order alone, sees all of them. Pixels and angles are better unscaled.
"""

import numpy as np

from eml.core.arrays import Array, Index, Mask
from eml.core.fitting import Fitter
from eml.core.state import State
from eml.core.statistics import scaled_by_arcsinh

FEWEST = 8  # observed values of a feature before its unit can be chosen


def choose(state: State, fitter: Fitter) -> None:
    """Scale all numeric features if neighbours then surely predict each other better."""
    columns = state.encoder.numeric
    if state.statistics.unit.any() or len(columns) == 0:
        return
    X, observed = _values(state, columns)
    unit = _units(X, observed)
    scaled = scaled_by_arcsinh(X, unit)
    if fitter.prefers(X, scaled, state.memory.y):
        _apply(state, columns, unit, scaled, observed)


def extend(state: State) -> None:
    """Scale the new features, too, if the survivors are scaled."""
    if not state.statistics.unit.any():
        return
    new = np.intersect1d(state.new_columns(), state.encoder.numeric)
    columns = new[(state.statistics.unit[new] == 0.0) & (state.memory.observed[:, new].sum(axis=0) >= FEWEST)]
    X, observed = _values(state, columns)
    unit = _units(X, observed)
    _apply(state, columns, unit, scaled_by_arcsinh(X, unit), observed)


def _values(state: State, columns: Index) -> tuple[Array, Mask]:
    memory = state.memory
    return memory.samples(np.arange(len(memory)), columns), memory.observed[:, columns]


def _units(X: Array, observed: Mask) -> Array:
    """Typical distance (d,) of observed values from their origin; 0 for a feature that never left it."""
    count = observed.sum(axis=0)
    distances = np.sort(np.where(observed, np.abs(X), np.inf), axis=0)
    median = distances[np.maximum(count - 1, 0) // 2, np.arange(X.shape[1])]
    rare = np.sqrt((np.where(observed, X, 0.0) ** 2).sum(axis=0) / np.maximum(count, 1))  # a flag that is seldom set
    return np.where(count == 0, 0.0, np.where(median > 0.0, median, rare))


def _apply(state: State, columns: Index, unit: Array, scaled: Array, observed: Mask) -> None:
    state.memory.set_resolution(columns, np.zeros(len(columns)))  # chosen anew for the scaled values
    state.memory.set_values(columns, scaled)
    state.statistics.recompute(scaled, observed, columns, unit)
