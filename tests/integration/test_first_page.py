"""README's lines, typed: from an empty folder to predictions of records that the tutorial's program sends."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.walk import Walk
from tests.unit.docs.blocks import ROOT, blocks, titled

pytestmark = pytest.mark.slow

RECORDS = 60  # of each of three pumps
JOB, PAGE = "the job's terminal", "the page's terminal"


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Walk]:
    walk = Walk(tmp_path)
    (walk.folder / "deploy").symlink_to(ROOT / "deploy")  # as in a clone
    yield walk
    walk.leave()


def test_readmes_lines_run_a_job_that_predicts(reader: Walk):
    (typed,) = (block.text for block in blocks("sh", ROOT / "README.md") if "eml.job" in block.text)
    install, *lines = typed.splitlines()
    assert "make .venv/.ready" in install, "what every test has done"
    (at,) = (number for number, line in enumerate(lines) if "eml.job" in line)
    reader.start(JOB, lines[: at + 1], "first start")
    for line in lines[at + 1 :]:  # the page, beside the job
        reader.start(PAGE, [line], "The fleet is at")
    (reader.folder / "pumps").mkdir()
    (reader.folder / "pumps/pump-v1.avsc").write_text(titled("pump-v1.avsc").text)
    (reader.folder / "pumps/pumps.py").write_text(titled("pumps.py").text.replace('"pumps"', '"readings"'))
    reader.run(f"cd pumps; eml local up; python pumps.py pump-v1.avsc 0 {RECORDS}")
    found = reader.wait_for(f"cd pumps; eml tail predictions --json -n {3 * RECORDS}", lines=3 * RECORDS)
    late = [json.loads(line) for line in found][RECORDS:]
    right = [one["label"] == one["truth"] for one in late if one["truth"]]
    assert sum(right) > 0.8 * len(right) > 0, "pumps that are worn are hot"
