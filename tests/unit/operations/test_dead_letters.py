"""Dead letters without a broker: their view, their repair, and which of them are sent again."""

import hashlib
import json
import struct
from io import BytesIO
from types import SimpleNamespace

import fastavro
import pytest

from eml import cli
from eml.local.errors import CaptureError
from eml.local.record_lines import Registered
from eml.operations import dead_letter_view
from eml.operations.dead_letter_repair import Repair, UnrepairableError, to_send
from eml.operations.dead_letters import Filter, Found, read
from eml.settings import LimitsSettings, RecordSettings, Settings
from eml.stream.keys import KafkaKey
from eml.stream.output.dead_letters import DeadLetter, encode
from eml.stream.records import NO_HEADERS, REPLAYS, Headers, Position, Raw
from eml.stream.wire import SchemaId, frame

SCHEMA = {
    "type": "record",
    "name": "Reading",
    "fields": [
        {"name": "when", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "label", "type": ["null", "string"], "default": None},
        {"name": "temperature", "type": ["null", "double"], "default": None},
        {"name": "motor", "type": {"type": "record", "name": "Motor", "fields": [{"name": "rpm", "type": "int"}]}},
    ],
}
READING = {"when": 10**17, "label": "5", "temperature": float("nan"), "motor": {"rpm": 4}}
POSITION = Position("readings", 1, 42, 1_763_270_000_000)
TEXT = json.dumps(SCHEMA)
LIMITS = LimitsSettings()


def payload(fields: object = READING) -> bytes:
    out = BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(TEXT.replace("timestamp-millis", "none"))), fields)
    return out.getvalue()


def dead(
    value: bytes | None, reason: str = "not-finite", limits: LimitsSettings = LIMITS, headers: Headers = NO_HEADERS
) -> Found:
    raw = Raw(value, POSITION, headers)
    record = encode(b"pump", DeadLetter(raw, reason, "BadRecordError", "because", SchemaId(7)), limits)
    key = KafkaKey((record.key or b"").decode("latin-1"))
    return read(Raw(record.value, Position("dead-letters", 0, 17, 5), record.headers, key), Settings())


def sent(found: Found, original: Raw | None = None, **repair: object) -> Raw:
    texts = {number: Registered(0, number, "readings-value", 2, TEXT) for number in (7, 8)}
    return to_send(found, Repair(**repair), texts.get, lambda *_: original, RecordSettings())  # type: ignore[arg-type]


def fields_of(raw: Raw) -> dict[str, object]:
    parsed = fastavro.parse_schema(json.loads(TEXT.replace("timestamp-millis", "none")))
    return fastavro.schemaless_reader(BytesIO((raw.value or b"")[5:]), parsed, None)  # type: ignore[return-value]


# -- repair ------------------------------------------------------------------------------------------------------------


def test_as_it_is_a_record_has_its_bytes_its_place_and_one_more_replay():
    found = dead(b"what came", headers={"trace": b"1"})
    raw = sent(found)
    assert (raw.value, raw.key, raw.position) == (b"what came", "pump", POSITION)
    assert raw.headers == {"trace": b"1", REPLAYS: b"1"}
    again = sent(dead(b"what came", headers={REPLAYS: b"4"}))
    assert again.headers[REPLAYS] == b"5"


def test_a_field_gets_another_value_and_the_others_stay():
    raw = sent(dead(frame(7, payload())), fields={"temperature": "null", "motor.rpm": "900"})
    assert fields_of(raw) == {**READING, "temperature": None, "motor": {"rpm": 900}}
    assert raw.value is not None
    assert raw.value[:5] == frame(7, b"")


def test_a_value_is_json_where_that_fits_and_text_where_not():
    assert fields_of(sent(dead(frame(7, payload())), fields={"label": "6"}))["label"] == "6"
    assert fields_of(sent(dead(frame(7, payload())), fields={"label": "worn out"}))["label"] == "worn out"
    assert fields_of(sent(dead(frame(7, payload())), fields={"label": "null"}))["label"] is None


@pytest.mark.parametrize("value", [payload(), frame(99, payload())])
def test_the_schema_that_wrote_the_bytes_can_be_said(value):
    assert sent(dead(value, "not-framed"), schema_id=8).value == frame(8, payload())


def test_json_in_the_place_of_avro_is_encoded():
    value = json.dumps({"when": 5, "label": "ok", "motor": {"rpm": 1}}).encode()
    raw = sent(dead(value, "not-framed"), schema_id=7, fields={"temperature": "20.5"})
    assert fields_of(raw) == {"when": 5, "label": "ok", "temperature": 20.5, "motor": {"rpm": 1}}


def test_a_key_can_be_given():
    assert sent(dead(b"x", "no-key"), key="pumpe-ü").key.encode("latin-1") == "pumpe-ü".encode()


