"""Whether features are compared by their values or by scaled ones: held-out samples say, once there are enough.

Called by the learner when its first stage ends, and by the I-stage for features that come later; changes memory and
statistics. Energies, concentrations and counts spread over decades: squared distances then see only the
largest samples, where a tree, which asks for order alone, sees all of them. Pixels and angles want to stay as they are.
"""

import numpy as np

from eml.core.arrays import Array, Index, Mask
from eml.core.fitting import Fitter
from eml.core.state import State
from eml.core.statistics import scaled_by_arcsinh

FEWEST = 8  # values of a feature that tell its unit


def choose(state: State, fitter: Fitter) -> None:
    """Squash all features if neighbours then surely predict each other better."""
    columns = state.encoder.numeric
    if state.statistics.unit.any() or len(columns) == 0:
        return
    X, observed = _values(state, columns)
    unit = _units(X, observed)
    scaled = scaled_by_arcsinh(X, unit)
    if fitter.prefers(X, scaled, state.memory.y):
        _apply(state, columns, unit, scaled, observed)


def extend(state: State) -> None:
    """Squash the new features as well, where the survivors are."""
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
    """How far (d,) observed values typically are from their origin; 0 for a feature that never left it."""
    count = observed.sum(axis=0)
    distances = np.sort(np.where(observed, np.abs(X), np.inf), axis=0)
    median = distances[np.maximum(count - 1, 0) // 2, np.arange(X.shape[1])]
    rare = np.sqrt((np.where(observed, X, 0.0) ** 2).sum(axis=0) / np.maximum(count, 1))  # a flag that is seldom set
    return np.where(count == 0, 0.0, np.where(median > 0.0, median, rare))


def _apply(state: State, columns: Index, unit: Array, scaled: Array, observed: Mask) -> None:
    state.memory.set_resolution(
        columns, np.zeros(len(columns))
    )  # their values are others: their resolution is chosen anew
    state.memory.set_values(columns, scaled)
    state.statistics.recompute(scaled, observed, columns, unit)
