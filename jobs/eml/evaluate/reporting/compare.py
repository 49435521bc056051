"""Ours against each other method of a table: differences, significance over the same seeds, first places.

Called by `sections` and `contents`; computes, and writes nothing. Figures are compared as printed, with two decimals.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eml.evaluate.reporting.gather import OURS, VARIANTS, Row, Table
from eml.evaluate.reporting.significance import holm, paired_p

LEVEL = 0.05  # of the whole table, after Holm's correction
ENOUGH = 0.5  # share of our seeds that another method must have to take a place: fewer are chance


@dataclass(frozen=True, slots=True)
class Contest:
    """Ours against one method in one row, over the seeds both have."""

    row: Row
    method: str
    lead: float  # ours minus theirs, points of accuracy, as printed
    seeds: int
    p: float
    corrected: float = 1.0

    @property
    def significant(self) -> bool:
        """Whether it stands at the table's level."""
        return self.corrected < LEVEL


@dataclass(frozen=True, slots=True)
class Record:
    """Ours against one method over a whole table."""

    method: str
    contests: tuple[Contest, ...]

    def count(self, sign: int, *, significant: bool = False) -> int:
        """Rows in which ours is ahead (1), level (0) or behind (-1); all of them, or the significant ones."""
        return sum(_sign(c.lead) == sign and (c.significant or not significant) for c in self.contests)

    @property
    def lead(self) -> float:
        """Mean lead over data sets, each of which counts the same however many rows it has."""
        by_dataset: dict[str, list[float]] = {}
        for contest in self.contests:
            by_dataset.setdefault(contest.row.dataset, []).append(contest.lead)
        return statistics.fmean(statistics.fmean(leads) for leads in by_dataset.values())

    @property
    def lost(self) -> list[Contest]:
        """The rows in which ours is behind, the worst first."""
        return sorted((c for c in self.contests if c.lead < 0), key=lambda contest: contest.lead)


def contests(table: Table) -> list[Contest]:
    """All contests of a table, their p corrected together."""
    found = [
        contest
        for row in table.rows
        if OURS in row.entries
        for method in table.methods
        if method != OURS and method in row.entries and (contest := _contest(row, method)) is not None
    ]
    corrected = holm([contest.p for contest in found])
    return [replace(contest, corrected=value) for contest, value in zip(found, corrected, strict=True)]


def records(table: Table) -> list[Record]:
    """Ours against each method, in the table's order."""
    found = contests(table)
    by_method = {method: tuple(c for c in found if c.method == method) for method in table.methods}
    return [Record(method, those) for method, those in by_method.items() if those]


def first_places(table: Table) -> tuple[int, int]:
    """In how many rows ours is first, alone or level, and of how many: those with ours and someone else's.

    Each of the others is met over the seeds both have: luck with seeds is no lead. One with few of them is not counted.
    """
    leads = [[_lead(row, other) for other in _others(row) if _enough(row, other)] for row in _ours(table)]
    contested = [[lead for lead in row if lead is not None] for row in leads]
    return sum(min(row) >= 0.0 for row in contested if row), sum(map(bool, contested))


def best_of(row: Row) -> set[str]:
    """The methods with the highest mean of a row."""
    best = max(_shown(row, method) for method in row.entries)
    return {method for method in row.entries if _shown(row, method) == best}


def least_corrected(found: Sequence[Record]) -> float:
    """The least corrected p that is possible: one contest whose differences all have one sign."""
    seeds = [contest.seeds for record in found for contest in record.contests]
    return min(1.0, len(seeds) * 2.0 ** (1 - max(seeds))) if seeds else 1.0


def paper_reached(table: Table) -> tuple[int, int]:
    """In how many rows ours is at or above the paper's, and of how many."""
    rows = [row for row in table.rows if OURS in row.entries and OURS in row.published]
    return sum(_shown(row, OURS) >= row.published[OURS].accuracy for row in rows), len(rows)


def published_above(table: Table) -> dict[str, list[str]]:
    """The rows in which a rival's published figure is above ours as measured here, by rival."""
    found: dict[str, list[str]] = {}
    for row in table.rows:
        for method, figure in row.published.items():
            if OURS in row.entries and method not in VARIANTS and figure.accuracy > _shown(row, OURS):
                found.setdefault(method, []).append(f"{row.name} {figure.accuracy - _shown(row, OURS):+.2f}")
    return found


def averages(table: Table) -> dict[str, tuple[float, float]]:
    """Accuracy and seconds of the methods that have all rows of ours, every data set counting the same."""
    rows = [row for row in table.rows if OURS in row.entries] or list(table.rows)
    whole = [method for method in table.methods if all(method in row.entries for row in rows)]
    return {method: (_average(rows, method, "values"), _average(rows, method, "seconds")) for method in whole}


def _average(rows: Sequence[Row], method: str, what: str) -> float:
    by_dataset: dict[str, list[float]] = {}
    for row in rows:
        by_dataset.setdefault(row.dataset, []).append(statistics.fmean(getattr(row.entries[method], what).values()))
    return statistics.fmean(statistics.fmean(means) for means in by_dataset.values())


def _contest(row: Row, method: str) -> Contest | None:
    ours, theirs = _paired(row, method)
    p, lead = paired_p(ours, theirs), _lead(row, method)
    return None if p is None or lead is None else Contest(row, method, lead, len(ours), p)


def _lead(row: Row, method: str) -> float | None:
    """Ours minus theirs, as printed; None where no seed is common."""
    ours, theirs = _paired(row, method)
    return round(statistics.fmean(ours) - statistics.fmean(theirs), 2) + 0.0 if ours else None


def _paired(row: Row, method: str) -> tuple[list[float], list[float]]:
    """Ours and theirs over the seeds both have."""
    ours, theirs = row.entries[OURS].values, row.entries[method].values
    common = [seed for seed in ours if seed in theirs]
    return [ours[seed] for seed in common], [theirs[seed] for seed in common]


def _others(row: Row) -> list[str]:
    return [method for method in row.entries if method not in VARIANTS]


def _ours(table: Table) -> list[Row]:
    return [row for row in table.rows if OURS in row.entries]


def _enough(row: Row, method: str) -> bool:
    common, _ = _paired(row, method)
    return len(common) >= ENOUGH * len(row.entries[OURS].values)


def uncounted(table: Table) -> dict[str, int]:
    """The methods with too few seeds to take a place in some rows, and the most seeds that they have there."""
    thin: dict[str, int] = {}
    for row in _ours(table):
        for method in _others(row):
            if not _enough(row, method):
                thin[method] = max(thin.get(method, 0), len(_paired(row, method)[0]))
    return thin


def _shown(row: Row, method: str) -> float:
    return round(row.entries[method].mean, 2)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
