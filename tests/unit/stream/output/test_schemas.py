"""The schemas under schemas/: read by every library, evolving as the fleet does, and never leaving a reader behind."""

import json
from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import avro.compatibility
import avro.schema
import fastavro
import pytest

from eml.core import FeatureSpace
from eml.local.fleet import VERSIONS
from eml.settings import RecordSettings
from eml.stream.avro.reading_schema import compile_schema
from eml.stream.output.schemas import schema_text
from eml.stream.wire import HEADER_SIZE, SchemaId
from tests.unit.stream.output.examples import SCHEMAS, WRITTEN, golden_record, golden_schema

NAMES = sorted(str(path.relative_to(SCHEMAS).with_suffix("")) for path in SCHEMAS.rglob("*.avsc"))
READINGS = ("readings/v1", "readings/v2", "readings/v3")
OURS = ("prediction", "score", "evolution")
RECORD = RecordSettings()
RESERVED = {RECORD.key_field, RECORD.event_id_field, RECORD.event_time_field, RECORD.label_field}


def schema(name: str) -> dict[str, Any]:
    return dict(json.loads(schema_text(name)))


def fields_of(part: object) -> Iterator[dict[str, Any]]:
    """Every field, also of records inside."""
    if isinstance(part, dict):
        yield from part.get("fields", [])
        for inner in part.values():
            yield from fields_of(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from fields_of(inner)


def space(name: str) -> FeatureSpace:
    return compile_schema(schema_text(name), SchemaId(1), "readings-value", 1, RECORD).space


def can_read(reader: str, writer: str) -> bool:
    checker = avro.compatibility.ReaderWriterCompatibilityChecker()
    result = checker.get_compatibility(avro.schema.parse(reader), avro.schema.parse(writer))
    return result.compatibility is avro.compatibility.SchemaCompatibilityType.compatible


def resolved(data: bytes, writer: object, reader: object) -> Any:
    """A payload as a reader with a schema of its own sees it."""
    return fastavro.schemaless_reader(
        BytesIO(data),
        fastavro.parse_schema(without("logicalType", writer)),
        fastavro.parse_schema(without("logicalType", reader)),
    )


def without(key: str, part: Any) -> Any:
    """A schema without a property, wherever it stands."""
    if isinstance(part, dict):
        return {name: without(key, value) for name, value in part.items() if name != key}
    return [without(key, value) for value in part] if isinstance(part, list) else part


def test_all_schemas_are_there():
    assert sorted((*READINGS, *OURS, "label")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_both_avro_libraries_read_it(name):
    assert fastavro.parse_schema(schema(name))
    assert avro.schema.parse(schema_text(name)).type == "record"


@pytest.mark.parametrize("name", NAMES)
def test_every_record_and_field_says_what_it_is(name):
    assert schema(name)["doc"]
    assert all(field.get("doc") for field in fields_of(schema(name)))


@pytest.mark.parametrize("name", READINGS)
def test_a_reading_has_the_reserved_fields_and_doubles_with_units(name):
    by_name = {field["name"]: field for field in schema(name)["fields"]}
    assert by_name.keys() >= RESERVED
    assert all(by_name[feature]["type"] == "double" and by_name[feature]["unit"] for feature in space(name).names)


def test_the_readings_evolve_as_the_fleet_does():
    assert tuple(space(name) for name in READINGS) == VERSIONS
    first, second = (old.diff(new) for old, new in pairwise(map(space, READINGS)))
    assert (first.vanished, first.augmented, first.renamed) == (("oil_pressure",), ("acoustic",), {})
    assert (second.vanished, second.augmented) == (("vibration_y", "current"), ("coolant_flow",))
    assert second.renamed == {"vibration_radial": "vibration_x"}


@pytest.mark.parametrize(("old", "new"), [("v1", "v2"), ("v2", "v3"), ("v1", "v3")])
def test_a_newer_reading_schema_reads_older_readings(old, new):
    writer, reader = schema(f"readings/{old}"), schema(f"readings/{new}")
    assert can_read(json.dumps(reader), json.dumps(writer))
    reading: dict[str, object] = {field["name"]: 1.5 for field in writer["fields"]}
    reading |= {"sensor_id": "press-7", "event_id": "a", "event_time": 0, "label": None}
    data = BytesIO()
    fastavro.schemaless_writer(data, writer, reading)
    seen = resolved(data.getvalue(), writer, reader)
    change = space(f"readings/{old}").diff(space(f"readings/{new}"))
    assert {seen[name] for name in change.survived} == {1.5}
    assert {seen[name] for name in change.augmented} == {0.0}


@pytest.mark.parametrize("name", OURS)
def test_a_first_reader_reads_what_is_written_now(name):
    framed, read = WRITTEN[name]
    golden = json.loads(golden_record(name).read_text())["fields"]
    seen = resolved(framed[HEADER_SIZE:], schema(name), json.loads(golden_schema(name).read_text()))
    assert seen == golden
    assert {field: read(framed)[field] for field in golden} == golden


@pytest.mark.parametrize("name", OURS)
def test_a_reader_of_now_reads_what_was_written_first(name):
    golden = json.loads(golden_record(name).read_text())
    data = bytes.fromhex(golden["framed"])[HEADER_SIZE:]
    seen = resolved(data, json.loads(golden_schema(name).read_text()), schema(name))
    assert {field: seen[field] for field in golden["fields"]} == golden["fields"]


@pytest.mark.parametrize("name", OURS)
def test_our_schemas_only_grow_and_only_by_fields_with_defaults(name):
    first, now = json.loads(golden_schema(name).read_text()), schema(name)
    assert (now["name"], now["namespace"]) == (first["name"], first["namespace"])
    types = {field["name"]: without("doc", field["type"]) for field in now["fields"]}
    for field in first["fields"]:
        assert types.pop(field["name"]) == without("doc", field["type"])
    assert all("default" in field for field in now["fields"] if field["name"] in types)
    assert can_read(json.dumps(now), json.dumps(first))
    assert can_read(json.dumps(first), json.dumps(now))


def test_the_readme_names_every_schema_and_header():
    readme = (Path(SCHEMAS) / "README.md").read_text()
    assert all(name in readme for name in ("readings/v1.avsc", *(f"{name}.avsc" for name in (*OURS, "label"))))
    assert all(header in readme for header in ("__connect.errors.topic", "eml.errors.reason", "eml.errors.schema.id"))
