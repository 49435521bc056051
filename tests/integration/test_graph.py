"""The names by which a savepoint finds an operator's state: they are what they were, whatever else changes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# State lies under these: offsets, open micro-batches, models, open transactions. A job that has other names cannot go
# on from a savepoint of one that has these: do not change them.
STATEFUL = {
    "readings-source",
    "readings-window-aggregate",
    "models-by-key-in-256",
    "predictions-sink",
    "scores-sink",
    "evolutions-sink",
    "dead_letters-sink",
    "Sink Committer: predictions-sink",
    "Sink Committer: scores-sink",
    "Sink Committer: evolutions-sink",
    "Sink Committer: dead_letters-sink",
}
STATELESS = {
    "readings-calc",
    "readings-calc-2",
    "readings-conversion",
    "predictions-source",  # what the operator yields, as a table; all sinks read it
    "predictions-correlate",
    "predictions-calc",
    "scores-correlate",
    "scores-calc",
    "evolutions-correlate",
    "evolutions-calc",
    "dead_letters-correlate",
    "dead_letters-calc",
}
Uids = dict[str, list[str | None]]


@pytest.fixture(scope="module")
def uids() -> Uids:
    """By what was changed; in this order, in one JVM, where Flink's own numbers run on."""
    program = [sys.executable, "-m", "tests.integration.graph"]
    done = subprocess.run(  # noqa: S603
        program, capture_output=True, text=True, check=False, timeout=300, cwd=Path(__file__).parents[2]
    )
    assert not done.returncode, done.stderr[-5000:]
    found: Uids = json.loads(done.stdout.splitlines()[-1])
    return found


def test_every_operator_has_a_name_and_it_is_one_of_these(uids: Uids):
    found = uids["the settings as they come"]
    assert len(found) == len(set(found))
    assert set(found) == STATEFUL | STATELESS


def test_without_a_topic_of_scores_there_is_no_sink_for_them(uids: Uids):
    everything, found = set(uids["the settings as they come"]), set(uids["no scores"])
    assert everything - found == {name for name in everything if name and "scores" in name}
    assert found < everything


@pytest.mark.parametrize("changed", ["parallelism and micro-batches", "name and topics", "delivery"])
def test_no_setting_changes_a_name(uids: Uids, changed: str):
    assert uids[changed] == uids["the settings as they come"]


def test_whose_models_they_are_is_part_of_their_name(uids: Uids):
    """State that is kept by another name, or in another bucket, would not be found; Flink must refuse it."""
    before = set(uids["the settings as they come"])
    cases = ("a fleet model", "models by a pattern", "models by a header")
    (fleet,), (pattern,), (header,) = (set(uids[case]) - before for case in cases)
    assert fleet == "models-by-all-in-256"
    assert str(pattern).startswith("models-by-key-pattern-")
    assert str(header).startswith("models-by-header-")
    assert str(header).endswith("-in-16")


def test_neither_an_insert_in_front_nor_one_behind_changes_a_name(uids: Uids):
    found = set(uids["an insert in front and one behind"])
    assert found > STATEFUL | STATELESS
    assert None not in found


def test_a_graph_with_a_nameless_operator_is_refused(uids: Uids):
    (said,) = uids["refused"]
    assert said is not None
    assert "no UID or hash has been assigned" in said
