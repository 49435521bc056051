"""The paper's published figures (`paper.csv`), of EML and of its rivals, to stand beside ours.

Called by `results` and by the report. The paper contradicts itself: its EML figure for the same cell differs between
its tables (for Mnist0vs5 at n_i 80: 99.85 in the main one, 99.07 in the ablations). All are kept; the main is shown.
Task II has no table of its own, only a figure, so its ablation table is the main one.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

MAIN_TABLE = {
    "one-shot": "one-shot",
    "multi-shot-task-I": "multi-shot-task-I",
    "multi-shot-task-II": "multi-shot-task-II-ablation",
}
OTHER_TABLES = {
    "one-shot": ("one-shot-ablation", "one-shot-low-rank"),
    "multi-shot-task-I": ("multi-shot-task-I-ablation",),
    "multi-shot-task-II": (),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One published figure: accuracy in percent over fifty runs, with what the paper calls its standard error."""

    table: str
    method: str  # as the registry names it: eml, eml-woT, opid, ...
    accuracy: float
    std_err: float


def figures(scenario: str, dataset: str, batch: int) -> list[Figure]:
    """Return all published figures of a cell, those of the main table first; none where the paper has none."""
    tables = (MAIN_TABLE[scenario], *OTHER_TABLES[scenario])
    return [figure for table in tables for figure in _published().get((table, dataset, batch), [])]


def main_figure(scenario: str, dataset: str, batch: int) -> Figure | None:
    """Return EML's figure of a cell in the main table."""
    found = figures(scenario, dataset, batch)
    return next((f for f in found if f.table == MAIN_TABLE[scenario] and f.method == "eml"), None)


def cells(scenario: str) -> list[tuple[str, int]]:
    """Return the data sets and batch sizes of the main table."""
    return [(dataset, batch) for table, dataset, batch in _published() if table == MAIN_TABLE[scenario]]


@cache
def _published() -> dict[tuple[str, str, int], list[Figure]]:
    cells: dict[tuple[str, str, int], list[Figure]] = {}
    text = resources.files("eml.evaluate").joinpath("paper.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        method = row["method"].replace("EML", "eml") if row["method"].startswith("EML") else row["method"].lower()
        figure = Figure(row["scenario"], method, float(row["accuracy"]), float(row["std_err"]))
        cells.setdefault((row["scenario"], row["dataset"], int(row["n_i"])), []).append(figure)
    return cells
