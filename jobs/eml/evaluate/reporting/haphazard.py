"""The part of the report about the haphazard benchmark: ours, River's and the best published figure in every row.

Called by `contents`; reads kept lines as `haphazard.results` does its outcomes. It takes no part in the count of first
places over all tables: there methods were measured here, seed by seed, and here one was published.
"""

from collections.abc import Iterable, Sequence

from eml.evaluate.catalogue import HAPHAZARD_METHODS, HAPHAZARD_SETS
from eml.evaluate.haphazard.published import CITATION
from eml.evaluate.haphazard.results import OURS, Cell, cell, summary
from eml.evaluate.haphazard.trial import SCENARIO, Outcome
from eml.evaluate.kept_trials.store import Line
from eml.evaluate.reporting import document
from eml.evaluate.reporting.document import Block, Grid, Heading, Paragraph

_TITLE = "Haphazard inputs"


def kept(lines: Iterable[Line]) -> list[Line]:
    """The benchmark's trials; of one that was kept twice the later."""
    return list({line.key: line for line in lines if line.trial["scenario"] == SCENARIO}.values())


def sections(lines: Iterable[Line]) -> list[Block]:
    """A section per size of the memory."""
    blocks: list[Block] = []
    for memory, cells in _tables(lines).items():
        told = f"Memory of {memory} exemplars; records in the benchmark's order, each predicted, then learnt."
        blocks += [Heading(2, _TITLE), Paragraph(told), Paragraph(f"{_headline(cells)}."), _grid(cells)]
    return blocks


def short(lines: Iterable[Line]) -> list[str]:
    """Each section in a sentence."""
    return [f"{_TITLE}: {_headline(cells)}." for cells in _tables(lines).values()]


def _headline(cells: Sequence[Cell]) -> str:
    return f"{summary(cells)}; first in {sum(OURS in row.first for row in cells)} of {len(cells)} rows"


def _tables(lines: Iterable[Line]) -> dict[int, list[Cell]]:
    by_memory: dict[int, list[Line]] = {}
    for line in kept(lines):
        by_memory.setdefault(line.trial["memory"], []).append(line)
    return {memory: _cells(found) for memory, found in sorted(by_memory.items())}


def _grid(cells: Sequence[Cell]) -> Grid:
    methods = sorted({name for row in cells for name in row.outcomes}, key=_method_order)
    rows = [
        (
            document.Cell(row.dataset),
            document.Cell(str(row.p)),
            *(_measured(row, name) for name in methods),
            _published(row),
        )
        for row in cells
    ]
    caption = (
        "Balanced accuracy in percent over the whole stream, mean ± standard error over seeds (where nothing is "
        f"random: one run); p: percent of the values that are there; bold: first of the row. Published: {CITATION}."
    )
    return Grid(caption, ("data set", "p", *methods, "published best"), tuple(rows), names=2)


def _measured(row: Cell, method: str) -> document.Cell:
    if method not in row.outcomes:
        return document.Cell("")
    spread = row.spread(method)
    error = "" if spread.std_err is None else f"±{spread.std_err:.2f}"
    return document.Cell(f"{spread.mean:.2f}{error}", strong=method in row.first)


def _published(row: Cell) -> document.Cell:
    if row.published is None:
        return document.Cell("")
    return document.Cell(
        f"{row.published.balanced:.1f}", row.published.method, strong=row.published.method in row.first
    )


def _cells(lines: Sequence[Line]) -> list[Cell]:
    found: dict[tuple[str, int], dict[str, list[Line]]] = {}
    for line in lines:
        place = (line.trial["dataset"], line.trial["p"])
        found.setdefault(place, {}).setdefault(line.trial["method"], []).append(line)
    return [
        cell(*place, {name: _outcomes(found[place][name]) for name in sorted(found[place], key=_method_order)})
        for place in sorted(found, key=_row_order)
    ]


def _outcomes(lines: Sequence[Line]) -> tuple[Outcome, ...]:
    ordered = sorted(lines, key=lambda line: int(line.trial["seed"]))
    return tuple(Outcome.from_json(line.outcome) for line in ordered)


def _row_order(place: tuple[str, int]) -> tuple[int, str, int]:
    dataset, p = place
    return HAPHAZARD_SETS.index(dataset) if dataset in HAPHAZARD_SETS else len(HAPHAZARD_SETS), dataset, p


def _method_order(method: str) -> tuple[int, str]:
    known = HAPHAZARD_METHODS
    return known.index(method) if method in known else len(known), method
