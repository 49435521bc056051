"""`eml capture` without a broker: what is taken from Kafka's records, in which order, with which schemas."""

import argparse
import json
import uuid
from collections.abc import Iterator

import pytest

from eml import cli
from eml.local import capture, record_file, topic_reader
from eml.local.capture_command import time_ms
from eml.local.errors import CaptureError
from eml.local.record_lines import Arrived, Registered
from eml.local.registered import RegisteredSchemas
from eml.local.topic_reader import Wanted
from eml.settings import RegistrySettings, Settings
from eml.stream.records import Position, Raw
from eml.stream.wire import VALUE_SCHEMA, frame
from eml.watch import lines
from tests.unit.local.kafka_fakes import KAFKA, VALUE, FakeConsumer, FakeMessage
from tests.unit.stream.avro.encoding import field, record
from tests.unit.stream.registry.registry_server import RegistryServer, serving

SCHEMA = record(field("x", "double"))
GUID = "0b7a4b56-6f0e-4d5c-9a3e-1f2d3c4b5a69"


def arrived(partition: int, offset: int, timestamp_ms: int, value: bytes | None = VALUE, key: str = "pump") -> Arrived:
    return Arrived(0, key, Raw(value, Position("readings", partition, offset, timestamp_ms), {}))


# -- order and schemas -------------------------------------------------------------------------------------------------


def test_partitions_are_merged_by_time_and_each_keeps_its_order():
    one = [arrived(0, 0, 10), arrived(0, 1, 40), arrived(0, 2, 30)]  # a device's clock went back
    other = [arrived(1, 0, 20), arrived(1, 1, 40)]
    places = [(a.raw.position.partition, a.raw.position.offset) for a in capture.in_time([one, other])]
    assert places == [(0, 0), (1, 0), (0, 1), (0, 2), (1, 1)]


class Asked:
    """Schemas 7 and 8; counts what is asked."""

    def __init__(self) -> None:
        self.ids: list[int | str] = []

    def schema(self, name: int | str) -> Registered | None:
        self.ids.append(name)
        schema_id = 8 if name == GUID else int(name)
        return Registered(0, schema_id, "readings-value", schema_id - 6, "{}") if schema_id in (7, 8) else None


def test_a_schema_stands_before_its_first_record_and_is_asked_for_once():
    asked, values = Asked(), [VALUE, VALUE, frame(8, b""), frame(9, b""), frame(9, b""), None, b"hello", VALUE]
    records = [arrived(0, offset, 0, value) for offset, value in enumerate(values)]
    entries = list(capture.with_schemas(records, asked))
    assert [entry.id if isinstance(entry, Registered) else "record" for entry in entries] == (
        [7, "record", "record", 8] + 6 * ["record"]
    )
    assert asked.ids == [7, 8, 9]


def test_a_schema_that_records_name_in_two_ways_stands_once_with_both_names():
    headers = {VALUE_SCHEMA: b"\x01" + uuid.UUID(GUID).bytes}
    bare = Arrived(0, "pump", Raw(b"bare", Position("readings", 0, 1, 0), headers))
    found = list(capture.with_schemas([arrived(0, 0, 0, frame(8, b"")), bare], Asked()))
    assert [(one.id, one.guid) for one in found if isinstance(one, Registered)] == [(8, GUID)]
    assert found[1:] == [arrived(0, 0, 0, frame(8, b"")), bare]


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    with serving() as server:
        server.add(7, SCHEMA, ("other", 5), ("readings-value", 1), ("readings-value", 3))
        server.add(8, "syntax = 'proto3'", ("readings-value", 2), schemaType="PROTOBUF")
        yield server


def test_schemas_come_with_the_place_that_the_job_takes(registry):
    schemas = RegisteredSchemas(Settings(registry=RegistrySettings(url=registry.url)))
    found = schemas.schema(7)
    assert found == Registered(0, 7, "readings-value", 3, json.dumps(SCHEMA))
    assert schemas.schema(8) is None
    assert schemas.schema(99) is None
    for schema_id, schema in ((10, record(field("x", "double"), name="Other")), (11, {"type": "string"})):
        registry.add(schema_id, schema, ("a", 2), ("b", 9))
        placed = schemas.schema(schema_id)
        assert placed is not None
        assert (placed.subject, placed.version) == ("a", 2)
    schemas.close()


