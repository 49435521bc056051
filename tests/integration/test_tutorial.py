"""The tutorial, typed from top to bottom on one stack: an upgrade, late labels, a stop and a start in the middle."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.walk import Walk
from tests.unit.docs.blocks import ROOT, blocks

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs/tutorial.md"
PUMPS, OLD, NEW = 3, 300, 700  # readings of each pump that the page sends, by version
UPGRADED, EVERY = 600, 10  # of the new ones, those before the inspection; which of them have no label


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Walk]:
    walk = Walk(tmp_path)
    yield walk
    walk.leave()


def written(reader: Walk, topic: str, count: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in reader.wait_for(f"eml tail {topic} --json -n 10000", count)]


def test_every_line_of_the_tutorial_works_in_the_order_of_the_page(reader: Walk):
    install, *rest, down = blocks(page=PAGE)
    assert "make .venv/.ready" in install.text, "what every test has done"
    reader.read(rest)
    predictions = written(reader, "predictions", PUMPS * (OLD + NEW))
    assert len(predictions) == len({(one["key"], one["event_id"]) for one in predictions}) == PUMPS * (OLD + NEW)
    assert {one["schema_version"] for one in predictions} == {1, 2}
    scores = written(reader, "scores", PUMPS * ((OLD + NEW) * (EVERY - 1) + UPGRADED) // EVERY)
    assert sum(one["wait_ms"] > 0 for one in scores) == PUMPS * UPGRADED // EVERY, "those that were inspected"
    assert sum(one["right"] for one in scores) > 0.8 * len(scores)
    events = Counter(one["kind"] for one in written(reader, "evolutions", 2 * PUMPS))
    assert (events["evolution"], events["recovery"], events["warm-start"]) == (PUMPS, PUMPS, 0)
    assert "transactions were lost" not in reader.screen("second terminal"), "nothing was: see above"
    for terminal in ("second terminal", "third terminal"):
        reader.stop(terminal)
    reader.read([down])
