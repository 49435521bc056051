"""Files of records: what is read from them, what is written, and what is said of every mistake."""

import json
from base64 import b64encode

import pytest

from eml.local import record_file
from eml.local.errors import RecordFileError
from eml.local.messages import ReadingWriter
from eml.local.record_lines import Arrived, Registered
from eml.local.schema_book import SchemaBook
from eml.settings import RecordSettings, Settings
from eml.stream.errors import BadSchemaError
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from eml.stream.wire import frame
from tests.unit.local.replay_golden import BY_HAND, RECORDS
from tests.unit.stream.avro.encoding import field, record

SCHEMA = record(field("x", "double"), field("y", ["null", "long"], default=None))
GIVEN = {"schema": SCHEMA, "id": 7}
VALUE = b64encode(frame(7, b"\0" * 9)).decode()
PLAIN = {"key": "pump", "value": VALUE}


@pytest.fixture
def read(tmp_path):
    """Writes objects or texts as lines, and reads them."""

    def read(*lines: object, **topics: str) -> list[record_file.Entry]:
        path = tmp_path / "records.jsonl"
        path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
        return record_file.read(path, **topics)

    return read


def test_what_is_left_out_has_sensible_values(read):
    schema, first, second = read("# by hand", GIVEN, "", PLAIN, PLAIN)
    assert (schema.id, schema.subject, schema.version) == (7, "readings-value", 1)
    assert json.loads(schema.text) == SCHEMA
    assert first == Arrived(4, "pump", Raw(frame(7, b"\0" * 9), Position("readings", 0, 4, 4000), {}))
    assert second.raw.position == Position("readings", 0, 5, 5000)


def test_versions_of_a_subject_go_on_where_they_are_left_out(read):
    schemas = read(GIVEN, GIVEN | {"id": 8, "version": 5}, GIVEN | {"id": 9}, GIVEN | {"id": 1, "subject": "x"}, PLAIN)
    assert [schema.version for schema in schemas[:4]] == [1, 5, 6, 1]


def test_all_that_a_record_says_is_taken(read):
    full = {"partition": 2, "offset": 12, "timestamp": 99, "headers": {"trace": "MQ=="}, "topic": "truths"}
    (entry,) = read(PLAIN | full, labels_topic="truths")
    assert entry.raw == Raw(frame(7, b"\0" * 9), Position("truths", 2, 12, 99), {"trace": b"1"})


def test_a_value_may_be_missing_as_in_kafka(read):
    (entry,) = read({"key": "pump", "value": None})
    assert entry.raw.value is None


def test_a_schema_may_be_text(read):
    assert json.loads(read(GIVEN | {"schema": json.dumps(SCHEMA)}, PLAIN)[0].text) == SCHEMA


def test_a_record_by_hand_has_the_bytes_of_a_device(read):
    schema = {"schema": schema_text("readings/v2"), "id": 300}
    _, entry = read(schema, {"key": "pump-2", "record": BY_HAND, "schema_id": 300})
    writer = ReadingWriter(2, 300)
    names = ("temperature", "vibration_x", "vibration_y", "current", "acoustic", "rpm")
    reading = _Reading([float(BY_HAND[name]) for name in names])  # type: ignore[arg-type]
    assert entry.raw.value == writer.write("pump-2", "by hand", BY_HAND["event_time"], reading)  # type: ignore[arg-type]


class _Reading:
    """As much of a reading as a writer looks at."""

    def __init__(self, values: list[float]) -> None:
        self.values, self.state, self.labelled = self, "", False
        self.tolist = lambda: values


def test_what_is_written_is_read_again(tmp_path):
    entries = record_file.read(RECORDS)
    copy = tmp_path / "copy.jsonl"
    record_file.write(copy, entries)
    again = record_file.read(copy)
    assert list(map(record_file.text_of, again)) == list(map(record_file.text_of, entries))
    assert [path.name for path in tmp_path.iterdir()] == ["copy.jsonl"]


