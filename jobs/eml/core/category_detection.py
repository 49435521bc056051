"""Detects which numeric features are integer-coded categories, and gives every level of a category its column.

Called by the learner: when its first stage ends and whenever the samples have doubled (`detect`), and with every
labelled batch (`add_levels`). Called by the I-stage for new features (`detect_in_new`). Held-out samples decide whether
codes are one-hot encoded. Encoding changes no distance: a level's column of the metric is the code's own column times
the level's value; from then on the metric can learn that 3 is not between 2 and 4. A declared category needs no
decision: its symbols get columns when they first come with a label, up to a bound.
"""

import numpy as np

from eml.core.arrays import Array, Index
from eml.core.column_names import category_column, code_column, other_column
from eml.core.features import FeatureSpace
from eml.core.fitting import Fitter
from eml.core.layout import Column, move_columns
from eml.core.one_hot import OneHotEncoder, encoded_space
from eml.core.state import State, Upcoming
from eml.core.statistics import scaled_by_arcsinh

MIN_LEVELS, MAX_LEVELS = (
    3,
    16,
)  # levels of a code; two levels need one column only, and a feature with more levels is numeric
MIN_VALUES = 8  # observed values of a feature before it can be a code
SPARSE = 2  # codes are numbered one after another: they fill this part of their range
ONCE = 4  # of a code's levels at most one in so many was met once only
EXACT = 1e-3  # from a whole number, by single precision
SURE = 2.0  # standard errors: an encoded feature stays encoded, and costs as many columns as it has levels
SAMPLES = 512  # exemplars that the choice looks at
MAX_SYMBOLS = 64  # levels of a category: a declared one may have more than a detected code
MAX_SYMBOLS_TOGETHER = 1_024  # of all categories of a space, whatever a schema declares and devices send


def detect(state: State, fitter: Fitter) -> bool:
    """One-hot encode all codes if neighbours then surely predict each other better; whether that was so."""
    found = _codes(state, state.encoder.numeric)
    if not found:
        return False
    layout = _layout(state, found)
    rows = state.memory.sample(SAMPLES, state.rng)
    y = state.memory.y[rows]
    before = state.memory.samples(rows, np.arange(len(state.space)))
    after = np.column_stack([before[:, c.source] if c.values is None else c.values[rows] for c in layout])
    if not fitter.prefers(before, after, y, SURE):
        return False
    _encode(state, layout)
    return True


def detect_in_new(state: State) -> None:
    """One-hot encode new features that are codes, too, if survivors are encoded."""
    if not state.encoder.codes:
        return
    found = _codes(state, np.intersect1d(state.new_columns(), state.encoder.numeric))
    if found:
        _encode(state, _layout(state, found))


def add_levels(state: State, raw: Array) -> None:
    """Add columns for levels that labelled samples (n, inputs) show for the first time; no exemplar has them yet.

    When a category has all the columns it may have, symbols that no exemplar has any more lose theirs.
    """
    if state.encoder.is_identity:
        return
    symbols, unused = _new_symbols(state, raw)
    fresh = [*_new_codes(state, raw), *symbols]
    if fresh:
        kept = [Column(name, column) for column, name in enumerate(state.space.names) if column not in unused]
        _encode(state, kept + fresh)
        state.refresh()


def _new_codes(state: State, raw: Array) -> list[Column]:
    encoder, fresh = state.encoder, []
    for feature, levels in encoder.codes.items():
        values = np.unique(raw[:, encoder.inputs.position[feature]])
        near = values[
            (np.abs(values - levels[0]) < SPARSE * MAX_LEVELS) & (values == np.rint(values))
        ]  # a glitch is none
        unknown = [int(value) for value in near if int(value) not in levels][: MAX_LEVELS - len(levels)]
        fresh += [
            _empty_column(state, code_column(feature, level), code_column(feature, levels[0])) for level in unknown
        ]
    return fresh


def _new_symbols(state: State, raw: Array) -> tuple[list[Column], set[int]]:
    """Columns for symbols without one, in order of appearance, and the columns that they replace."""
    encoder, fresh, unused = state.encoder, list[Column](), set[int]()
    if not len(encoder.other_columns):
        return fresh, unused
    unknown = encoder.encode(raw)[:, encoder.other_columns] == 1.0  # not where one is missing
    room = MAX_SYMBOLS_TOGETHER - sum(map(len, encoder.categories.values()))
    for i, (feature, levels) in enumerate(encoder.categories.items()):
        if not unknown[:, i].any():
            continue
        came = list(dict.fromkeys(raw[unknown[:, i], encoder.inputs.position[feature]].tolist()))
        free = min(MAX_SYMBOLS - len(levels), room)
        if len(came) > free:
            gone = _unused(state, [category_column(feature, level) for level in levels])[: len(came) - max(free, 0)]
            unused |= set(gone)
            free = max(free, 0) + len(gone)
            room += len(gone)
        fresh += [_empty_column(state, category_column(feature, level), other_column(feature)) for level in came[:free]]
        room -= min(len(came), free)
    return fresh, unused


