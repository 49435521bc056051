"""A replay: what it says of the golden records, in which order, and that the cut changes nothing."""

import json
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest

from eml import cli
from eml.local import record_file
from eml.local.record_lines import Arrived, Entry, Registered
from eml.local.replay import Replay
from eml.local.replay_output import summary
from eml.local.schema_book import SchemaBook
from eml.settings import KafkaSettings
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.output.dead_letters import DeadLetter
from eml.stream.output.events import EvolutionEvent
from eml.stream.output.predictions import Prediction
from eml.stream.output.schemas import schema_text
from eml.stream.output.scores import Score
from eml.stream.wire import frame
from tests.unit.local.replay_golden import EXPECTED, KEYS, RECORDS, SETTINGS, said
from tests.unit.stream.avro.encoding import field, record


def golden() -> list[Entry]:
    return record_file.read(RECORDS)


def same(got: Any, want: Any) -> bool:
    """Equal, floats nearly so: their last bits are the machine's."""
    if isinstance(want, float):
        return isinstance(got, float) and got == pytest.approx(want, rel=1e-6, abs=1e-6)
    if isinstance(want, dict):
        return isinstance(got, dict) and got.keys() == want.keys() and all(same(got[name], want[name]) for name in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    return bool(got == want)


def test_the_golden_records_still_say_the_same():
    expected = [json.loads(line) for line in EXPECTED.read_text(encoding="utf-8").splitlines()]
    got = said()
    assert [list(each) for each in got] == [list(each) for each in expected]
    for each, want in zip(got, expected, strict=True):
        assert same(each, want), (each, want)


@pytest.mark.parametrize("cut", [2, 7, 1000])
def test_the_cut_changes_nothing(cut):
    assert said(cut) == said()


def test_everything_is_said_in_the_order_of_the_records():
    places = [(e.raw.position.partition, e.raw.position.offset) for e in golden() if isinstance(e, Arrived)]
    fields = [next(iter(each.values())) for each in said(cut=5)]
    told = [place for place, _ in groupby((each["source_partition"], each["source_offset"]) for each in fields)]
    assert told == places


def test_an_evolution_is_reported_before_the_first_prediction_under_it():
    kinds = [(kind, fields) for each in said() for kind, fields in each.items() if fields["key"] == KEYS[0]]
    at = next(i for i, (kind, fields) in enumerate(kinds) if kind == "evolution" and fields["kind"] == "evolution")
    assert kinds[at - 1][0] == "dead_letter"
    assert kinds[at + 1][0] == "prediction"
    assert kinds[at + 1][1]["source_offset"] == kinds[at][1]["source_offset"]


def test_a_key_alone_says_what_it_says_among_others():
    alone = [entry for entry in golden() if isinstance(entry, Registered) or entry.key == KEYS[1]]
    among = [each for each in Replay(SETTINGS).run(golden()) if each.key == KEYS[1]]
    assert list(Replay(SETTINGS).run(alone)) == among


def test_it_is_the_logic_of_the_job():
    first, second = (entry for entry in golden() if isinstance(entry, Registered))
    arrived = [entry for entry in golden() if isinstance(entry, Arrived) and entry.key == KEYS[1]]
    switch = next(i for i, entry in enumerate(arrived) if (entry.raw.value or b"")[:5] == frame(second.id, b""))
    unannounced: list[Entry] = [first, *arrived[:switch], second, *arrived[switch:]]
    book = SchemaBook(SETTINGS)
    book.add(first)
    book.add(second)
    results = KeyModel(KeyName(KEYS[1]), SETTINGS).step([entry.raw for entry in arrived], book.look_up)
    told = [said.what for said in Replay(SETTINGS).run(unannounced)]
    assert [what for what in told if isinstance(what, Prediction)] == results.predictions
    assert [what for what in told if isinstance(what, EvolutionEvent)] == results.evolutions


def test_a_schema_is_known_only_from_its_line_on():
    schema, *others = golden()
    first = next(entry for entry in others if isinstance(entry, Arrived))
    assert [type(said.what) for said in Replay(SETTINGS).run([first, schema])] == [DeadLetter]
    assert [type(said.what) for said in Replay(SETTINGS).run([schema, first])] == [Prediction, Score]


def test_the_summary_counts_what_was_said():
    replay = Replay(SETTINGS)
    everything = list(replay.run(golden()))
    assert len(everything) >= sum(figures.records for figures in replay.figures.values())
    head, *rows = [line.split() for line in summary(replay.figures).splitlines()]
    assert [row[0] for row in rows] == list(KEYS)
    counts = [sum(isinstance(entry, Arrived) and entry.key == key for entry in golden()) for key in KEYS]
    assert [int(row[1]) for row in rows] == counts
    assert [int(row[2]) for row in rows] == [counts[0] - 3, counts[1]], "all but the bad ones"
    assert [row[-2:] for row in rows] == [["1", "3"], ["1", "0"]]
    assert head[0] == "key"
    for row, figures in zip(rows, replay.figures.values(), strict=True):
        assert float(row[4]) == pytest.approx(figures.right / figures.scored, abs=1e-3)


def test_without_a_label_there_is_no_accuracy():
    replay = Replay(SETTINGS)
    list(replay.run(golden()[:2]))
    assert summary(replay.figures).splitlines()[1].split() == [KEYS[0], "1", "1", "0", "-", "0", "0"]


def test_labels_may_come_on_a_topic_of_their_own(tmp_path):
    lines: list[dict[str, Any]] = [
        {"schema": record(field("event_id", "int"), field("x", "double")), "id": 7},
        {"schema": schema_text("label"), "id": 8, "subject": "labels-value"},
    ]
    for number in range(40):
        label = {"key": "pump", "event_id": str(number), "label": "high" if number % 2 else "low"}
        lines.append({"key": "pump", "record": {"event_id": number, "x": 5.0 * (number % 2)}, "schema_id": 7})
        lines.append({"key": "pump", "record": label, "schema_id": 8, "topic": "labels"})
    file = tmp_path / "records.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    replay = Replay(replace(SETTINGS, kafka=KafkaSettings(labels_topic="labels")), cut=6)
    said = [each.what for each in replay.run(record_file.read(file, labels_topic="labels"))]
    figures = replay.figures["pump"]
    assert (figures.records, figures.predictions, figures.dead_letters) == (80, 40, 0)
    assert figures.scored == 39, "all but the one before the first label was learnt"
    assert figures.right == 38, "the second one's class was not known by then"
    assert [what.truth for what in said if isinstance(what, Prediction)] == [None] * 40


def test_readings_with_an_enum_are_replayed_from_a_file_written_by_hand(tmp_path, capsys):
    enum = {"type": "enum", "name": "Mode", "symbols": ["off", "on"]}
    fields = [{"name": "label", "type": ["null", "string"]}, {"name": "x", "type": "double"}]
    first = {"type": "record", "name": "R", "fields": [*fields, {"name": "mode", "type": ["null", enum]}]}
    more = {**enum, "symbols": ["fail", "on", "off"]}
    second = {"type": "record", "name": "R", "fields": [*fields, {"name": "mode", "type": more}]}
    zone = {"name": "zone", "type": "string", "eml.category": True}
    third = {"type": "record", "name": "R", "fields": [*second["fields"], zone]}
    lines: list[dict[str, object]] = []
    for number, schema in enumerate((first, second, third), start=1):
        lines.append({"schema": schema, "id": number, "subject": "readings-value", "version": number})
        for row in range(40):
            said = {"label": ("good", "bad")[row % 2], "x": float(row % 7), "mode": ("off", "on")[row % 2]}
            values = {**said, "zone": f"z{row % 3}"} if number == 3 else said
            lines.append({"key": "pump", "record": values, "schema_id": number, "topic": "readings"})
    file = tmp_path / "records.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert cli.main(["replay", str(file)]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    answers = [each["prediction"] for each in told if "prediction" in each]
    assert [each["label"] == each["truth"] for each in answers[20:]].count(False) == 0
    (event,) = [each["evolution"] for each in told if each.get("evolution", {}).get("kind") == "evolution"]
    assert (event["augmented"], event["categories"]) == (["zone"], ["mode", "zone"])