RECORD = {"key": "pump", "record": {"x": 1.0}, "schema_id": 7}
MISTAKES = {
    "no JSON": ([PLAIN, "{"], 2, "one object on each line"),
    "no object": (["[1]"], 1, "is no object"),
    "a field nobody knows": ([PLAIN | {"ofset": 3}], 1, "did you mean 'offset'"),
    "a field of the other kind of line": ([GIVEN | {"headers": {}}], 1, "no field 'headers'"),
    "no key": ([{"value": VALUE}], 1, "'key' must be text: add it"),
    "an empty key": ([PLAIN | {"key": ""}], 1, "dead letter"),
    "no value": ([{"key": "pump"}], 1, "'value' (base64 of its bytes) or 'record'"),
    "a value and a record": ([GIVEN, PLAIN | RECORD], 2, "one of the two"),
    "a value with an id": ([PLAIN | {"schema_id": 7}], 1, "take it out"),
    "no base64": ([PLAIN | {"value": "?"}], 1, "base64"),
    "a number as value": ([PLAIN | {"value": 5}], 1, "base64"),
    "a header that is no base64": ([PLAIN | {"headers": {"trace": "?"}}], 1, "header 'trace'"),
    "headers that are no object": ([PLAIN | {"headers": ["trace"]}], 1, "'headers' must be an object"),
    "a negative offset": ([PLAIN | {"offset": -1}], 1, "'offset' must be a whole number"),
    "a truth for a number": ([PLAIN | {"partition": True}], 1, "'partition' must be a whole number"),
    "an offset twice": ([PLAIN | {"offset": 3}, PLAIN | {"offset": 3}], 2, "offsets rise"),
    "another topic": ([PLAIN | {"topic": "elsewhere"}], 1, "neither kafka.readings_topic nor kafka.labels_topic"),
    "a schema without id": ([{"schema": SCHEMA}], 1, "'id' must be a whole number, 0 or more: add it"),
    "an id too large": ([GIVEN | {"id": 2**31}], 1, "larger than any id"),
    "a schema twice": ([GIVEN, GIVEN], 2, "stands in line 1 already"),
    "a version twice": ([GIVEN, GIVEN | {"id": 8, "version": 1}], 2, "give it another"),
    "a schema's text that is no JSON": ([GIVEN | {"schema": "{"}], 1, "give it as an object"),
    "a schema behind its record": ([PLAIN, "# late", GIVEN], 3, "used in line 1 already: move"),
    "a record whose schema is not there": ([RECORD], 1, "schema 7 does not stand before"),
    "a record that does not fit": ([GIVEN, RECORD | {"record": {"x": "high"}}], 2, "does not fit schema 7"),
    "a record with a field too many": ([GIVEN, RECORD | {"record": {"x": 1.0, "z": 1}}], 2, "does not fit schema 7"),
    "a record with a field too few": ([GIVEN, RECORD | {"record": {}}], 2, "does not fit schema 7"),
    "a record that is none": ([GIVEN, RECORD | {"record": [1]}], 2, "does not fit schema 7"),
}


@pytest.mark.parametrize(("lines", "number", "advice"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_reported_with_its_line(read, lines, number, advice):
    with pytest.raises(RecordFileError) as told:
        read(*lines)
    assert f"records.jsonl, line {number}: " in str(told.value)
    assert advice in str(told.value)


def test_a_file_without_records_is_refused(read):
    with pytest.raises(RecordFileError, match="holds no record"):
        read("# nothing", GIVEN)


def test_a_file_that_cannot_be_read_or_written_is_reported(tmp_path):
    with pytest.raises(RecordFileError, match="is the path right"):
        record_file.read(tmp_path / "none.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b"\xff")
    with pytest.raises(RecordFileError, match="is not UTF-8"):
        record_file.read(tmp_path / "latin.jsonl")
    with pytest.raises(RecordFileError, match="cannot be written"):
        record_file.write(tmp_path / "no folder" / "x.jsonl", [])


def book(*schemas: Registered) -> SchemaBook:
    made = SchemaBook(Settings(record=RecordSettings(subjects=("a", "b"))))
    for schema in schemas:
        made.add(schema)
    return made


def test_the_newest_version_is_the_highest_not_the_last():
    text = json.dumps(SCHEMA)
    known = book(Registered(1, 7, "a", 2, text), Registered(2, 9, "a", 1, text), Registered(3, 8, "b", 1, text))
    newest = known.newest("a")
    assert newest is not None
    assert newest.id == 7
    assert known.newest("c") is None


def test_a_schema_without_features_is_no_announcement():
    assert book(Registered(1, 7, "a", 1, json.dumps(record(field("note", "string"))))).newest("a") is None


def test_a_schema_without_use_makes_dead_letters_and_no_announcement():
    known = book(Registered(1, 7, "a", 1, json.dumps({"type": "array", "items": "int"})))
    assert known.newest("a") is None
    with pytest.raises(BadSchemaError, match="schema 7") as error:
        known.look_up(7)
    assert error.value.reason == "unsupported-schema"
    with pytest.raises(BadSchemaError) as error:
        known.look_up(8)
    assert error.value.reason == "unknown-schema"
