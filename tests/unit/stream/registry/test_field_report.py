"""What is told of the readings' fields at the start: one line per subject, with names and reasons."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from eml.settings import KafkaSettings, RecordSettings, RegistrySettings, Settings
from eml.stream.registry.field_report import SUBJECTS, log_fields
from tests.unit.stream.avro.encoding import EVENT_ID, KEY, LABEL, field, record
from tests.unit.stream.registry.registry_server import RegistryServer, serving

MODE = field("mode", {"type": "enum", "name": "Mode", "symbols": ["off", "on"]})
SCHEMA = record(KEY, EVENT_ID, LABEL, field("temp", "double"), MODE, field("note", "string"), field("raw", "bytes"))


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with serving() as server:
        yield server


def reported(server: RegistryServer, caplog: pytest.LogCaptureFixture, **record_settings: Any) -> list[str]:
    registry = RegistrySettings(url=server.url, timeout_ms=5_000)
    caplog.clear()
    with caplog.at_level(logging.INFO):
        log_fields(Settings(KafkaSettings(), registry, RecordSettings(**record_settings)))
    return [each.getMessage() for each in caplog.records if each.name.startswith("eml.")]


def test_every_field_is_reported_by_name_with_the_reason(server, caplog):
    server.add(7, SCHEMA, ("readings-value", 1))
    server.add(8, record(*SCHEMA["fields"], field("more", "int")), ("readings-value", 2))
    (line,) = reported(server, caplog)
    assert line == (
        "readings of readings-value, version 2 (schema 8): features: temp, more; categories: mode; "
        "reserved: sensor_id, event_id, label; ignored: note (string: a category if it is declared as one "
        '("eml.category": true on the field, or record.categories)), raw (bytes: no number, boolean or category)'
    )


def test_the_settings_count_and_a_name_that_no_schema_has_is_a_warning(server, caplog):
    server.add(7, SCHEMA, ("readings-value", 1))
    line, warning = reported(server, caplog, categories=("note", "nothing"))
    assert "categories: mode, note;" in line
    assert warning == "record.categories: no newest schema of readings has nothing"


def test_other_subjects_of_the_topic_are_reported_and_those_of_other_topics_are_not(server, caplog):
    server.add(7, {**SCHEMA, "namespace": "plant"}, ("readings-plant.Reading", 4))
    server.add(8, SCHEMA, ("readings-eu-value", 1))
    server.add(9, SCHEMA, ("predictions-value", 1))
    (line,) = reported(server, caplog)
    assert line.startswith("readings of readings-plant.Reading, version 4 (schema 7): ")
    (listed,) = reported(server, caplog, subjects=("readings-eu-value",))
    assert listed.startswith("readings of readings-eu-value, version 1 (schema 8): ")


def test_what_looks_like_a_mistake_is_a_warning(server, caplog):
    server.add(7, record(field("Label", "string"), field("x", "double")), ("readings-value", 1))
    _, warning = reported(server, caplog)
    assert "did you mean record.label_field = 'Label'?" in warning


@pytest.mark.parametrize("schema", ["{", record(field("note", "string"))])
def test_a_schema_that_cannot_be_used_is_reported(server, caplog, schema):
    server.add(7, schema if isinstance(schema, str) else json.dumps(schema), ("readings-value", 1))
    first, *_ = reported(server, caplog)
    assert first.startswith("the newest schema of readings-value cannot be one of readings: ")


def test_an_empty_registry_and_one_in_trouble_keep_no_job_from_starting(server, caplog):
    (line,) = reported(server, caplog)
    assert "no schema of readings is registered yet" in line
    server.add(7, SCHEMA, ("readings-value", 1))
    for status in (500, 403):
        server.trouble = lambda handler, status=status: (status, {}) if "latest" in handler.path else None
        warning = reported(server, caplog)[-1]
        assert warning.startswith("which fields are features is told when their first record comes: ")


def test_a_registry_full_of_subjects_is_not_asked_for_all(server, caplog):
    for number in range(3 * SUBJECTS):
        server.add(number, SCHEMA, (f"readings-{number}", 1))
    reported(server, caplog)
    assert len(server.asked) == 1 + SUBJECTS


def test_a_schema_with_many_fields_makes_no_endless_line(server, caplog):
    fields = [field(f"a_feature_with_a_long_name_{n}", "double") for n in range(2_000)]
    server.add(7, record(*fields), ("readings-value", 1))
    (line,) = reported(server, caplog)
    assert "and 1968 more" in line
    assert len(line) < 3_000
