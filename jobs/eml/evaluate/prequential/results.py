"""What the figures of many seeds say: means, standard errors, regret, and who is ahead.

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
from eml.evaluate.catalogue import ABLATIONS
from eml.evaluate.prequential.measures import Figures

COLD = "restart"  # regret is counted against it
OURS = ("eml", "eml-announced", *ABLATIONS)  # all others are rivals


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over seeds."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Its mean."""
        return statistics.fmean(self.values)

    @property
    def std_err(self) -> float | None:
        """Standard error of the mean; None for a single run."""
        return statistics.stdev(self.values) / math.sqrt(len(self.values)) if len(self.values) > 1 else None


@dataclass(frozen=True, slots=True)
class Group:
    """A data set's figures: by method, in the order asked for, one per seed."""

    dataset: str
    note: str
    figures: dict[str, tuple[Figures, ...]]

    def spread(self, method: str, figure: str) -> Spread:
        """Return one of the accuracies, or the seconds."""
        return Spread(tuple(getattr(run, figure) for run in self.figures[method]))

    def regret(self, method: str) -> Spread | None:
        """Right answers of a cold restart minus the method's, per stage after a switch; None where none restarted."""
        if COLD not in self.figures:
            return None
        pairs = zip(self.figures[COLD], self.figures[method], strict=True)
        return Spread(tuple((sum(cold.right[1:]) - sum(own.right[1:])) / len(own.right[1:]) for cold, own in pairs))

    def lead(self) -> tuple[str, Spread] | None:
        """The rival that is best right after a switch, and how far eml is ahead of it seed by seed."""
        rivals = [name for name in self.figures if name not in OURS]
        if "eml" not in self.figures or not rivals:
            return None
        best = max(rivals, key=lambda name: self.spread(name, "early").mean)
        pairs = zip(self.figures["eml"], self.figures[best], strict=True)
        return best, Spread(tuple(own.early - other.early for own, other in pairs))


def as_json(groups: Sequence[Group], command: dict[str, Any]) -> dict[str, Any]:
    """Return everything: command, versions, and every figure of every seed."""
    return {
        "command": command,
        "versions": {
            "eml": __version__,
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in ("numpy", "scipy", "pot")},
        },
        "datasets": [_group_json(group) for group in groups],
    }


def _group_json(group: Group) -> dict[str, Any]:
    return {
        "dataset": group.dataset,
        "note": group.note,
        "methods": {
            name: {
                "summary": {figure: _spread_json(group.spread(name, figure)) for figure in _ACCURACIES},
                "regret": _spread_json(group.regret(name)),
                "runs": [asdict(run) for run in runs],
            }
            for name, runs in group.figures.items()
        },
    }


_ACCURACIES = ("early", "after", "balanced", "before")


def _spread_json(spread: Spread | None) -> dict[str, float | None] | None:
    return None if spread is None else {"mean": spread.mean, "std_err": spread.std_err}
