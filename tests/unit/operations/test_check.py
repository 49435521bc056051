"""`eml check` without a registry, and with one that a test makes up: what it says, and the status it ends with."""

import json
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pytest

from eml import cli
from eml.core import EvolvingMetricLearner, FeatureSpace
from eml.local import record_file
from eml.local.record_lines import Arrived, Entry, Registered
from eml.operations.effect import FEWEST, difference
from eml.stream.records import Position, Raw
from eml.stream.wire import frame
from tests.unit.stream.registry.registry_server import RegistryServer, serving

NAMES = ("a", "b", "c")  # the class is in a, b says the same, c is noise
LABELS = {"type": "record", "name": "L", "fields": [{"name": name, "type": "string"} for name in ("event_id", "label")]}


def schema(*names: str, **of_field: Any) -> dict[str, Any]:
    features = [{"name": name, "type": "double", "default": 0.0, **of_field} for name in names]
    texts = [{"name": name, "type": ["null", "string"], "default": None} for name in ("label", "event_id")]
    return {"type": "record", "name": "R", "fields": [*texts, *features]}


def encoded(schema_id: int, text: dict[str, Any], fields: dict[str, Any]) -> bytes:
    out = BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(dict(text)), fields)
    return frame(schema_id, out.getvalue())


def captured(path: Path, count: int, *, late: bool = False) -> Path:
    """Records of two devices; `late`: their labels come on a topic of their own."""
    entries: list[Entry] = [Registered(0, 1, "readings-value", 1, json.dumps(schema(*NAMES)))]
    entries += [Registered(0, 2, "labels-value", 1, json.dumps(LABELS))] if late else []
    rng = np.random.default_rng(0)
    for number in range(count):
        for device in ("pump", "press"):
            y = int(rng.integers(2))
            a = 6.0 * y + rng.normal()
            label, event = str(y), str(number)
            fields = {"label": None if late else label, "event_id": event, "a": a, "b": a + 0.1 * rng.normal()}
            value = encoded(1, schema(*NAMES), {**fields, "c": rng.normal()})
            entries.append(arrived("readings", device, value, number))
            if late:
                entries.append(
                    arrived("labels", device, encoded(2, LABELS, {"event_id": event, "label": label}), number)
                )
    record_file.write(path, entries)
    return path


def arrived(topic: str, device: str, value: bytes, number: int) -> Arrived:
    place = Position(topic, int(device == "press"), number, 10**12 + 1_000 * number)
    return Arrived(0, device, Raw(value, place, {}))


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def run(new: object, *options: str, base: object = None) -> tuple[int, str]:
        (tmp_path / "new.avsc").write_text(new if isinstance(new, str) else json.dumps(new))
        (tmp_path / "old.avsc").write_text(json.dumps(base or schema(*NAMES)))
        against = [] if {"--records", "--subject"} & set(options) else ["--against", "old.avsc"]
        try:
            status = cli.main(["check", "new.avsc", *against, *options])
        except SystemExit as ended:
            status = int(str(ended.code))
        return status, "".join(capsys.readouterr())

    return run


Check = Callable[..., tuple[int, str]]


def figures(said: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said)
    return found


# -- the change --------------------------------------------------------------------------------------------------------


def test_what_vanishes_survives_comes_and_is_renamed_is_reported(check: Check):
    new = schema("b", "d")
    new["fields"].append({"name": "z", "type": "double", "aliases": ["c"], "default": 0.0})
    new["fields"].append({"name": "note", "type": "string", "default": ""})
    new["fields"].append({"name": "Label_", "type": "double", "default": 0.0})
    status, said = check(new, "--json")
    found = figures(said)
    assert status == 0
    assert found["change"] == {
        "vanished": ["a"],
        "survived": ["b", "z"],
        "augmented": ["d", "Label_"],
        "renamed": {"z": "c"},
    }
    assert [each["name"] for each in found["ignored"]] == ["note"]
    assert found["effect"] is None
    status, said = check(new)
    for part in ("vanished    a\n", "renamed     c to z", "ignored     note: string", "nothing refuses it"):
        assert part in said


def test_a_rename_without_an_alias_is_asked_about(check: Check):
    status, said = check(schema("vibration_radial"), base=schema("vibration_radials"))
    assert status == 0
    assert '"aliases": ["vibration_radials"]' in said


