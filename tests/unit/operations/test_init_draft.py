"""`eml init` with a registry and records, but no broker: the settings that it drafts."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from eml.operations import init
from eml.operations.sample import Sample
from eml.settings import Settings, load
from eml.stream.keys import KafkaKey
from eml.stream.records import Position, Raw
from eml.stream.wire import VALUE_SCHEMA, frame
from eml.terminal import CommandError

FIELDS = [{"name": "temperature", "type": "double"}, {"name": "fault", "type": "boolean"}]
SCHEMA = json.dumps({"type": "record", "name": "Turbine", "fields": FIELDS})
PAYLOAD = bytes(8) + b"\1"


class Registry(BaseHTTPRequestHandler):
    """Knows schema 7, under a subject that no naming strategy gives to the topic, and under the topic's own."""

    def do_GET(self) -> None:
        known = {
            "/schemas/ids/7": {"schema": SCHEMA},
            "/schemas/ids/7/versions": [{"subject": "turbine-readings", "version": 3}],
            "/subjects/turbines-value/versions/latest": {"id": 8, "version": 1, "schema": SCHEMA},
            "/subjects": ["turbine-readings", "turbines-value"],
        }
        self.send_response(200 if self.path in known else 404)
        self.end_headers()
        self.wfile.write(json.dumps(known.get(self.path, {"message": "not found"})).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    monkeypatch.setattr(init, "topics", lambda _: ["turbines"])
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        addresses = {"kafka.bootstrap_servers": "x:1", "registry.url": f"http://127.0.0.1:{server.server_port}"}
        yield load(None, {}, {**addresses, "kafka.readings_topic": "turbines"})
        server.shutdown()


def draft(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, *values: bytes, header: bytes | None = None, subject: str = ""
) -> dict[str, object]:
    """The settings for a topic with these records."""
    headers = {} if header is None else {VALUE_SCHEMA: header}
    records = [
        Raw(value, Position("turbines", 0, offset, 0), headers, KafkaKey("t-1")) for offset, value in enumerate(values)
    ]
    monkeypatch.setattr(Sample, "of", lambda *_: Sample("turbines", records, 600))
    made = init.draft(settings, {}, subject or None, 10)
    found = {setting.name: setting.value for setting in made.settings}
    load(None, {}, {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()})
    return found


@pytest.mark.parametrize(
    ("value", "header", "id_format"),
    [
        (frame(7, PAYLOAD), None, None),
        (frame(7, PAYLOAD, 9), None, "apicurio-8"),
        (PAYLOAD, b"\0\0\0\0\7", None),
    ],
    ids=["four-bytes", "eight-bytes", "header"],
)
def test_the_newest_record_names_the_schema(settings, monkeypatch, value, header, id_format):
    found = draft(monkeypatch, settings, value, header=header)
    assert found["record.subjects"] == ("turbine-readings",)
    assert found["record.label_field"] == "fault"
    assert found["model.by"] == "key", "every one of 600 records of one device has a label"
    assert found.get("record.schema_id_format") == id_format


def test_a_subject_is_taken_where_it_is_named_or_there_are_no_records(settings, monkeypatch):
    assert "record.subjects" not in draft(monkeypatch, settings)
    assert "record.subjects" not in draft(monkeypatch, settings, frame(7, PAYLOAD), subject="turbines-value")
    with pytest.raises(CommandError, match="no subject 'turbine-value': did you mean 'turbines-value'"):
        draft(monkeypatch, settings, subject="turbine-value")


def test_a_schema_that_the_registry_does_not_have_is_refused(settings, monkeypatch):
    with pytest.raises(CommandError, match="has no Avro schema with id 9, which the newest record of 'turbines' names"):
        draft(monkeypatch, settings, frame(7, PAYLOAD), frame(9, PAYLOAD))
