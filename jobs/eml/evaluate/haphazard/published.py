"""The benchmark's published figures (`published.csv`): the best of its nine methods in each cell.

Called by `results`. Balanced accuracy in percent, of R. Agarwal, A. Das, A. Horsch, K. Agarwal, D. K. Prasad, "Online
Learning under Haphazard Input Conditions: A Comprehensive Review and Analysis" (2024), whose code, the repository
Rohit102497/HaphazardInputsReview, deals the streams. Its nine methods had their hyper-parameters chosen per data set.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

CITATION = "Agarwal et al., Online Learning under Haphazard Input Conditions (2024), best of nine methods"


@dataclass(frozen=True, slots=True)
class Best:
    """The best published figure of a cell, and whose it is."""

    method: str
    balanced: float


def best(dataset: str, p: int) -> Best | None:
    """Return the best published figure of a data set at p percent of the values; None where there is none."""
    return _published().get((dataset, p))


@cache
def _published() -> dict[tuple[str, int], Best]:
    text = resources.files("eml.evaluate.haphazard").joinpath("published.csv").read_text(encoding="utf-8")
    return {
        (row["dataset"], int(row["p"])): Best(row["method"], float(row["balanced_accuracy"]))
        for row in csv.DictReader(text.splitlines())
    }
