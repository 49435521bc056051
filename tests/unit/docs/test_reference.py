"""The reference pages say something of everything in the code."""

import json
import re
from dataclasses import fields

import pytest

from eml.settings import Settings
from tests.unit.docs.blocks import ROOT
from tools import benchmarks, reference

ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*) \|$", re.MULTILINE)


def test_every_setting_has_a_row_with_its_default_and_a_reason():
    sections = re.split(r"^## \[(\w+)\]$", reference.settings(), flags=re.MULTILINE)
    rows = {name: ROW.findall(text) for name, text in zip(sections[1::2], sections[2::2], strict=True)}
    assert {name: [row[0] for row in found] for name, found in rows.items()} == {
        section.name: [field.name for field in fields(getattr(Settings(), section.name))]
        for section in fields(Settings)
    }
    assert [row for found in rows.values() for row in found if len(row[2]) < 5] == []
    assert ("micro_batch_ms", f"`{Settings().job.micro_batch_ms}`") in [row[:2] for row in rows["job"]]


def test_a_metric_that_nobody_explains_is_an_error():
    with pytest.raises(SystemExit, match="surprise"):
        reference._descriptions("| `known` | what |\n", ["known", "surprise"])


def test_every_counter_and_every_distribution_is_on_the_page():
    page = reference.metrics()
    assert {"predictions", "waits_outage", "labels_joined", "recovery_regret"} <= set(
        re.findall(r"^\| `(\w+)`", page, re.MULTILINE)
    )
    assert "](../" not in page, "links are those of the page, not of the table's own"


@pytest.mark.parametrize("name", ["prediction", "score", "evolution", "label"])
def test_every_field_of_our_topics_is_on_the_page(name):
    page = reference.topics()
    schema = json.loads((ROOT / f"schemas/{name}.avsc").read_text())
    assert [field["name"] for field in schema["fields"] if f"| `{field['name']}` |" not in page] == []


def test_every_command_is_on_the_page():
    page = reference.commands()
    for command in (
        "eml",
        "eml evaluate stream",
        "eml local up",
        "eml topics",
        "eml bench learner",
        "python -m eml.job",
    ):
        assert f"\n## {command}\n" in page


@pytest.mark.parametrize("page", ["benchmarks", "sizing"])
def test_the_tables_of_measured_runs_are_those_of_their_files(page):
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    assert benchmarks.with_tables(text, page) == text
    assert "| " in benchmarks.tables(page)
