"""What `eml init` makes of a schema and some records: settings with reasons, or a line that says what to change."""

import builtins
import json
import os
import sys
from collections import Counter
from io import BytesIO, StringIO
from typing import Any

import fastavro
import pytest

from eml import cli
from eml.local import settings_file
from eml.operations import choices, init
from eml.operations.choices import Labels
from eml.operations.sample import Sample
from eml.settings import RecordSettings, load
from eml.stream.keys import KafkaKey
from eml.stream.records import Position, Raw
from eml.stream.wire import VALUE_SCHEMA, SchemaId, frame
from eml.terminal import CommandError

TEMPERATURE = {"name": "temperature", "type": "double"}
ADDRESSES = {"kafka.bootstrap_servers": "there:9092", "registry.url": "http://there:8081"}


def schema(*fields: dict[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "Turbine", "fields": list(fields)})


def chosen(text: str, **given: str) -> dict[str, object]:
    """The reserved fields, by role."""
    return {setting.name: setting.value for setting in choices.fields(text, given, RecordSettings())}


def sample(*values: bytes | None, keys: tuple[bytes, ...] = ()) -> Sample:
    named = keys or (b"turbine-1",) * len(values)
    records = [
        Raw(value, Position("turbines", 0, offset, 0), {}, KafkaKey(key.decode("latin-1")))
        for offset, (value, key) in enumerate(zip(values, named, strict=True))
    ]
    return Sample("turbines", records, len(records))


# -- fields ------------------------------------------------------------------------------------------------------------


def test_fields_are_found_by_name_and_type():
    text = schema(
        TEMPERATURE,
        {"name": "fault", "type": ["null", "string"]},
        {"name": "status", "type": "double"},
        {"name": "measured_at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "timestamp", "type": "string"},
        {"name": "device_id", "type": "string"},
    )
    assert chosen(text) == {
        "record.label_field": "fault",
        "record.event_id_field": "event_id",
        "record.event_time_field": "measured_at",
        "record.key_field": "device_id",
    }
    assert chosen(text, label="device_id")["record.label_field"] == "device_id"


def test_a_field_that_is_not_there_names_the_nearest():
    with pytest.raises(CommandError, match=r"no field 'fualt' for record.label_field: did you mean fault\?"):
        chosen(schema(TEMPERATURE, {"name": "fault", "type": "string"}), label="fualt")


def refusal(text: str) -> str:
    def judge() -> None:
        record = choices.with_fields(RecordSettings(), choices.fields(text, {}, RecordSettings()))
        choices.compiled(text, SchemaId(1), "turbines-value", 1, record)

    with pytest.raises(CommandError) as refused:
        judge()
    return str(refused.value)


def test_what_cannot_work_is_refused():
    assert "no field is a feature: a number" in refusal(schema({"name": "label", "type": "string"}))
    said = refusal(schema(TEMPERATURE, {"name": "label", "type": {"type": "array", "items": "string"}}))
    assert "(record.label_field): make it a string, an int, a long, a boolean or an enum" in said
    assert "or name another field in the settings" in said
    assert "cannot be one of readings" in refusal('"string"')


# -- records -----------------------------------------------------------------------------------------------------------


def test_records_that_are_no_framed_avro_are_refused():
    assert sample().named() == []
    assert [each.schema for each in sample(None, frame(7, b""), b"{}").named()] == [7]
    with pytest.raises(
        CommandError, match=r"'turbines' are JSON, not Avro: .* Avro serializer and the schema registry"
    ):
        sample(b'{"temperature": 3}').named()
    with pytest.raises(CommandError, match="are no framed Avro"):
        sample(b"\x01\x02\x03").named()


def test_every_way_to_name_a_schema_is_seen():
    long = sample(frame(7, b"!", 9), frame(8, b"?", 9))
    assert long.schema_id_format() == "apicurio-8"
    assert [(each.schema, each.payload) for each in long.named()] == [(7, b"!"), (8, b"?")]
    short = sample(frame(7, b"!"))
    assert short.schema_id_format() == "confluent"
    short.records[0].headers = {VALUE_SCHEMA: b"\0\0\0\0\x09"}
    assert [(each.schema, each.payload) for each in short.named()] == [(9, frame(7, b"!"))]


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ((b"turbine-1", b"", b"\0\0\0\1"), "text"),
        ((b"\0\0\0\1", b"\0\0\0\2"), "int"),
        ((b"\0\0\0\0\0\0\0\1",) * 2, "long"),
        ((b"\0\0\0\0\7\x06abc",), "avro"),
        ((b"\0\0\0\0\7\x04ab",), "avro"),
    ],
)
def test_the_form_of_keys_is_seen(keys, kind):
    values = (frame(1, b""),) * len(keys)
    assert sample(*values, keys=keys).key_format()[0] == kind