def test_a_retiring_mark_is_reported_and_spares_the_hint(check: Check):
    assert "retiring    a, b" in check(schema("a", "b", **{"eml.retiring": True}))[1]
    assert "register this version before" in check(schema("b"))[1]
    assert "register this version before" not in check(schema("b"), base=schema("a", "b", **{"eml.retiring": True}))[1]


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ("{", "cannot be read as JSON"),
        ({"type": "record", "name": "R", "fields": [{"name": "label", "type": "double"}]}, "record.label_field"),
        ({"type": "record", "name": "R", "fields": [{"name": "note", "type": "string"}]}, "no field is a feature"),
        ({"type": "record", "name": "R", "fields": [{"name": "x", "type": "R2"}]}, "R2"),
    ],
)
def test_what_the_job_would_refuse_is_refused_here(check: Check, new, why):
    status, said = check(new)
    assert status == 1
    assert "the job refuses the schema" in said
    assert why in said


def test_markdown_is_for_a_pull_request(check: Check):
    new = schema("b")
    new["fields"].append({"name": "note", "type": "string", "default": ""})
    status, said = check(new, "--markdown")
    assert status == 0
    assert said.startswith("### `new.avsc` against `old.avsc`\n")
    assert "| vanished | `a`, `c` |" in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--against", "nowhere.avsc"], "nowhere.avsc: cannot be read"),
        (["--max-drop", "5"], "--max-drop needs --records"),
        (["--max-drop", "many", "--records", "x"], "percentage points"),
        (["--json", "--markdown"], "not allowed with"),
        (["--set", "record.max_depth=x"], "record.max_depth"),
    ],
)
def test_a_wrong_command_line_ends_with_2(check: Check, options, why):
    status, said = check(schema("a"), *options)
    assert status == 2
    assert why in said


# -- the expected effect -----------------------------------------------------------------------------------------------


def tried(check: Check, new: object, file: Path, *options: str) -> tuple[int, dict[str, Any]]:
    status, said = check(new, "--records", str(file), "--json", *options)
    return status, figures(said)


def test_what_survivors_know_is_not_missed_and_what_they_do_not_is(check: Check, tmp_path):
    file = captured(tmp_path / "records.jsonl", 240)
    status, kept = tried(check, schema("b", "c"), file, "--max-drop", "3")
    assert status == 0
    assert kept["against"] == "readings-value version 1 of the records"
    effect = kept["effect"]
    assert (effect["models"], effect["labels"]) == (2, 160)
    assert effect["now"] > 97
    assert effect["takeovers"]["a"]["share"] > 0.9
    assert effect["takeovers"]["a"]["by"] == "b"
    assert effect["drop"]["low"] <= effect["drop"]["points"] <= effect["drop"]["high"]
    status, lost = tried(check, schema("c"), file, "--max-drop", "3")
    assert status == 1
    assert -60 < lost["effect"]["drop"]["points"] < -30
    assert "accuracy is expected to drop by" in lost["problems"][0]
    assert tried(check, schema("c"), file)[0] == 0, "without a bound it is told, and not judged"


def test_labels_of_their_own_topic_count_as_well(check: Check, tmp_path):
    file = captured(tmp_path / "records.jsonl", 90, late=True)
    _, found = tried(check, schema("b", "c"), file, "-S", "kafka.labels_topic=labels")
    assert (found["effect"]["labels"], found["effect"]["learnt"]) == (60, 120)
    assert found["effect"]["now"] > 90


def test_a_rename_costs_nothing(check: Check, tmp_path):
    file = captured(tmp_path / "records.jsonl", 90)
    new = schema("b", "c")
    new["fields"].append({"name": "z", "type": "double", "aliases": ["a"], "default": 0.0})
    effect = tried(check, new, file)[1]["effect"]
    assert effect["now"] == effect["without"] == effect["evolved"]
    assert effect["drop"]["points"] == 0


def test_where_nothing_survives_models_begin_anew(check: Check, tmp_path):
    file = captured(tmp_path / "records.jsonl", 90)
    status, said = check(schema("x"), "--records", str(file))
    assert status == 0
    assert "2 models begin anew: nothing survives" in said
    assert "What new features bring is not in these figures" in said


