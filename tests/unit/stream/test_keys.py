"""Names of keys: text, numbers, Avro, and what is said of a key that is none of these."""

import io
import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.settings import LimitsSettings, RecordSettings
from eml.stream.avro.key_schema import compile_key
from eml.stream.errors import BadRecordError, BadSchemaError, RegistryUnavailableError
from eml.stream.keys import CONTROLS, KafkaKey, ReadKey, names_of
from eml.stream.wire import frame
from tests.unit.stream.avro.encoding import field, record

UUID_16 = {"type": "fixed", "name": "Id", "size": 16, "logicalType": "uuid"}
MODEL = {"type": "enum", "name": "Model", "symbols": ["PUMP", "FAN"]}
SITE = record(field("city", "string"), field("hall", ["null", "int"]), name="Site")
DEVICE = record(field("site", SITE), field("model", MODEL), field("number", "long"), name="Device")
SOME_ID = "6f1d8a3e-0a4c-4d55-9b37-3f8a30f2b1c7"


def nobody(schema_id: int) -> ReadKey:
    raise AssertionError(f"schema {schema_id} was asked for")


def name(key: bytes, key_format: str = "text") -> str:
    return names_of(key_format, LimitsSettings(), nobody)(KafkaKey(key.decode("latin-1")))


def avro_name(schema: object, key: bytes, **limits: int) -> str:
    read = compile_key(json.dumps(schema), RecordSettings())
    return names_of("avro", LimitsSettings(**limits), {5: read}.__getitem__)(KafkaKey(key.decode("latin-1")))


def avro_key(schema: Any, value: object) -> bytes:
    """As Confluent's serializer writes it."""
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, fastavro.parse_schema(schema), value)
    return frame(5, buffer.getvalue())


def refused(schema: object, key: bytes, **limits: int) -> BadRecordError:
    with pytest.raises(BadRecordError) as error:
        avro_name(schema, key, **limits)
    return error.value


def test_a_text_is_its_own_name():
    assert name("Pümpe 7/a".encode()) == "Pümpe 7/a"


@pytest.mark.parametrize(("key", "number"), [(b"\0\0\0\7", 7), (b"\xff\xff\xff\xff", -1), (b"abcd", 0x61626364)])
def test_a_number_is_named_by_its_digits(key, number):
    assert name(key, "int") == str(number)
    wide = int(number).to_bytes(8, "big", signed=True)
    assert name(wide, "long") == str(number)


@pytest.mark.parametrize(
    ("key", "reason", "advice"),
    [
        (b"", "no-key", "send each with its device's name"),
        (b"\0\0\0\0\5\x0apump-", "bad-key", 'record.key_format = "avro"'),
        (b"\0\0\0\0\0\0\0\x11", "bad-key", 'record.key_format = "long" or .* record.key_format = "avro"'),
        (b"\1\0\0\0\0\0\0\x11", "bad-key", 'record.key_format = "long"'),
        (b"\0\0\0\x11", "bad-key", 'record.key_format = "int"'),
        (b"\xff\xfe", "bad-key", "UTF-8"),
        (b"pump\n7", "bad-key", "UTF-8"),
        (b"x" * 2_000, "too-large", "limits.key_bytes"),
    ],
)
def test_keys_that_are_not_text_say_what_to_set(key, reason, advice):
    with pytest.raises(BadRecordError, match=advice) as error:
        name(key)
    assert error.value.reason == reason


def test_a_number_of_another_length_is_refused():
    with pytest.raises(BadRecordError, match="4 bytes, not the 8"):
        name(b"pump", "long")


# -- Avro --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ("string", "Pümpe 7", "Pümpe 7"),
        ({"type": "string", "avro.java.string": "String"}, "pump", "pump"),
        ({"type": "string", "logicalType": "uuid"}, SOME_ID, SOME_ID),
        ("int", -7, "-7"),
        ("long", 2**62, str(2**62)),
        (MODEL, "FAN", "FAN"),
        (UUID_16, UUID(SOME_ID).bytes, SOME_ID),
        (["null", "string"], "pump", "pump"),
        (["long", "null"], 7, "7"),
        (record(field("id", "string")), {"id": "pump"}, "pump"),
        (DEVICE, {"site": {"city": "Ulm", "hall": 3}, "model": "PUMP", "number": 7}, "Ulm/3/PUMP/7"),
        (DEVICE, {"site": {"city": "Ulm", "hall": None}, "model": "PUMP", "number": 7}, "Ulm//PUMP/7"),
        (["null", DEVICE], {"site": {"city": "Ulm", "hall": 3}, "model": "PUMP", "number": 7}, "Ulm/3/PUMP/7"),
    ],
)
def test_fault_14_an_avro_key_is_named_by_its_values(schema, value, said):
    assert avro_name(schema, avro_key(schema, value)) == said


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (["null", "string"], None),
        ("string", ""),
        (["null", DEVICE], None),
        (record(field("a", ["null", "int"]), field("b", "string")), {"a": None, "b": ""}),
    ],
)
def test_an_avro_key_without_a_value_is_no_key(schema, value):
    assert refused(schema, avro_key(schema, value)).reason == "no-key"


