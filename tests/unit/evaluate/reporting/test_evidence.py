"""The trials that are kept in the repository, and what the README says of them."""

import re
from pathlib import Path

import pytest

from eml.evaluate.keeping.store import Store
from eml.evaluate.reporting.compare import first_places
from eml.evaluate.reporting.gather import Entry, Table, tables

ROOT = Path(__file__).parents[4]
MEASURED = re.compile(r"\b\d\d\.\d\d±\d\.\d\d\b")


@pytest.fixture(scope="module")
def kept() -> list[Table]:
    reading = Store(ROOT / "evidence").read_all()
    assert reading.lines
    assert not reading.unreadable
    return tables(reading.lines)


@pytest.fixture(scope="module")
def evidence() -> str:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return readme.partition("\n## Evidence\n")[2].partition("\n## ")[0]


def shown(entry: Entry) -> str:
    return f"{entry.mean:.2f}±{entry.std_err or 0.0:.2f}"


def test_every_figure_with_a_standard_error_in_the_readme_is_one_of_the_kept_trials(kept, evidence):
    said = set(MEASURED.findall(evidence))
    assert len(said) > 40
    assert said <= {shown(entry) for table in kept for row in table.rows for entry in row.entries.values()}


def test_the_readme_counts_first_places_as_they_are(kept, evidence):
    first, rows = (sum(counts) for counts in zip(*map(first_places, kept), strict=True))
    assert f"all {rows} rows" in evidence
    assert f"first in {first} ({100 * first / rows:.0f} %)" in evidence
