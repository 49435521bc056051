"""How fine the memory keeps a column: rounded to a power of two that is small against how far its values spread.

Called by the learner now and then; what is rounded takes 12 bits instead of 32 (`columns`), and a 256th of the spread
is far below what any metric learns. A power of two, so that whole numbers, codes and flags stay what they are; and
multiples of it, so that a finer one changes no value that is there and no range has an end. Values are relative to
their feature's origin (`statistics`): a pressure of 101325 and a bit keeps the bit.

As they came, a grain of 0, stay columns of which few values are known, and whole numbers that are squashed.
"""

import numpy as np

from eml.core.arrays import Array, Index, Mask
from eml.core.state import State

FINENESS = 256  # grains in the spread of a column, at least; less than twice as many
LOOSE = 4  # a grain may be this much finer than it need be: a coarser one has all bytes of the column written anew
FEWEST = 64  # values that tell how far a column spreads
STRAY = 1 / 32  # of a column's values, the furthest, that do not count: a few glitches must not make it coarse
EXACT = 1e-3  # from a whole number


def lay_grains(state: State) -> None:
    """Give the columns of the space the grains that suit their values now."""
    memory = state.memory
    columns = np.flatnonzero(memory.observed[:, : len(state.space)].sum(axis=0) >= FEWEST)
    columns = columns[~_are_squashed_numbers(state, columns)]
    before, wanted = memory.grain[columns], _wanted(state, columns)
    fits = (before <= wanted) & (wanted <= LOOSE * before)
    change = (wanted > 0.0) & ~fits
    memory.regrain(columns[change], wanted[change])


def _wanted(state: State, columns: Index) -> Array:
    """A grain for each of the columns; 0 for one whose values are all the same."""
    spread = np.array([_spread(state, column) for column in columns.tolist()])
    exponent = np.frexp(spread / FINENESS)[1] - 1
    return np.where(spread > 0.0, np.ldexp(1.0, exponent), 0.0)


def _spread(state: State, column: int) -> float:
    """How far values typically are from their middle: those that are there at all, without the furthest."""
    memory = state.memory
    values = memory.X[memory.observed[:, column], column].astype(np.float64)
    away = np.sort(np.abs(values - np.median(values)))
    away = away[: len(away) - int(STRAY * len(away))]
    away = away[away > 0.0]
    return float(np.sqrt(np.mean(away**2))) if len(away) else 0.0


def _are_squashed_numbers(state: State, columns: Index) -> Mask:
    """Which of the columns (c,) are squashed and hold whole numbers: they may turn out to be codes (`levels`)."""
    statistics, memory = state.statistics, state.memory
    squashed = statistics.unit[columns] > 0.0
    mine = columns[squashed]
    values = statistics.restored(memory.samples(np.arange(len(memory)), mine), mine)
    whole = (np.abs(values - np.rint(values)) < EXACT) | ~memory.observed[:, mine]
    squashed[squashed] = whole.all(axis=0)
    return squashed
