"""What the outcomes come to: a row per data set and p, who is first in it, and in how many ours reaches its goal.

Called by `session` and by the report; read by `table`, and written as JSON. It knows nothing of how figures came about.
"""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from eml import __version__
from eml.evaluate.catalogue import ABLATIONS
from eml.evaluate.haphazard.published import CITATION, Best, best
from eml.evaluate.haphazard.trial import Outcome
from eml.evaluate.prequential.results import Spread

OURS, RIVER = "eml", "river-lr"


@dataclass(frozen=True, slots=True)
class Cell:
    """A data set at p percent of its values: outcomes by method, one per seed, and the best published figure."""

    dataset: str
    p: int
    outcomes: Mapping[str, tuple[Outcome, ...]]
    published: Best | None

    def spread(self, method: str) -> Spread:
        """Return a method's balanced accuracies."""
        return Spread(tuple(outcome.balanced for outcome in self.outcomes[method]))

    @property
    def first(self) -> list[str]:
        """Who has the highest figure, as printed; variants of ours take no places."""
        figures = {name: self._shown(name) for name in self.outcomes if name not in ABLATIONS}
        if self.published:
            figures[self.published.method] = self.published.balanced
        return [name for name, figure in figures.items() if figure == max(figures.values())]

    @property
    def above_published(self) -> bool | None:
        """Whether ours is above the best published figure; None where one of them is not there."""
        if OURS not in self.outcomes or self.published is None:
            return None
        return self._shown(OURS) > self.published.balanced

    @property
    def reaches_river(self) -> bool | None:
        """Whether ours is not below River's logistic regression; None where one of them is not there."""
        if OURS not in self.outcomes or RIVER not in self.outcomes:
            return None
        return self._shown(OURS) >= self._shown(RIVER)

    def _shown(self, method: str) -> float:
        return round(self.spread(method).mean, 2)


def cell(dataset: str, p: int, outcomes: Mapping[str, tuple[Outcome, ...]]) -> Cell:
    """Return a row with the published figure beside ours."""
    return Cell(dataset, p, outcomes, best(dataset, p))


def summary(cells: Sequence[Cell]) -> str:
    """What the table comes to, in a sentence."""
    above = [row.above_published for row in cells if row.above_published is not None]
    if not above:
        return "no published figure to compare ours with"
    both = [(row.above_published, row.reaches_river) for row in cells if row.above_published is not None]
    if any(river is None for _, river in both):
        return f"{OURS} is above the published best in {sum(above)} of {len(above)} cells"
    reached = sum(bool(published and river) for published, river in both)
    goal = "above the published best and not below River's logistic regression"
    apart = f"above the published best in {sum(above)}, not below River's in {sum(bool(river) for _, river in both)}"
    return f"{OURS} is {goal} in {reached} of {len(both)} cells ({apart})"


def as_json(cells: Sequence[Cell], command: dict[str, Any]) -> dict[str, Any]:
    """Return everything: command, versions, and every figure of every seed."""
    return {
        "command": command,
        "versions": {
            "eml": __version__,
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in ("numpy", "scipy", "pot")},
        },
        "published": CITATION,
        "cells": [_cell_json(row) for row in cells],
        "summary": summary(cells),
    }


def _cell_json(row: Cell) -> dict[str, Any]:
    return {
        "dataset": row.dataset,
        "p": row.p,
        "published": asdict(row.published) if row.published else None,
        "first": row.first,
        "methods": {
            name: {
                "mean": row.spread(name).mean,
                "std_err": row.spread(name).std_err,
                "runs": [asdict(outcome) for outcome in outcomes],
            }
            for name, outcomes in row.outcomes.items()
        },
    }
