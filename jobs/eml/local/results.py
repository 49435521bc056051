"""The figures of the demonstration: what each model got right, by version, right after a switch, and over time.

Computed by `demo` when all is in; shown by `screen` as a table and by `picture` as curves. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eml.local.controls import Labels
from eml.local.fleet import VERSIONS
from eml.local.sender import Sent

VERSION_NUMBERS = tuple(range(1, len(VERSIONS) + 1))
WINDOWS = 30  # that fit beside each other on a curve: wide enough to be calm, narrow enough to show a dip
POINTS = 300  # of a curve


@dataclass(frozen=True, slots=True)
class Result:
    """What one model got right; the arrays have an entry for each record, in the order of their sending."""

    name: str
    hits: NDArray[np.bool_]
    versions: NDArray[np.int_]
    early: NDArray[np.bool_]
    at_s: NDArray[np.float64]  # since the first record

    def share(self, version: int, *, early: bool) -> float:
        """Share of right predictions under a version: right after the switch to it, or all of it."""
        chosen = self.versions == version
        return float(self.hits[chosen & self.early if early else chosen].mean())

    def rolling(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times, and the share of right predictions among the records just before each."""
        window = max(1, len(self.hits) // WINDOWS)
        sums = np.concatenate([[0], np.cumsum(self.hits)])
        ends = np.unique(np.linspace(window, len(self.hits), POINTS, dtype=np.intp))
        return self.at_s[ends - 1], (sums[ends] - sums[ends - window]) / window


def results(sent: Sequence[Sent], labels: Mapping[str, Labels]) -> list[Result]:
    """One result for each model; a record without a prediction counts as wrong."""
    planned = [record.planned for record in sent]
    times = np.array([record.timestamp_ms for record in sent], dtype=np.float64)
    versions = np.array([each.version for each in planned])
    early = np.array([each.early for each in planned])
    return [
        Result(
            name,
            np.array([said.get(each.event_id) == each.reading.state for each in planned]),
            versions,
            early,
            (times - times[0]) / 1000,
        )
        for name, said in labels.items()
    ]