def _unused(state: State, names: list[str]) -> list[int]:
    """Which of these columns are 1 in no exemplar."""
    columns = np.array(state.space.columns(names), dtype=np.intp)
    shown = (_raw_values(state, columns) > 0.5) & state.memory.observed[:, columns]
    return [int(column) for column in columns[~shown.any(axis=0)]]


def _empty_column(state: State, name: str, sibling: str) -> Column:
    """A column that is 0 in every exemplar, observed where its sibling is; metrics give it no weight yet."""
    return Column(name, state.space.position[sibling], 0.0, np.zeros(len(state.memory)))


def _codes(state: State, columns: Index) -> dict[int, list[int]]:
    """The columns whose values look like codes, with their levels."""
    X, observed = _raw_values(state, columns), state.memory.observed[:, columns]
    whole = np.rint(X)
    top = np.where(observed, whole, -np.inf).max(axis=0, initial=-np.inf)
    bottom = np.where(observed, whole, np.inf).min(axis=0, initial=np.inf)
    numbers = np.where(observed, np.abs(X - whole), 0.0).max(axis=0, initial=0.0) < EXACT
    likely = numbers & (top - bottom < SPARSE * MAX_LEVELS) & (observed.sum(axis=0) >= MIN_VALUES)
    found = {}
    for i in np.flatnonzero(likely):
        levels, counts = np.unique(whole[observed[:, i], i], return_counts=True)
        numbered = levels[-1] - levels[0] < SPARSE * len(levels)
        if MIN_LEVELS <= len(levels) <= MAX_LEVELS and numbered and ONCE * (counts == 1).sum() <= len(levels):
            found[int(columns[i])] = [int(level) for level in levels]
    return found


def _raw_values(state: State, columns: Index) -> Array:
    """The exemplars' values (n, columns) before cleaning."""
    memory = state.memory
    return state.statistics.raw_values(memory.samples(np.arange(len(memory)), columns), columns)


def _layout(state: State, found: dict[int, list[int]]) -> list[Column]:
    """Columns of the space in which these features are one-hot encoded."""
    statistics, memory = state.statistics, state.memory
    layout: list[Column] = []
    for column, name in enumerate(state.space.names):
        if column not in found:
            layout.append(Column(name, column))
            continue
        observed = memory.observed[:, column]
        values = np.rint(_raw_values(state, np.array([column])))[:, 0]
        for level in found[column]:
            amount = scaled_by_arcsinh(
                np.array([level - statistics.origin[column]]), statistics.unit[column : column + 1]
            )
            has = (values == level).astype(np.float64)
            layout.append(
                Column(
                    code_column(name, level), column, float(amount[0]), np.where(observed, has, has[observed].mean())
                )
            )
    return layout


def _encode(state: State, layout: list[Column]) -> None:
    """Move the state to the columns of a layout; the retired columns stay where they are."""
    old, retired = state.space, len(state.retired_columns)
    space = encoded_space(state.encoder.inputs, (column.name for column in layout))
    move_columns(state, space, layout, range(len(old), len(old) + retired))
    _encode_upcoming(state, old, layout)


def _encode_upcoming(state: State, old: FeatureSpace, layout: list[Column]) -> None:
    """Encode the announced space the same way; L^s keeps its distances."""
    upcoming = state.upcoming
    if upcoming is None:
        return
    before, announced = old.diff(upcoming.space), OneHotEncoder(upcoming.space).inputs
    state.upcoming = after = Upcoming(state.encoder.next_space(announced, state.retired_columns))
    if upcoming.Ls is None or upcoming.explained is None:
        return
    change = state.space.diff(after.space)
    made_of = {column.name: old.names[column.source] for column in layout if column.source is not None}
    factors = {column.name: column.factor for column in layout}
    place = {before.former[name]: i for i, name in enumerate(before.survived)}
    survived = [change.former[name] for name in change.survived]
    columns = np.array([place[made_of[name]] for name in survived], dtype=np.intp)
    after.Ls = upcoming.Ls[:, columns] * np.array([factors[name] for name in survived])
    share = dict(zip(before.vanished, upcoming.explained, strict=True))
    after.explained = np.array([share[made_of[name]] for name in change.vanished])
    after.steps = upcoming.steps
