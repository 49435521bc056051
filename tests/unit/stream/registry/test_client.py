"""The client of the registry, against a server on loopback: what it asks and remembers."""

import traceback
from dataclasses import replace

import pytest

from eml.settings import KafkaSettings, Settings
from eml.stream.errors import (
    BadSchemaError,
    IncompatibleSchemaError,
    RegistryUnavailableError,
    SchemaNotYetKnownError,
)
from eml.stream.registry.schema_cache import SchemaCache
from eml.stream.registry.subjects import Subjects
from tests.unit.stream.avro.encoding import field, record
from tests.unit.stream.registry.asking import NOWHERE, RECORD, SCHEMA, refused, unavailable


def test_a_schema_is_looked_up_once(server, connect):
    client = connect()
    schema = client.reading_schema(7)
    assert (schema.id, schema.subject, schema.version, schema.space.names) == (7, "readings-value", 3, ("x",))
    assert client.reading_schema(7) is schema
    assert server.asked == ["/schemas/ids/7", "/schemas/ids/7/versions"]


def test_one_connection_serves_all_look_ups(server, connect):
    client = connect()
    for schema_id in range(10):
        server.add(schema_id, SCHEMA, ("s", 1))
        client.reading_schema(schema_id)
    assert server.connections == 1


def test_a_path_in_the_url_is_kept(server, connect):
    server.trouble = lambda handler: (200, []) if handler.path == "/apis/ccompat/v7/subjects" else (500, "")
    connect(url=f"{server.url}/apis/ccompat/v7/").check()


@pytest.mark.parametrize(("topic", "want"), [("b", ("b-value", 4)), ("z", ("a-value", 1)), ("", ("a-value", 1))])
def test_of_several_subjects_the_topic_s_own_is_taken_and_its_newest_version(server, connect, topic, want):
    server.add(8, SCHEMA, ("a-value", 1), ("b-value", 2), ("b-value", 4))
    subjects = Subjects.of(Settings(kafka=KafkaSettings(readings_topic=topic))) if topic else None
    schema = connect(subjects=subjects).reading_schema(8)
    assert (schema.subject, schema.version) == want


@pytest.mark.parametrize("reply", [(404, {"error_code": 40403}), (404, b"<html>"), (200, [])])
def test_a_registry_that_names_no_subject_gives_version_0(server, connect, reply):
    server.trouble = lambda handler: reply if handler.path.endswith("/versions") else None
    schema = connect().reading_schema(7)
    assert (schema.subject, schema.version) == ("", 0)


@pytest.mark.parametrize("reply", [(404, {"error_code": 40403, "message": "no"}), (404, b"not found"), (404, b"")])
def test_an_unknown_id_is_a_bad_record_and_remembered_for_a_while(server, connect, clock, reply):
    server.trouble = lambda handler: reply if handler.path == "/schemas/ids/9" else None
    client = connect(unknown_id_ttl_ms=60_000)
    for _ in range(3):
        error = refused(client.reading_schema, 9)
        assert error.reason == "unknown-schema"
        assert "9" in str(error)
    assert server.asked == ["/schemas/ids/9"]
    clock.now += 61
    server.trouble = lambda _: None
    server.add(9, SCHEMA, ("readings-value", 4))
    assert client.reading_schema(9).version == 4


def test_unknown_ids_are_remembered_up_to_a_bound(server, connect):
    client = connect(unknown_ids=3, lookups_per_second=100.0)
    for schema_id in (11, 12, 13, 14, 14, 13, 12):
        refused(client.reading_schema, schema_id)
    assert len(server.asked) == 4
    for schema_id in (11, 12, 13):  # 11 had to give way to 14, and each of these to the one before it
        refused(client.reading_schema, schema_id)
    assert len(server.asked) == 7


def test_the_cache_keeps_what_was_used_last(server, connect):
    cache = SchemaCache(2)
    client = connect(cache=cache)
    for schema_id in (1, 2, 3):
        server.add(schema_id, SCHEMA, ("s", schema_id))
    for schema_id in (1, 2, 1, 3, 1):
        client.reading_schema(schema_id)
    assert len(server.asked) == 6
    client.reading_schema(2)  # had to give way to 3
    assert len(server.asked) == 8
    assert len(cache.readings) == 2


def test_a_bad_schema_is_remembered_and_refused_again(server, connect):
    server.add(8, record(field("x", "double"), field("x", "double")), ("s", 1))
    client = connect()
    first = refused(client.reading_schema, 8)
    asked = list(server.asked)
    second = refused(client.reading_schema, 8)
    assert server.asked == asked
    assert (second.reason, str(second)) == (first.reason, str(first)) == ("unsupported-schema", str(first))
    assert "schema 8" in str(first)
    assert len(traceback.extract_tb(second.__traceback__)) < 5  # does not grow from record to record


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"schemaType": "PROTOBUF"}, "Avro"),
        ({"schemaType": "JSON"}, "Avro"),
        ({"schemaType": ["AVRO"]}, "Avro"),
        ({"references": [{"name": "n", "subject": "s", "version": 1}]}, "write their types into it"),
    ],
)
def test_schemas_that_are_not_avro_or_do_not_stand_alone_are_refused(server, connect, more, words):
    server.add(8, SCHEMA, ("s", 1), **more)
    assert words in str(refused(connect().reading_schema, 8))


