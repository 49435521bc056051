"""The trials that are kept in the repository, and what docs/evidence.md and README say of them."""

import re
from pathlib import Path

import pytest

from eml.evaluate.kept_trials.store import Line, Store
from eml.evaluate.reporting.compare import first_places
from eml.evaluate.reporting.gather import Entry, Table, tables
from tools import evidence

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs/evidence.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
MEASURED = re.compile(r"\b\d\d\.\d\d±\d\.\d\d\b")
AGAIN = "the trials changed: make evidence"


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    reading = Store(ROOT / "evidence").read_all()
    assert reading.lines
    assert not reading.unreadable
    return list(reading.lines)


@pytest.fixture(scope="module")
def kept(lines) -> list[Table]:
    return tables(lines)


def shown(entry: Entry) -> str:
    return f"{entry.mean:.2f}±{entry.std_err or 0.0:.2f}"


def test_the_page_is_the_one_that_the_trials_make(lines):
    assert evidence.page(lines) == PAGE, AGAIN


def test_readmes_table_is_the_one_that_the_trials_make(lines):
    assert evidence.with_table(README, lines) == README, AGAIN


@pytest.mark.parametrize(("text", "least"), [(PAGE, 40), (README, 8)])
def test_every_figure_with_a_standard_error_is_one_of_the_kept_trials(kept, text, least):
    said = set(MEASURED.findall(text))
    assert len(said) > least
    assert said <= {shown(entry) for table in kept for row in table.rows for entry in row.entries.values()}


@pytest.mark.parametrize("text", [PAGE, README])
def test_first_places_are_counted_as_they_are(kept, text):
    first, rows = (sum(counts) for counts in zip(*map(first_places, kept), strict=True))
    assert f"all {rows} rows" in text
    assert f"first in {first} ({100 * first / rows:.0f} %)" in text


def test_a_changed_trial_changes_the_page(lines):
    changed = [line for line in lines if not (line.trial["method"] == "eml" and line.trial["dataset"] == "Gas")]
    assert evidence.page(changed) != PAGE