def test_records_without_keys_are_refused():
    with pytest.raises(CommandError, match=r"have no key: .* send each record with its device's name as key"):
        sample(frame(1, b""), keys=(b"",)).key_format()


def test_labels_are_counted_by_device():
    text = schema(TEMPERATURE, {"name": "label", "type": ["null", "string"]})
    parsed, values = fastavro.parse_schema(json.loads(text)), []
    for label in ("worn", None, "healthy", "worn"):
        out = BytesIO()
        fastavro.schemaless_writer(out, parsed, {"temperature": 1.0, "label": label})
        values.append(out.getvalue())
    compiled = choices.compiled(text, SchemaId(1), "turbines-value", 1, RecordSettings())
    counted = choices.count(compiled, [*values, b"!"], ["a", "a", "a", "b", "b"])
    assert counted == Labels(4, 3, 2, Counter(a=2, b=1))


# -- whose model -------------------------------------------------------------------------------------------------------


def by(labelled: int, keys: list[str], in_all: int, key_format: str = "text") -> list[tuple[str, object]]:
    settings = choices.model(Labels(100, labelled, 2, Counter()), keys, in_all, key_format)
    return [(setting.name, setting.value) for setting in settings]


def test_a_device_with_enough_labels_has_a_model_of_its_own():
    assert by(50, ["a", "b"], 1_000) == [("model.by", "key")]  # 250 each
    assert by(50, ["a", "b"], 100) == [("model.by", "all")]
    assert by(50, ["a", "b"], 100, "avro") == [("model.by", "key")]
    assert by(0, ["a"], 100) == [("model.by", "key")]


def test_devices_of_a_group_share_one():
    keys = ["site-1/a", "site-1/b", "site-2/c"]
    assert by(50, keys, 100) == [("model.by", "key-pattern"), ("model.key_pattern", choices.GROUP.pattern)]
    assert by(50, [*keys, "other"], 100) == [("model.by", "all")]
    settings = load(None, {}, {**ADDRESSES, **dict(by(50, keys, 100))})
    assert settings.model.by == "key-pattern"


# -- the file ----------------------------------------------------------------------------------------------------------


def test_what_is_written_can_be_loaded_whatever_names_hold(tmp_path):
    text = schema(TEMPERATURE, {"name": "fault", "type": "string"})
    settings = [
        *(settings_file.Setting(name, value) for name, value in ADDRESSES.items()),
        settings_file.Setting("record.subjects", ('a"b\\',), "of\nmany lines [x]"),
        *choices.fields(text, {}, RecordSettings()),
    ]
    settings_file.write(tmp_path / "eml.toml", ["Heading"], settings)
    loaded = load(tmp_path / "eml.toml", {})
    assert loaded.record.label_field == "fault"
    assert loaded.record.subjects == ('a"b\\',)


def test_a_file_that_is_there_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eml.toml").write_text("mine")
    assert cli.main(["init", "--topic", "turbines"]) == 2
    assert "--output names another file, --force writes over it" in capsys.readouterr().err
    assert (tmp_path / "eml.toml").read_text() == "mine"


def test_nothing_is_asked_where_nobody_sits(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["init", "--broker", "127.0.0.1:9", "--registry", "http://127.0.0.1:9", "--topic", "x"]) == 3
    assert "correct kafka.bootstrap_servers" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


class Terminal(StringIO):
    """Where somebody sits."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_it_asks_for_what_is_not_given(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("EML_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "stdin", Terminal())
    asked, answers = [], iter(["127.0.0.1:10", ""])

    def typed(question: str) -> str:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr(builtins, "input", typed)
    assert cli.main(["init", "--topic", "turbines"]) == 3
    assert asked == ["Kafka's address [localhost:9092]: ", "the schema registry's URL [http://localhost:8081]: "]
    assert "no answer from the brokers at 127.0.0.1:10" in capsys.readouterr().err


def test_the_addresses_of_the_file_that_is_written_over_stay(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("EML_")]:
        monkeypatch.delenv(name)
    before = '[kafka]\nbootstrap_servers = "127.0.0.1:10"\n[registry]\nurl = "http://127.0.0.1:10"\n'
    (tmp_path / "eml.toml").write_text(before)
    assert cli.main(["init", "--topic", "turbines", "--force"]) == 3
    assert "no answer from the brokers at 127.0.0.1:10" in capsys.readouterr().err
    assert (tmp_path / "eml.toml").read_text() == before, "nothing is written where nothing could be looked at"


def test_a_topic_of_labels_is_written_where_one_is_named():
    kafka = {"kafka.readings_topic": "turbines", "kafka.labels_topic": "inspections"}
    written = {setting.name: setting.value for setting in init._addresses(load(None, {}, {**ADDRESSES, **kafka}))}
    assert (written["kafka.readings_topic"], written["kafka.labels_topic"]) == ("turbines", "inspections")
    assert "kafka.labels_topic" not in {setting.name for setting in init._addresses(load(None, {}, ADDRESSES))}