def test_a_registry_that_does_not_answer_is_reported(registry):
    registry.trouble = lambda _: (503, {})
    schemas = RegisteredSchemas(Settings(registry=RegistrySettings(url=registry.url)))
    with pytest.raises(CaptureError, match=r"registry\.url"):
        schemas.schema(7)
    registry.trouble = lambda _: (418, {})
    with pytest.raises(CaptureError, match="418"):
        schemas.schema(7)
    schemas.close()


# -- the whole ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def settings(registry, monkeypatch) -> Settings:
    messages = [FakeMessage(0, 0), FakeMessage(0, 1, None), FakeMessage(1, 0, b"press"), FakeMessage(0, 2)]
    monkeypatch.setattr(topic_reader, "Consumer", lambda _: FakeConsumer({0: (0, 3), 1: (0, 1)}, messages))
    return Settings(kafka=KAFKA, registry=RegistrySettings(url=registry.url))


def test_what_is_captured_can_be_replayed(settings, tmp_path):
    file = tmp_path / "records.jsonl"
    captured = capture.capture(settings, file)
    assert captured == capture.Captured({"pump": 2, "press": 1}, 1, 1)
    schema, *records = record_file.read(file)
    assert isinstance(schema, Registered)
    assert (schema.id, schema.subject, schema.version) == (7, "readings-value", 3)
    assert [record.key for record in records if isinstance(record, Arrived)] == ["pump", "press", "pump"]


def test_the_limit_takes_the_oldest(settings, tmp_path):
    captured = capture.capture(settings, tmp_path / "records.jsonl", Wanted(most=2))
    assert captured.records == {"pump": 1, "press": 1}


def test_nothing_to_capture_is_reported_and_writes_nothing(settings, tmp_path):
    with pytest.raises(CaptureError, match="no record of key valve in readings"):
        capture.capture(settings, tmp_path / "records.jsonl", Wanted(frozenset(["valve"])))
    assert not list(tmp_path.iterdir())


def test_the_command_says_what_it_wrote(settings, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("eml.settings.load", lambda *_, **__: settings)
    file = tmp_path / "records.jsonl"
    assert cli.main(["capture", str(file)]) == 0
    out, err = capsys.readouterr()
    assert out == f"{file}: 3 records of 2 keys, 1 schemas\n"
    assert "Left out: 1 records" in err
    assert cli.main(["capture", str(file), "--key", "valve"]) == 1
    assert "no record of key valve" in capsys.readouterr().err


def test_times_are_those_of_kafka_with_both_ends(settings, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("eml.settings.load", lambda *_, **__: settings)
    file = tmp_path / "records.jsonl"  # the fleet's records are of 100 to 102 ms after 1970 began
    assert cli.main(["capture", str(file), "--from", "1970-01-01T00:00:00.101Z", "--to=102"]) == 0
    assert "1 records of 1 keys" in capsys.readouterr().out
    assert cli.main(["capture", str(file), "--from=2026-01-01"]) == 1
    assert "no record of that time in readings: look at --from, --to and" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1763270000123", 1_763_270_000_123),
        ("2025-11-16T05:13:20.123Z", 1_763_270_000_123),
        ("2025-11-16T05:13:20.123", 1_763_270_000_123),
        ("2025-11-16T06:13:20.123+01:00", 1_763_270_000_123),
    ],
)
def test_a_moment_is_written_as_iso_8601_or_in_milliseconds(text, found):
    assert time_ms(text) == found
    assert time_ms(lines.utc(found)) == found


@pytest.mark.parametrize("text", ["yesterday", "", "5 o'clock", "9" * 20])
def test_what_is_no_moment_is_reported(text):
    with pytest.raises(argparse.ArgumentTypeError, match="a time is written"):
        time_ms(text)
