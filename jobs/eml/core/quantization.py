"""Quantization of the memory: each column is rounded to a power of two that is small against the column's spread.

Called by the learner every few hundred labels. A rounded value takes about 12 bits instead of 32 (`bitpacking`), and a
256th of the spread is far below what a metric learns. With a power of two, whole numbers, codes and flags stay exact,
and a finer resolution leaves the values that are already there unchanged. Values are relative to their feature's
origin (`statistics`), so a pressure of 101325 and a bit keeps the bit.

A column keeps resolution 0 (no rounding) while few of its values are known, and if it holds integers that are
arcsinh-scaled.
"""

import numpy as np

from eml.core.arrays import Array, Index, Mask
from eml.core.state import State

STEPS_IN_SPREAD = 256  # multiples of the resolution in a column's spread: at least so many, less than twice
SLACK = 4  # a resolution may be this much finer than it need be: a coarser one has all bytes of the column written anew
FEWEST = 64  # values that tell how far a column spreads
OUTLIERS = 1 / 32  # of a column's values, the furthest, that do not count: a few glitches must not make it coarse
EXACT = 1e-3  # from a whole number


def update_resolutions(state: State) -> None:
    """Set each column's resolution to what its values need now."""
    memory = state.memory
    columns = np.flatnonzero(memory.observed[:, : len(state.space)].sum(axis=0) >= FEWEST)
    columns = columns[~_are_scaled_integers(state, columns)]
    before, wanted = memory.resolution[columns], _wanted(state, columns)
    fits = (before <= wanted) & (wanted <= SLACK * before)
    change = (wanted > 0.0) & ~fits
    memory.set_resolution(columns[change], wanted[change])


def _wanted(state: State, columns: Index) -> Array:
    """The resolution for each of the columns; 0 where all values are the same."""
    spread = np.array([_spread(state, column) for column in columns.tolist()])
    exponent = np.frexp(spread / STEPS_IN_SPREAD)[1] - 1
    return np.where(spread > 0.0, np.ldexp(1.0, exponent), 0.0)


def _spread(state: State, column: int) -> float:
    """Root mean square distance of the observed values from their median, outliers left out."""
    memory = state.memory
    values = memory.X[memory.observed[:, column], column].astype(np.float64)
    away = np.sort(np.abs(values - np.median(values)))
    away = away[: len(away) - int(OUTLIERS * len(away))]
    away = away[away > 0.0]
    return float(np.sqrt(np.mean(away**2))) if len(away) else 0.0


def _are_scaled_integers(state: State, columns: Index) -> Mask:
    """Which of the columns (c,) are arcsinh-scaled integers: they may be detected to be codes later."""
    statistics, memory = state.statistics, state.memory
    scaled = statistics.unit[columns] > 0.0
    mine = columns[scaled]
    values = statistics.raw_values(memory.samples(np.arange(len(memory)), mine), mine)
    whole = (np.abs(values - np.rint(values)) < EXACT) | ~memory.observed[:, mine]
    scaled[scaled] = whole.all(axis=0)
    return scaled