def test_too_few_labels_are_reported_and_do_not_pass_a_bound(check: Check, tmp_path):
    file = captured(tmp_path / "records.jsonl", 30)
    status, said = check(schema("b"), "--records", str(file))
    assert status == 0
    assert f"20 held-out labels are too few to tell ({FEWEST} at least)" in said
    status, said = check(schema("b"), "--records", str(file), "--max-drop", "50")
    assert status == 1
    assert "--max-drop cannot be judged" in said


def test_a_snapshot_alone_tells_what_survivors_know_and_no_accuracy(check: Check, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    a = 6.0 * y + rng.normal(size=60)
    learner = EvolvingMetricLearner(FeatureSpace(NAMES))
    learner.learn(np.column_stack([a, a + 0.1 * rng.normal(size=60), rng.normal(size=60)]), [str(label) for label in y])
    (tmp_path / "model.bin").write_bytes(learner.snapshot())
    status, said = check(schema("b", "c"), "--model", "model.bin")
    assert status == 0
    assert "of it known from survivors, most from b" in said
    assert "accuracy needs records" in said
    assert check(schema("b"), "--model", "nowhere.bin")[0] == 2
    (tmp_path / "model.bin").write_bytes(b"no snapshot")
    assert check(schema("b"), "--model", "model.bin")[0] == 1


def pairs(lost: int, won: int, same: int) -> tuple[Sequence[bool], Sequence[bool]]:
    return [True] * lost + [False] * won + [True] * same, [False] * lost + [True] * won + [True] * same


def test_the_interval_holds_what_it_promises():
    """Of many samples with a known difference, about 95 % of the intervals have it."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(1_000):
        lost, won, same = rng.multinomial(80, (0.15, 0.05, 0.8)).tolist()
        found = difference(*pairs(lost, won, same))
        held += found.low <= -10.0 <= found.high
    assert 930 <= held <= 980


def test_the_interval_is_honest_where_nothing_changed():
    found = difference(*pairs(0, 0, 50))
    assert found.points == 0
    assert found.low < -1 < 1 < found.high


# -- the registry ------------------------------------------------------------------------------------------------------


class Ruling(RegistryServer):
    """A registry that also says whether a schema is compatible."""

    verdict: tuple[int, Any] = 200, {"is_compatible": True}

    def reply(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if path.startswith("/compatibility/"):
            return self.verdict
        if path == "/config":
            return 200, {"compatibilityLevel": "BACKWARD"}
        return super().reply(method, path, body)


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr("tests.unit.stream.registry.registry_server.RegistryServer", Ruling)
    with serving() as server:
        server.add(7, schema(*NAMES), ("readings-value", 3))
        monkeypatch.setenv("EML_REGISTRY_URL", server.url)
        yield server


def test_the_registry_says_what_is_newest_and_whether_it_takes_the_next(check: Check, registry):
    status, said = check(schema("b"), "--subject", "readings-value", "--json")
    found = figures(said)
    assert status == 0
    assert found["against"] == "readings-value version 3 (schema 7)"
    assert found["registry"] == {"compatible": True, "messages": [], "mode": "BACKWARD"}
    registry.verdict = 200, {"is_compatible": False, "messages": ["READER_FIELD_MISSING_DEFAULT_VALUE\x1b[2J"]}
    status, said = check(schema("b"), "--subject", "readings-value")
    assert status == 1
    assert "does not take it (mode BACKWARD)" in said
    assert "READER_FIELD_MISSING_DEFAULT_VALUE\\x1b[2J" in said


def test_a_subject_that_is_not_there_has_nothing_to_be_compatible_with(check: Check, registry):
    registry.verdict = 404, {"message": "no such subject"}
    status, said = check(schema("b"), "--subject", "other-value")
    assert status == 0
    assert "there is no version yet" in said
    assert "features    b" in said


def test_a_registry_that_does_not_answer_ends_with_3_in_one_line(check: Check, monkeypatch):
    monkeypatch.setenv("EML_REGISTRY_URL", "http://127.0.0.1:9")
    status, said = check(schema("b"), "--subject", "readings-value")
    assert status == 3
    assert said.count("\n") == 1
    assert "127.0.0.1:9" in said
