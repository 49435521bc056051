"""Kept trials as tables: rows are data sets (at a batch size), columns are methods, a figure per seed in each cell.

Called by `compare`, `sections` and `pictures`; reads lines of `kept_trials.store`. A table holds what may be compared:
one scenario under one set of parameters.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eml.evaluate.catalogue import ABLATIONS, CONTROLS, DATASETS, METHODS, PEERS, STREAM_METHODS
from eml.evaluate.kept_trials.store import Line
from eml.evaluate.paper import MAIN_TABLE, Figure, figures

OURS = "eml"
VARIANTS = (OURS, "eml-announced", *ABLATIONS)  # of ours: no rivals
_ROW = ("scenario", "dataset", "batch", "seed", "method")  # fields of a trial that are no parameters of the table
_FIGURES = {"stream": ("early", "after", "balanced")}  # of an outcome; all other scenarios have one
_SCENARIOS = (*MAIN_TABLE, "stream")  # that make tables, in the report's order


@dataclass(frozen=True, slots=True)
class Entry:
    """A method's figures in a row, by seed."""

    values: Mapping[int, float]
    seconds: Mapping[int, float]

    @property
    def mean(self) -> float:
        """Mean over its seeds."""
        return statistics.fmean(self.values.values())

    @property
    def std_err(self) -> float | None:
        """Standard error of the mean; None for a single seed."""
        values = list(self.values.values())
        return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None


@dataclass(frozen=True, slots=True)
class Row:
    """A data set, at a batch size where the scenario has batches."""

    dataset: str
    batch: int | None
    entries: Mapping[str, Entry]  # by method
    published: Mapping[str, Figure]  # the paper's, of its main table

    @property
    def name(self) -> str:
        """The row in a sentence."""
        return self.dataset if self.batch is None else f"{self.dataset} n_i {self.batch}"


@dataclass(frozen=True, slots=True)
class Table:
    """What may be compared with each other."""

    scenario: str
    figure: str  # a field of the outcome
    parameters: Mapping[str, Any]
    rows: tuple[Row, ...]
    lines: tuple[Line, ...] = field(repr=False, default=())

    @property
    def methods(self) -> list[str]:
        """All methods that have an entry, ours first."""
        found = {method for row in self.rows for method in row.entries}
        return sorted(found, key=method_order)


def kind_of(method: str) -> str:
    """What a method is to ours."""
    if method in VARIANTS:
        return "ours"
    if method in PEERS:
        return "peer"
    return "control" if method in (*CONTROLS, "drop-only") else "rival"


def method_order(method: str) -> tuple[int, int, str]:
    """Ours, rivals, peers, controls; within these as the command line lists them."""
    known = (*METHODS, *STREAM_METHODS)
    kinds = ("ours", "rival", "peer", "control")
    return kinds.index(kind_of(method)), known.index(method) if method in known else len(known), method


def tables(lines: Iterable[Line]) -> list[Table]:
    """All tables, those of the paper's scenarios first; of a trial that was kept twice the later one counts."""
    groups: dict[tuple[str, str], dict[str, Line]] = {}
    for line in lines:
        if line.trial["scenario"] in _SCENARIOS:
            parameters = {name: value for name, value in line.trial.items() if name not in _ROW}
            groups.setdefault((line.trial["scenario"], repr(sorted(parameters.items()))), {})[line.key] = line
    found = sorted(groups.items(), key=lambda item: (_SCENARIOS.index(item[0][0]), item[0][1]))
    return [
        _table(scenario, figure, list(group.values()))
        for (scenario, _), group in found
        for figure in _FIGURES.get(scenario, ("accuracy",))
    ]


def _table(scenario: str, figure: str, lines: Sequence[Line]) -> Table:
    cells: dict[tuple[str, int | None], dict[str, list[Line]]] = {}
    for line in lines:
        place = (line.trial["dataset"], line.trial.get("batch"))
        cells.setdefault(place, {}).setdefault(line.trial["method"], []).append(line)
    parameters = {name: value for name, value in lines[0].trial.items() if name not in _ROW}
    rows = tuple(
        Row(
            *place,
            {method: _entry(found, figure) for method, found in cells[place].items()},
            _published(scenario, *place),
        )
        for place in sorted(cells, key=_row_order)
    )
    return Table(scenario, figure, parameters, rows, tuple(lines))


def _entry(lines: Sequence[Line], figure: str) -> Entry:
    ordered = sorted(lines, key=lambda line: int(line.trial["seed"]))
    return Entry(
        {line.trial["seed"]: line.outcome[figure] for line in ordered},
        {line.trial["seed"]: line.outcome["seconds"] for line in ordered},
    )


def _row_order(place: tuple[str, int | None]) -> tuple[int, str, int]:
    dataset, batch = place
    return DATASETS.index(dataset) if dataset in DATASETS else len(DATASETS), dataset, batch or 0


def _published(scenario: str, dataset: str, batch: int | None) -> dict[str, Figure]:
    """The main table's figures by method, and those of other tables where the main one has none."""
    if scenario not in MAIN_TABLE or batch is None:
        return {}
    found: dict[str, Figure] = {}
    for figure in figures(scenario, dataset, batch):  # those of the main table come first
        found.setdefault(figure.method, figure)
    return found
