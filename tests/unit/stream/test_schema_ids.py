"""Schemas named in other ways than by 4 bytes before the record: in a header, by a GUID, by 8 bytes."""

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from confluent_kafka.schema_registry import (
    SchemaRegistryClient,
    header_schema_id_serializer,
    prefix_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from eml.settings import KafkaSettings, LimitsSettings, RecordSettings, RegistrySettings, Settings
from eml.stream.avro.micro_batch import Columns, MicroBatch, decode
from eml.stream.errors import BadRecordError, BadSchemaError, SchemaNotYetKnownError
from eml.stream.keys import KafkaKey, KeyName, names_of
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import Results
from eml.stream.records import Position, Raw
from eml.stream.registry.client import SchemaRegistry
from eml.stream.wire import KEY_SCHEMA, PREFIXES, VALUE_SCHEMA, Frame, Guid, SchemaId, frame, named_by, schema_of
from tests.unit.stream.registry.registry_server import NOT_FOUND, RegistryServer, Reply, serving

GUID = "0b7a4b56-6f0e-4d5c-9a3e-1f2d3c4b5a69"
OF_GUID = b"\x01" + uuid.UUID(GUID).bytes
READING = {
    "type": "record",
    "name": "Reading",
    "fields": [{"name": "label", "type": ["null", "string"]}, {"name": "temperature", "type": "double"}],
}
LABEL = {
    "type": "record",
    "name": "Label",
    "fields": [{"name": "event_id", "type": "string"}, {"name": "label", "type": "string"}],
}


class Guids(RegistryServer):
    """Confluent's registry as it is since GUIDs: each schema has one."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.guids: dict[str, int] = {}

    def reply(self, method: str, path: str, body: Any) -> Reply:
        if path.startswith("/schemas/guids/"):
            schema_id = self.guids.get(path.split("/")[3])
            if schema_id is None:
                return NOT_FOUND
            return 200, [{"context": ".other", "id": 1}, {"context": ".", "id": schema_id}]
        path = path.partition("?")[0]
        known = {schema["schema"]: schema_id for schema_id, schema in self.schemas.items()}
        if method == "POST" and body["schema"] in known:
            status, found = 200, {"id": known[body["schema"]]}
        else:
            status, found = super().reply(method, path, body)
        if method == "POST" and status == 200:
            guid = str(uuid.uuid5(uuid.NAMESPACE_OID, body["schema"]))
            self.guids[guid] = found["id"]
            return 200, {**found, "guid": guid, "schema": body["schema"], "version": 1}
        return status, found


@pytest.fixture
def server(monkeypatch) -> Iterator[Guids]:
    monkeypatch.setattr("tests.unit.stream.registry.registry_server.RegistryServer", Guids)
    with serving() as server:
        assert isinstance(server, Guids)
        server.add(7, READING, ("readings-value", 3))
        server.guids[GUID] = 7
        yield server


@pytest.fixture
def client(server) -> Iterator[SchemaRegistry]:
    settings = RegistrySettings(
        url=server.url, timeout_ms=5_000, unknown_id_patience_ms=0, lookups_per_key_per_second=100
    )
    made = SchemaRegistry(settings, RecordSettings())
    yield made
    made.close()


def raw(value: bytes | None, headers: Mapping[str, bytes | None] = {}, offset: int = 0, topic: str = "readings") -> Raw:
    return Raw(value, Position(topic, 0, offset, offset), headers)


def told(client: SchemaRegistry, *records: Raw, **record: Any) -> Results:
    settings = Settings(kafka=KafkaSettings(labels_topic="labels"), record=RecordSettings(**record))
    return KeyModel(KeyName("pump"), settings).step(records, client.reading_schema)


# -- frames ------------------------------------------------------------------------------------------------------------


def test_a_header_names_the_schema_and_the_value_is_bare():
    assert schema_of(b"bare", {VALUE_SCHEMA: OF_GUID}, 5) == (Guid(GUID), 0)
    assert schema_of(b"bare", {VALUE_SCHEMA: frame(7, b"")}, 5) == (7, 0)
    assert schema_of(frame(9, b"x"), {VALUE_SCHEMA: frame(7, b"")}, 5) == (7, 0), "as Confluent's clients decide"
    assert schema_of(frame(9, b"x"), {"trace": b"1"}, 5) == (9, 5)
    assert schema_of(frame(9, b"x"), {VALUE_SCHEMA: None}, 5) == (9, 5)


def test_an_id_of_8_bytes_is_read_where_the_setting_says_so():
    prefix = PREFIXES["apicurio-8"]
    value = frame(258, b"payload", prefix)
    assert value == b"\x00\x00\x00\x00\x00\x00\x00\x01\x02payload"
    assert schema_of(value, {}, prefix) == (258, 9)
    assert schema_of(value, {}, PREFIXES["confluent"]) == (0, 5), "nobody can tell: no registry counts from 0"


@pytest.mark.parametrize(
    ("frame_", "why"),
    [
        (Frame(b"", 0), "nor a one and a GUID"),
        (Frame(b"\x01short", 0), "nor a one and a GUID"),
        (Frame(b"\x02" + OF_GUID[1:], 0), "nor a one and a GUID"),
        (Frame(OF_GUID[:5], 0), "zero byte"),
        (Frame(b"\0\0\0\0\x07", 9), "too few for a frame with an id of 8 bytes"),
        (Frame(b"\0\0\0\0\x07abcd", 9), "record.schema_id_format"),
        (Frame(b"\x01\0\0\0\0\0\0\0\x07", 9), "record.schema_id_format"),
    ],
)
def test_what_names_no_schema_is_a_bad_record(frame_, why):
    with pytest.raises(BadRecordError, match=why) as error:
        named_by(frame_)
    assert error.value.reason == "not-framed"


# -- the registry ------------------------------------------------------------------------------------------------------


def test_a_guid_is_looked_up_once_and_leads_to_the_id(server, client):
    schema = client.reading_schema(Guid(GUID))
    assert (schema.id, schema.version) == (7, 3)
    assert client.reading_schema(Guid(GUID)) is schema is client.reading_schema(SchemaId(7))
    assert client.cached_schema(Guid(GUID)) is schema
    assert server.asked == [f"/schemas/guids/{GUID}/ids", "/schemas/ids/7", "/schemas/ids/7/versions"]


def test_a_guid_that_nobody_knows_is_waited_for_and_then_a_dead_letter(server, client):
    other = Guid(GUID.replace("0", "1"))
    assert client.cached_schema(other) is None
    with pytest.raises(BadSchemaError, match="only Confluent's registry has GUIDs") as error:
        client.reading_schema(other)
    assert error.value.reason == "unknown-schema"
    with pytest.raises(BadSchemaError):
        client.reading_schema(other)
    assert len(server.asked) == 1, "that it is unknown is remembered"
    patient = SchemaRegistry(RegistrySettings(url=server.url, unknown_id_patience_ms=10_000), RecordSettings())
    with pytest.raises(SchemaNotYetKnownError):
        patient.reading_schema(other)
    patient.close()


def test_an_id_of_0_hints_at_longer_ids(client):
    with pytest.raises(BadSchemaError, match=r'record\.schema_id_format = "apicurio-8"'):
        client.reading_schema(SchemaId(0))


# -- records -----------------------------------------------------------------------------------------------------------


def serialized(server: Guids, text: Any, fields: Any, topic: str, *, in_header: bool, key: bool = False) -> Raw:
    """As confluent-kafka's own serializer writes it."""
    conf = {"schema.id.serializer": header_schema_id_serializer if in_header else prefix_schema_id_serializer}
    headers: list[tuple[str, str | bytes | None]] = []
    field = MessageField.KEY if key else MessageField.VALUE
    with SchemaRegistryClient({"url": server.url}) as registry:
        serializer = AvroSerializer(registry, json.dumps(text), conf=conf)
        value = serializer(fields, SerializationContext(topic, field, headers))
    return raw(value, cast("dict[str, bytes]", dict(headers)), topic=topic)


def test_records_of_confluents_serializer_are_read_in_both_forms_and_mixed(server, client):
    readings = [
        serialized(server, READING, {"label": None, "temperature": float(t)}, "readings", in_header=bool(t % 2))
        for t in range(4)
    ]
    assert [VALUE_SCHEMA in reading.headers for reading in readings] == [False, True, False, True]
    records = [replace(one, position=Position("readings", 0, n, n)) for n, one in enumerate(readings)]
    results = told(client, *records)
    assert not results.dead_letters
    assert [one.position.offset for one in results.predictions] == [0, 1, 2, 3]
    assert len({one.schema_id for one in results.predictions}) == 1


def test_labels_may_name_their_schema_in_a_header(server, client):
    label = serialized(server, LABEL, {"event_id": "1", "label": "hot"}, "labels", in_header=True)
    results = told(client, label)
    assert not results.dead_letters
    assert results.labels is not None


def test_keys_may_name_their_schema_in_a_header(server, client):
    for in_header in (True, False):
        key = serialized(server, "string", "pump-7", "readings", in_header=in_header, key=True)
        assert (KEY_SCHEMA in key.headers) is in_header
        name = names_of("avro", LimitsSettings(), client.key_schema)
        assert name(KafkaKey((key.value or b"").decode("latin-1")), key.headers) == "pump-7"


def test_a_dead_letter_of_a_guid_says_which_and_has_no_id(client):
    other = b"\x01" + bytes(16)
    results = told(client, raw(b"bare", {VALUE_SCHEMA: other}), raw(b"bare", {VALUE_SCHEMA: b"?"}, 1))
    unknown, unframed = results.dead_letters
    assert (unknown.reason, unknown.schema_id) == ("unknown-schema", None)
    assert str(uuid.UUID(bytes=bytes(16))) in unknown.message
    assert (unframed.reason, unframed.schema_id) == ("not-framed", None)
    (short,) = told(client, raw(b"", {VALUE_SCHEMA: OF_GUID})).dead_letters
    assert (short.reason, short.schema_id) == ("truncated", 7)


def test_ids_of_8_bytes_are_read(client):
    value = frame(7, b"\0" + bytes(8), PREFIXES["apicurio-8"])
    assert len(told(client, raw(value), schema_id_format="apicurio-8").predictions) == 1
    (dead,) = told(client, raw(value)).dead_letters
    assert dead.reason == "unknown-schema"
    assert "apicurio-8" in dead.message


def test_a_micro_batch_decodes_each_form_together(client):
    payload = b"\0" + bytes(8)
    values = [payload, frame(7, payload), payload, frame(7, payload)]
    headers = [{VALUE_SCHEMA: OF_GUID}, None, {VALUE_SCHEMA: frame(7, b"")}, {"trace": b"1"}]
    count, key = len(values), KafkaKey("pump")
    nothing = [0] * count
    columns = Columns(
        [key] * count, [key] * count, nothing, list(range(count)), nothing, list(values), list(headers), [False] * count
    )
    batch = MicroBatch(columns, "readings", "", LimitsSettings())
    client.reading_schema(Guid(GUID))
    batch.decode_together(client.cached_schema)
    for numbers in ([0], [1, 3], [2]):
        readings = batch.readings(numbers, lambda _: KeyName(""))
        assert readings is not None
        assert readings.values.tolist() == [[0.0]] * len(numbers)
    records = batch.raws(range(count))
    for how in (batch.decode, decode):
        results = KeyModel(KeyName("pump"), Settings()).step(records, client.reading_schema, decode=how)
        assert len(results.predictions) == count