def test_avro_said_aloud_and_empty_references_are_fine(server, connect):
    server.add(8, SCHEMA, ("s", 1), schemaType="AVRO", references=[])
    assert connect().reading_schema(8).id == 8


def test_a_hostile_schema_is_refused_and_not_downloaded_to_its_end(server, connect):
    server.add(8, "[" * 1_000_000, ("s", 1))
    server.add(9, " " * 5_000_000, ("s", 1))
    client = connect()
    assert refused(client.reading_schema, 8).reason == "unsupported-schema"
    assert "max_schema_bytes" in str(refused(client.reading_schema, 9))
    assert client.reading_schema(7).id == 7


def test_a_schema_full_of_quotes_is_not_too_long(server, connect):
    settings = replace(RECORD, max_schema_bytes=200_000)
    server.add(8, record(field("x", "double", doc='"' * 90_000)), ("s", 1))
    assert connect(settings).reading_schema(8).id == 8


def test_the_schema_of_a_key_is_looked_up_once_whatever_its_subject(server, connect):
    server.add(8, '"string"')
    client = connect()
    read = client.key_schema(8)
    assert read(b"\x08pump") == "pump"
    server.trouble = lambda _: (503, b"")
    assert client.key_schema(8) is read
    assert server.asked == ["/schemas/ids/8"]


def test_an_id_may_be_that_of_a_key_and_of_a_reading(server, connect):
    server.add(8, record(field("number", "int")), ("readings-value", 4))
    client = connect()
    assert client.key_schema(8)(b"\x0e") == "7"
    assert client.reading_schema(8).space.names == ("number",)
    assert client.key_schema(8)(b"\x0e") == "7"


@pytest.mark.parametrize(
    "answer", [{"schema": '"bytes"'}, {"schema": "{"}, {"schema": "syntax", "schemaType": "PROTOBUF"}]
)
def test_a_schema_that_no_key_can_have_is_refused_and_remembered(server, connect, answer):
    server.trouble = lambda handler: (200, answer) if handler.path == "/schemas/ids/8" else None
    client = connect()
    for _ in range(2):
        error = refused(client.key_schema, 8)
        assert error.reason == "bad-key"
        assert "schema 8" in str(error)
    assert server.asked == ["/schemas/ids/8"]


def test_keys_share_patience_backoff_and_unknown_ids_with_readings(server, connect, clock):
    client = connect(unknown_id_patience_ms=10_000)
    error = unavailable(client.key_schema, 8)
    assert isinstance(error, SchemaNotYetKnownError)
    clock.now += error.retry_after_ms / 1000
    server.trouble = lambda _: (503, b"")
    unavailable(client.key_schema, 9)
    asked = len(server.asked)
    unavailable(client.reading_schema, 7)
    assert len(server.asked) == asked, "the backoff is the registry's, not a kind of schema's"
    server.trouble = lambda _: None
    clock.now += 60
    assert refused(client.key_schema, 8).reason == "unknown-schema"
    asked = len(server.asked)
    assert refused(client.reading_schema, 8).reason == "unknown-schema"
    assert len(server.asked) == asked


def test_a_registry_is_there_or_not(server, connect):
    connect().check()
    for reply in ((404, b""), (200, {"no": "list"}), (200, b"<html>")):
        server.trouble = lambda _, reply=reply: reply
        assert server.url in str(unavailable(connect().check))
    assert NOWHERE in str(unavailable(connect(url=NOWHERE).check))


def test_schemas_are_registered_under_any_subject(connect):
    client = connect()
    subject = "a/b c?d#e%ü"
    schema_id = client.register(subject, '{"type": "record"}')
    assert client.latest_version(subject) == (schema_id, 1)
    assert client.latest_version("readings-value") == (7, 3)
    assert client.latest_version("nobody") is None


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        ((409, {"error_code": 409, "message": "reader lacks x"}), IncompatibleSchemaError, "reader lacks x"),
        ((422, {"error_code": 42201, "message": "no Avro"}), BadSchemaError, "no Avro"),
        ((500, b""), RegistryUnavailableError, "500"),
        ((404, b""), RegistryUnavailableError, "404"),
        ((200, {"no": "id"}), RegistryUnavailableError, "id"),
    ],
)
def test_a_schema_that_is_not_registered_is_an_error_that_says_why(server, connect, reply, error, words):
    server.trouble = lambda _: reply
    with pytest.raises(error, match=words):
        connect().register("readings-value", "{}")