@pytest.mark.parametrize(
    "schema",
    [
        *("bytes", "double", "boolean", "null"),
        ["string", "long"],
        ["null", "string", "long"],
        {"type": "array", "items": "string"},
        {"type": "map", "values": "string"},
        {"type": "fixed", "name": "Id", "size": 16},
        {"type": "fixed", "name": "Id", "size": 8, "logicalType": "uuid"},
        {"type": "bytes", "logicalType": "decimal", "precision": 4},
        record(field("id", "string"), field("raw", "bytes")),
        record(field("id", "string"), field("empty", record(name="Empty"))),
        record(),
    ],
)
def test_a_key_schema_that_is_no_name_says_what_is_supported(schema):
    with pytest.raises(BadSchemaError, match="a key must be a string, an int, a long, an enum or a uuid") as error:
        compile_key(json.dumps(schema), RecordSettings())
    assert error.value.reason == "bad-key"


@pytest.mark.parametrize(
    "payload",
    [
        b"",  # ends before the size
        b"\x0apum",  # before the string does
        b"\x0apump-x",  # more follows
        b"\x09pump-",  # a negative size
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",  # a size of more than 64 bits
        b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01pump-",  # of almost 2^63
        b"\x04\xff\xfe",  # not UTF-8
        b"\x06a\nb",  # no name has control characters
    ],
)
def test_bytes_that_the_schema_did_not_write_are_refused(payload):
    assert refused("string", frame(5, payload)).reason == "bad-key"


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        (MODEL, b"\x04"),
        (MODEL, b"\x01"),
        (["null", "string"], b"\x04\x02a"),
        (["null", "string"], b"\x01\x02a"),
        (UUID_16, bytes(15)),
        (UUID_16, bytes(17)),
        ("int", b"\xfe\xff\xff\xff\xff\x01"),
        (DEVICE, b"\x02a\x00\x00"),
    ],
)
def test_branches_symbols_and_sizes_are_checked(schema, payload):
    assert refused(schema, frame(5, payload)).reason == "bad-key"


@pytest.mark.parametrize(
    ("key", "advice"),
    [(b"pump-7", 'record.key_format = "text"'), (b"\1\0\0\0\0\0\0\x11", '"long"'), (b"\0\0\0\7", '"int"')],
)
def test_a_key_without_a_frame_says_what_to_set(key, advice):
    error = refused("string", key)
    assert error.reason == "bad-key"
    assert advice in str(error)


def test_a_short_key_does_not_make_a_long_name():
    """Symbols of an enum take one byte each in the key, and a name is written with every prediction."""
    long = {"type": "enum", "name": "Long", "symbols": ["x" * 500]}
    schema = record(field("first", long), *(field(f"f{n}", "Long") for n in range(100)))
    error = refused(schema, frame(5, bytes(101)))
    assert error.reason == "too-large"
    assert "limits.key_bytes" in str(error)


def test_what_the_look_up_raises_goes_on():
    def down(schema_id: int) -> ReadKey:
        raise RegistryUnavailableError(f"down, {schema_id} is not known", 500)

    def unknown(schema_id: int) -> ReadKey:
        raise BadSchemaError("unknown-schema", f"the registry does not know schema {schema_id}")

    key = avro_key("string", "pump").decode("latin-1")
    with pytest.raises(RegistryUnavailableError):
        names_of("avro", LimitsSettings(), down)(KafkaKey(key))
    with pytest.raises(BadSchemaError, match=r"schema 5 .*record.key_format") as error:
        names_of("avro", LimitsSettings(), unknown)(KafkaKey(key))
    assert error.value.reason == "unknown-schema"


@given(st.sampled_from([DEVICE, "string", ["null", "long"], UUID_16, MODEL]), st.binary(max_size=60))
def test_any_bytes_are_a_name_or_a_bad_key(schema: Mapping[str, Any], payload: bytes):
    try:
        said = avro_name(schema, frame(5, payload))
    except BadRecordError as error:
        said = error.reason
    assert said in ("bad-key", "no-key") or CONTROLS.isdisjoint(said.encode())
    assert said
