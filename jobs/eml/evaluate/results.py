"""What the outcomes of many trials say: means, standard errors, the control to beat, the comparison with the paper.

Called by `session` after `runner`; read by `table`, and written as JSON. It knows nothing of how figures came about.
"""

import math
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from eml import __version__
from eml.evaluate.methods import settings
from eml.evaluate.paper import Figure, figures, main_figure
from eml.evaluate.trial import Outcome

# "None more than 0.3 points below the memory control": the bound the project set itself.
CONTROL_MARGIN = 0.3

BETTER_MEMORY = "better memory"  # per cell the better of the two below: an advantage to the control
MEMORIES = ("memory", "memory-raw")


@dataclass(frozen=True, slots=True)
class Score:
    """A method's outcomes in one cell, one per seed."""

    outcomes: tuple[Outcome, ...]

    @property
    def mean(self) -> float:
        """Mean accuracy in percent."""
        return statistics.fmean(outcome.accuracy for outcome in self.outcomes)

    @property
    def std_err(self) -> float | None:
        """Standard error of the mean; None for a single run."""
        if len(self.outcomes) < 2:
            return None
        return statistics.stdev(outcome.accuracy for outcome in self.outcomes) / math.sqrt(len(self.outcomes))

    @property
    def by_stage(self) -> dict[int, list[float]]:
        """Accuracies of each stage, one per seed."""
        return {stage: [outcome.by_stage[stage] for outcome in self.outcomes] for stage in self.outcomes[0].by_stage}


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of the table: a data set at one batch size."""

    dataset: str
    batch: int
    notes: tuple[str, ...]
    scores: dict[str, Score]  # by method, in the order asked for
    published: tuple[Figure, ...]  # the paper's figures for the methods run, main table first
    paper: Figure | None  # the paper's EML in its main table

    @property
    def control(self) -> Score | None:
        """The better of the memory controls that ran."""
        ran = [self.scores[name] for name in MEMORIES if name in self.scores]
        return max(ran, key=lambda score: score.mean, default=None)


@dataclass(frozen=True, slots=True)
class Summary:
    """What the table comes to; counts are (cells, of how many), averages take each data set's cells together first."""

    paper_reached: tuple[int, int]
    below_control: tuple[int, int]
    averages: dict[str, float]
    by_stage: dict[int, float]  # eml's accuracy, averaged over the cells that predict in the stage


def cell(scenario: str, dataset: str, batch: int, notes: Sequence[str], scores: dict[str, Score]) -> Cell:
    """Return a row with the paper's figures beside ours."""
    published = tuple(figure for figure in figures(scenario, dataset, batch) if figure.method in scores)
    return Cell(dataset, batch, tuple(notes), scores, published, main_figure(scenario, dataset, batch))


def summarise(cells: Sequence[Cell]) -> Summary:
    """Count and average over the table; figures are compared as printed, with two decimals."""
    ours = [row for row in cells if "eml" in row.scores]
    against_paper = [round(row.scores["eml"].mean, 2) >= row.paper.accuracy for row in ours if row.paper]
    against_control = [
        round(row.scores["eml"].mean - row.control.mean, 2) < -CONTROL_MARGIN for row in ours if row.control
    ]
    stages: dict[int, list[float]] = {}
    for row in ours:
        for stage, accuracies in row.scores["eml"].by_stage.items():
            stages.setdefault(stage, []).append(statistics.fmean(accuracies))
    return Summary(
        paper_reached=(sum(against_paper), len(against_paper)),
        below_control=(sum(against_control), len(against_control)),
        averages=_averages(cells),
        by_stage={stage: statistics.fmean(means) for stage, means in sorted(stages.items())},
    )


def _averages(cells: Sequence[Cell]) -> dict[str, float]:
    by_method: dict[str, dict[str, list[float]]] = {}
    for row in cells:
        means = {name: score.mean for name, score in row.scores.items()}
        if all(name in row.scores for name in MEMORIES) and row.control:
            means[BETTER_MEMORY] = row.control.mean
        for name, mean in means.items():
            by_method.setdefault(name, {}).setdefault(row.dataset, []).append(mean)
    return {
        name: statistics.fmean(statistics.fmean(means) for means in datasets.values())
        for name, datasets in by_method.items()
    }


def as_json(cells: Sequence[Cell], command: dict[str, Any]) -> dict[str, Any]:
    """Return everything: command, versions, settings, per-seed accuracies, notes, the paper's figures, the summary."""
    methods = list(cells[0].scores) if cells else []
    return {
        "command": command,
        "versions": {
            "eml": __version__,
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in ("numpy", "scipy", "pot")},
        },
        "settings": {name: settings(name, command["memory"]) for name in methods},
        "cells": [_cell_json(row) for row in cells],
        "summary": asdict(summarise(cells)),
    }


def _cell_json(row: Cell) -> dict[str, Any]:
    return {
        "dataset": row.dataset,
        "batch": row.batch,
        "notes": list(row.notes),
        "paper": [asdict(figure) for figure in row.published],
        "methods": {
            name: {
                "mean": score.mean,
                "std_err": score.std_err,
                "accuracies": [outcome.accuracy for outcome in score.outcomes],
                "by_stage": score.by_stage,
                "cpu_seconds": statistics.fmean(outcome.seconds for outcome in score.outcomes),
            }
            for name, score in row.scores.items()
        },
    }