@pytest.mark.parametrize(
    ("value", "repair", "why"),
    [
        (frame(7, payload()), {"fields": {"temprature": "1"}}, "no field 'temprature': did you mean 'temperature'"),
        (frame(7, payload()), {"fields": {"temperature": "hot"}}, "does not fit the schema"),
        (frame(7, payload()), {"fields": {"label.x": "1"}}, "holds no others"),
        (frame(7, payload()[:-1]), {"fields": {"label": "x"}}, "schema 7 did not write its bytes"),
        (frame(99, payload()), {"fields": {"label": "x"}}, "no Avro schema 99: say with --with-schema"),
        (b"plain", {"fields": {"label": "x"}}, "say with --with-schema which schema wrote it"),
        (None, {"schema_id": 7}, "no value"),
        (b'{"when": 1, "lable": "x", "motor": {"rpm": 1}}', {"schema_id": 7}, "does not fit the schema"),
    ],
)
def test_what_cannot_be_repaired_says_why(value, repair, why):
    with pytest.raises(UnrepairableError, match=why):
        sent(dead(value), **repair)


def test_a_dead_letter_of_nowhere_is_not_sent():
    with pytest.raises(UnrepairableError, match="which topic"):
        sent(Found(Raw(b"", POSITION, {}), read(Raw(b"", POSITION, {}), Settings()).letter, ""))


def test_a_shortened_one_is_taken_from_where_its_record_stands():
    whole = Raw(b"x" * 900, POSITION, {"trace": b"1"}, KafkaKey("pump"))
    found = dead(whole.value, limits=LimitsSettings(dead_letter_bytes=1_000))
    assert found.letter.shortened == ("value",)
    assert sent(found, whole).value == whole.value
    with pytest.raises(UnrepairableError, match="does not stand at readings/1/42 any more"):
        sent(found)
    with pytest.raises(UnrepairableError, match="another record stands at readings/1/42"):
        sent(found, Raw(b"y" * 900, POSITION, {}, KafkaKey("pump")))
    assert hashlib.sha256(whole.value or b"").hexdigest().encode() in found.raw.headers.values()


# -- view --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def schemas(monkeypatch):
    """A registry with one schema; `answer` is what it says."""
    said = SimpleNamespace(schema=lambda number: Registered(0, number, "readings-value", 2, TEXT), close=lambda: None)
    monkeypatch.setattr(dead_letter_view, "RegisteredSchemas", lambda _: said)
    return said


def shown(found: Found, capsys: pytest.CaptureFixture[str], *, as_json: bool = False) -> str:
    dead_letter_view.show(Settings(), found, whole=False, as_json=as_json)
    return capsys.readouterr().out


@pytest.mark.usefixtures("schemas")
def test_a_dead_letter_is_shown_as_far_as_it_can_be_decoded(capsys):
    value = frame(7, payload({**READING, "label": "\x1b[2J"}) + b"..")
    said = shown(dead(value, "trailing-bytes", headers={"trace": b"\x1b]0;"}), capsys)
    for part in (
        "trailing-bytes",
        "readings/1/42",
        "7, readings-value version 2",
        "motor.rpm",
        "\\x1b[2J",
        "2 bytes follow",
    ):
        assert part in said
    assert "eml dead-letters replay 0/17" in said
    assert "\x1b" not in said


@pytest.mark.usefixtures("schemas")
def test_the_same_for_programs(capsys):
    fields = json.loads(shown(dead(frame(7, payload()[:-1]), "truncated"), capsys, as_json=True))
    assert (fields["reason"], fields["place"], fields["record"]["failed"]) == ("truncated", "0/17", "motor.rpm")
    assert [each["name"] for each in fields["record"]["fields"]] == ["when", "label", "temperature"]


def test_without_a_schema_the_bytes_are_shown(schemas, capsys, monkeypatch):
    assert "68 65 6c 6c 6f" in shown(dead(b"hello", "not-framed"), capsys)
    assert "none (a tombstone)" in shown(dead(None, "no-value"), capsys)
    monkeypatch.setattr(schemas, "schema", lambda _: None)
    assert "no Avro schema with this id" in shown(dead(frame(7, b"")), capsys)

    def silent(_number: int) -> None:
        raise CaptureError("The registry is away")

    monkeypatch.setattr(schemas, "schema", silent)
    assert "The registry is away" in shown(dead(frame(7, b"")), capsys)
    assert "and 976 more bytes" in shown(dead(b"x" * 2_000), capsys)


@pytest.mark.usefixtures("schemas")
def test_bytes_are_counted_from_the_value_s_first(capsys):
    value = frame(7, payload())
    fields = json.loads(shown(dead(value), capsys, as_json=True))
    temperature = next(each for each in fields["record"]["fields"] if each["name"] == "temperature")
    assert struct.unpack("<d", value[temperature["start"] : temperature["end"]])[0] != 0


# -- which -------------------------------------------------------------------------------------------------------------


def test_a_filter_takes_reasons_and_keys():
    found = dead(b"x")
    assert Filter().takes(found)
    assert Filter(frozenset(["not-finite", "truncated"]), frozenset(["pump"])).takes(found)
    assert not Filter(frozenset(["truncated"])).takes(found)
    assert not Filter(keys=frozenset(["press"])).takes(found)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["replay"], "say which"),
        (["replay", "0/1", "--all"], "say which"),
        (["replay", "0/1", "--field", "temperature"], "NAME=VALUE"),
        (["replay", "0/1", "--with-schema", "x"], "whole number"),
        ([], "ACTION"),
    ],
)
def test_a_wrong_command_line_says_what_is_wanted(arguments, why, capsys):
    try:
        status = cli.main(["dead-letters", *arguments])
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status == 2
    assert why in capsys.readouterr().err
