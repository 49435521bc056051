"""Which features are codes, decided by held-out samples; and a column for every level of codes and categories.

Called by the learner: when its first stage ends and whenever the samples have doubled (`choose`), with every
labelled batch (`meet`), and by the I-stage for features that come later (`extend`). Spelling a code out changes no
distance: a level's column of the metric is the code's own, times the value. From there on the metric is free to learn
that 3 is not between 2 and 4. A category is declared to be one, so nothing is decided: its symbols get columns as they
come with a label, up to a bound.
"""

from dataclasses import dataclass

import numpy as np

from eml.core.arrays import Array, Index, Mask
from eml.core.features import FeatureSpace
from eml.core.fitting import Fitter
from eml.core.spelling import Spelling, inner_space, others, spelled, symbol
from eml.core.state import State, Upcoming
from eml.core.statistics import squash

FEWEST, MOST = 3, 16  # levels of a code; two need one column, and what has more is an amount
FEWEST_SEEN = 8  # values of a feature that tell
SPARSE = 2  # codes are numbered one after another: they fill this part of their range
ONCE = 4  # of a code's levels at most one in so many was met once only
EXACT = 1e-3  # from a whole number, by single precision
SURE = 2.0  # standard errors: what is spelled out stays so, and has the columns of many features
SAMPLES = 512  # exemplars that the choice looks at
SYMBOLS = 64  # levels of a category: declared ones may have more than codes that were found out
ALL_SYMBOLS = 1_024  # of all categories of a space together, whatever a schema declares and devices send


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the next inner space: the one it is made of, times `factor` in metrics; `values` if it is new."""

    name: str
    source: int
    factor: float = 1.0
    values: Array | None = None  # (n,) of the exemplars, 0 or 1


def choose(state: State, fitter: Fitter) -> bool:
    """Spell out all codes if neighbours then surely predict each other better."""
    found = _codes(state, state.spelling.amounts)
    if not found:
        return False
    layout = _layout(state, found)
    rows = state.memory.sample(SAMPLES, state.rng)
    y = state.memory.y[rows]
    before = state.memory.samples(rows, np.arange(len(state.space)))
    after = np.column_stack([before[:, c.source] if c.values is None else c.values[rows] for c in layout])
    if not fitter.prefers(before, after, y, SURE):
        return False
    _relay(state, layout)
    return True


def extend(state: State) -> None:
    """Spell out the new features that are codes as well, where survivors are spelled out."""
    if not state.spelling.codes:
        return
    found = _codes(state, np.intersect1d(state.new_columns(), state.spelling.amounts))
    if found:
        _relay(state, _layout(state, found))


def meet(state: State, raw: Array) -> None:
    """Give levels that labelled samples (n, outer) show for the first time their columns; no exemplar had them.

    Of a category that has all the columns it may have, symbols that no exemplar shows any more make room.
    """
    if state.spelling.plain:
        return
    symbols, unused = _new_symbols(state, raw)
    fresh = [*_new_codes(state, raw), *symbols]
    if fresh:
        kept = [_Column(name, column) for column, name in enumerate(state.space.names) if column not in unused]
        _relay(state, kept + fresh)
        state.refresh()


def _new_codes(state: State, raw: Array) -> list[_Column]:
    spelling, fresh = state.spelling, []
    for feature, levels in spelling.codes.items():
        values = np.unique(raw[:, spelling.outer.position[feature]])
        near = values[(np.abs(values - levels[0]) < SPARSE * MOST) & (values == np.rint(values))]  # a glitch is none
        unknown = [int(value) for value in near if int(value) not in levels][: MOST - len(levels)]
        fresh += [_fresh(state, spelled(feature, level), spelled(feature, levels[0])) for level in unknown]
    return fresh


def _new_symbols(state: State, raw: Array) -> tuple[list[_Column], set[int]]:
    """Columns for symbols without one, in the order in which they came; and the columns that they replace."""
    spelling, fresh, unused = state.spelling, list[_Column](), set[int]()
    if not len(spelling.others):
        return fresh, unused
    unknown = spelling.spell(raw)[:, spelling.others] == 1.0  # not where one is missing
    room = ALL_SYMBOLS - sum(map(len, spelling.symbols.values()))
    for i, (feature, levels) in enumerate(spelling.symbols.items()):
        if not unknown[:, i].any():
            continue
        came = list(dict.fromkeys(raw[unknown[:, i], spelling.outer.position[feature]].tolist()))
        free = min(SYMBOLS - len(levels), room)
        if len(came) > free:
            gone = _unused(state, [symbol(feature, level) for level in levels])[: len(came) - max(free, 0)]
            unused |= set(gone)
            free = max(free, 0) + len(gone)
            room += len(gone)
        fresh += [_fresh(state, symbol(feature, level), others(feature)) for level in came[:free]]
        room -= min(len(came), free)
    return fresh, unused


def _unused(state: State, names: list[str]) -> list[int]:
    """Those of these columns that are 1 in no exemplar."""
    columns = np.array(state.space.columns(names), dtype=np.intp)
    shown = (_restored(state, columns) > 0.5) & state.memory.observed[:, columns]
    return [int(column) for column in columns[~shown.any(axis=0)]]


def _fresh(state: State, name: str, sibling: str) -> _Column:
    """A column that no exemplar has, observed where its sibling is; metrics do not see it yet."""
    return _Column(name, state.space.position[sibling], 0.0, np.zeros(len(state.memory)))


def _codes(state: State, columns: Index) -> dict[int, list[int]]:
    """The columns whose values look like codes, with their levels."""
    X, observed = _restored(state, columns), state.memory.observed[:, columns]
    whole = np.rint(X)
    top = np.where(observed, whole, -np.inf).max(axis=0, initial=-np.inf)
    bottom = np.where(observed, whole, np.inf).min(axis=0, initial=np.inf)
    numbers = np.where(observed, np.abs(X - whole), 0.0).max(axis=0, initial=0.0) < EXACT
    likely = numbers & (top - bottom < SPARSE * MOST) & (observed.sum(axis=0) >= FEWEST_SEEN)
    found = {}
    for i in np.flatnonzero(likely):
        levels, counts = np.unique(whole[observed[:, i], i], return_counts=True)
        numbered = levels[-1] - levels[0] < SPARSE * len(levels)
        if FEWEST <= len(levels) <= MOST and numbered and ONCE * (counts == 1).sum() <= len(levels):
            found[int(columns[i])] = [int(level) for level in levels]
    return found


def _restored(state: State, columns: Index) -> Array:
    """Values (n, columns) of the exemplars as they came."""
    memory = state.memory
    return state.statistics.restored(memory.samples(np.arange(len(memory)), columns), columns)


def _layout(state: State, found: dict[int, list[int]]) -> list[_Column]:
    """Columns of the space in which these are spelled out."""
    statistics, memory = state.statistics, state.memory
    layout: list[_Column] = []
    for column, name in enumerate(state.space.names):
        if column not in found:
            layout.append(_Column(name, column))
            continue
        observed = memory.observed[:, column]
        values = np.rint(_restored(state, np.array([column])))[:, 0]
        for level in found[column]:
            amount = squash(np.array([level - statistics.origin[column]]), statistics.unit[column : column + 1])
            has = (values == level).astype(np.float64)
            layout.append(
                _Column(spelled(name, level), column, float(amount[0]), np.where(observed, has, has[observed].mean()))
            )
    return layout


def _relay(state: State, layout: list[_Column]) -> None:
    """Move the whole state to the columns of a layout; metrics keep their distances."""
    old, source = state.space, np.array([column.source for column in layout], dtype=np.intp)
    factor = np.array([column.factor for column in layout])
    new = np.array([column.values is not None for column in layout])
    _relay_memory(state, layout, source, new)
    _relay_statistics(state, source, new)
    for view in state.views:
        place = {int(column): i for i, column in enumerate(view.columns)}
        mine = np.array([j for j, column in enumerate(source) if int(column) in place], dtype=np.intp)
        view.L = view.L[:, [place[int(source[j])] for j in mine]] * factor[mine]
        view.columns = mine
    for linear in state.linears:
        if linear is not None:
            linear.spell_out(source, factor, new)
    if state.fresh is not None:
        state.fresh.view.L = state.fresh.view.L[:, source] * factor
        state.fresh.view.columns = np.arange(len(source))
    state.returned = {
        j: state.returned[int(column)] * factor[j] for j, column in enumerate(source) if int(column) in state.returned
    }
    state.space = inner_space(state.spelling.outer, (column.name for column in layout))
    _relay_upcoming(state, old, layout)


def _relay_memory(state: State, layout: list[_Column], source: Index, new: Mask) -> None:
    memory, d = state.memory, len(state.space)
    X, grain = memory.X[:, source], np.where(new, 0.0, memory.grain[source])
    for j in np.flatnonzero(new):
        X[:, j] = layout[j].values
    memory.replace(
        np.hstack([X, memory.X[:, d:]]),
        np.hstack([memory.observed[:, source], memory.observed[:, d:]]),
        np.concatenate([grain, memory.grain[d:]]),
    )


def _relay_statistics(state: State, source: Index, new: Mask) -> None:
    statistics = state.statistics.select([int(column) for column in source])
    X, observed = state.memory.X[:, : len(source)][:, new], state.memory.observed[:, : len(source)][:, new]
    columns = np.flatnonzero(new)
    for field in (statistics.origin, statistics.first):
        field[columns] = 0.0
    statistics.restate(X.astype(np.float64), observed, columns, np.zeros(len(columns)))
    state.statistics = statistics


def _relay_upcoming(state: State, old: FeatureSpace, layout: list[_Column]) -> None:
    """The announced space has the columns too; L^s keeps its distances."""
    upcoming = state.upcoming
    if upcoming is None:
        return
    before = old.diff(upcoming.space)
    state.upcoming = after = Upcoming(state.spelling.towards(Spelling(upcoming.space).outer, state.attic))
    if upcoming.Ls is None or upcoming.explained is None:
        return
    change = state.space.diff(after.space)
    made_of = {column.name: column for column in layout}
    place = {before.former[name]: i for i, name in enumerate(before.survived)}
    columns = [made_of[change.former[name]] for name in change.survived]
    factor = np.array([column.factor for column in columns])
    after.Ls = upcoming.Ls[:, [place[old.names[column.source]] for column in columns]] * factor
    share = dict(zip(before.vanished, upcoming.explained, strict=True))
    after.explained = np.array([share[old.names[made_of[name].source]] for name in change.vanished])
    after.steps = upcoming.steps
