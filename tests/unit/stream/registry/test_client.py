"""The client of the registry, against a server on loopback: what it asks, remembers and refuses to ask."""

import logging
import os
import time
import traceback
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from eml.core import EmlError
from eml.settings import KafkaSettings, RecordSettings, RegistrySettings, Settings
from eml.stream.errors import (
    BadSchemaError,
    CredentialsRefusedError,
    IncompatibleSchemaError,
    LookupRateError,
    RegistryRefusedError,
    RegistryUnavailableError,
    SchemaNotYetKnownError,
)
from eml.stream.registry.client import NEAR, TURN_S, SchemaRegistry
from eml.stream.registry.http_client import AnswerError
from eml.stream.registry.rate_limits import Backoff, TokenBucket
from eml.stream.registry.schema_cache import SchemaCache
from eml.stream.registry.subjects import Subjects
from eml.stream.wire import SchemaId
from tests.unit.stream.avro.encoding import field, record
from tests.unit.stream.registry.registry_server import Certificates, RegistryServer, serving

SCHEMA = record(field("x", "double"))
RECORD = RecordSettings()
SECRET = "hunter2-secret"  # noqa: S105  of nobody
NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody listens


class Clock:
    """A time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with serving() as server:
        server.add(7, SCHEMA, ("readings-value", 3))
        yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def connect(server, clock):
    """Makes clients of the server, or of another address."""
    made = []

    def make(record=RECORD, subjects=None, cache=None, **settings) -> SchemaRegistry:
        given = RegistrySettings(**{"url": server.url, "timeout_ms": 5_000, "unknown_id_patience_ms": 0, **settings})
        made.append(SchemaRegistry(given, record, clock, subjects=subjects, cache=cache))
        return made[-1]

    yield make
    for client in made:
        client.close()


def unavailable(ask, *args: object) -> RegistryUnavailableError:
    with pytest.raises(RegistryUnavailableError) as error:
        ask(*args)
    assert error.value.retry_after_ms > 0
    return error.value


def refused(ask, *args: object) -> BadSchemaError:
    with pytest.raises(BadSchemaError) as error:
        ask(*args)
    return error.value


# -- look-ups ----------------------------------------------------------------------------------------------------------


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
    refused(client.reading_schema, 11)  # had to give way to 14
    assert len(server.asked) == 5
    assert len(client._unknown) == 3


def test_the_cache_keeps_what_was_used_last(server, connect):
    client = connect(cached_schemas=2)
    for schema_id in (1, 2, 3):
        server.add(schema_id, SCHEMA, ("s", schema_id))
    for schema_id in (1, 2, 1, 3, 1):
        client.reading_schema(schema_id)
    assert len(server.asked) == 6
    client.reading_schema(2)  # had to give way to 3
    assert len(server.asked) == 8
    assert len(client._known.readings) == 2


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


# -- a registry in trouble ---------------------------------------------------------------------------------------------

TROUBLES = {
    "500": (500, {"error_code": 50001}),
    "502 of a proxy": (502, b"<html>"),
    "503": (503, b""),
    "408": (408, b""),
    "429": (429, {"message": "slow down"}),
    "another 4xx": (418, b""),
    "a redirect": (302, b""),
    "no JSON": (200, b"<html>"),
    "deep JSON": (200, b"[" * 100_000),
    "no schema": (200, {"id": 7}),
    "a schema that is no text": (200, {"schema": {"type": "record"}}),
    "a list": (200, [1, 2]),
    "nothing": (200, b""),
}


@pytest.mark.parametrize("reply", TROUBLES.values(), ids=TROUBLES)
def test_trouble_is_no_fault_of_the_record(server, connect, clock, reply):
    server.trouble = lambda _: reply
    client = connect()
    assert server.url in str(unavailable(client.reading_schema, 7))
    server.trouble = lambda _: None
    clock.now += 60
    assert client.reading_schema(7).version == 3


@pytest.mark.parametrize("reply", [(500, b""), (200, {}), (200, [{"subject": "s"}]), (200, [7]), (418, b"")])
def test_trouble_with_versions_is_trouble_too(server, connect, clock, reply):
    server.trouble = lambda handler: reply if handler.path.endswith("/versions") else None
    client = connect()
    unavailable(client.reading_schema, 7)
    server.trouble = lambda _: None
    clock.now += 60
    assert client.reading_schema(7).version == 3


def test_nobody_at_the_address_is_unavailable(connect):
    assert NOWHERE in str(unavailable(connect(url=NOWHERE).reading_schema, 7))


def test_a_redirect_is_not_followed(server, connect):
    with serving() as other:

        def redirect(handler):
            handler.send_response(302)
            handler.send_header("Location", other.url + handler.path)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            handler.wfile.flush()
            raise ConnectionAbortedError

        server.trouble = redirect
        assert "registry.url" in str(unavailable(connect(username="u", password=SECRET).reading_schema, 7))
        assert other.asked == []


def test_a_server_that_hangs_up_is_unavailable(server, connect):
    def hang_up(_):
        raise ConnectionAbortedError

    server.trouble = hang_up
    unavailable(connect().reading_schema, 7)


def test_a_silent_server_is_left_at_the_timeout(server, connect):
    server.trouble = lambda _: time.sleep(0.6)
    started = time.monotonic()
    assert "timeout_ms" in str(unavailable(connect(timeout_ms=100).reading_schema, 7))
    assert time.monotonic() - started < 0.5


def test_a_server_that_drips_its_answer_is_left_at_the_timeout(server, connect):
    def drip(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _ in range(40):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)  # each byte well within the timeout
        raise ConnectionAbortedError

    server.trouble = drip
    started = time.monotonic()
    assert "timeout_ms" in str(unavailable(connect(timeout_ms=200).reading_schema, 7))
    assert time.monotonic() - started < 1.0


def test_known_schemas_flow_on_while_the_registry_is_away(server, connect):
    client = connect()
    known = client.reading_schema(7)
    server.trouble = lambda _: (503, b"")
    unavailable(client.reading_schema, 8)
    assert client.reading_schema(7) is known


def test_after_a_failure_nothing_is_asked_until_the_wait_is_over(server, connect, clock):
    server.trouble = lambda _: (503, b"")
    client = connect(retry_ms=200, longest_retry_ms=1_000)
    waits = []
    for asked in range(1, 7):
        error = unavailable(client.reading_schema, 7)
        assert len(server.asked) == asked
        waits.append(error.retry_after_ms)
        assert unavailable(client.reading_schema, 7).retry_after_ms >= waits[-1] + 1000 * TURN_S - 1, "others go first"
        clock.now += error.retry_after_ms / 1000 - 0.01
        for ask in (client.reading_schema, client.latest_version):
            again = unavailable(ask, "s" if ask == client.latest_version else 8)
            assert again.retry_after_ms <= 11
            assert "503" in str(again)
        assert len(server.asked) == asked
        clock.now += 0.011 + TURN_S
    for wait, most in zip(waits, (200, 400, 800, 1000, 1000, 1000), strict=True):
        assert most / 2 <= wait <= most + 1
    assert len(set(waits[3:])) > 1  # chance keeps operators apart
    server.trouble = lambda _: None
    assert client.reading_schema(7).id == 7
    server.trouble = lambda _: (503, b"")
    assert unavailable(client.reading_schema, 8).retry_after_ms <= 201


def test_look_ups_are_limited_and_known_ids_are_free(server, connect, clock):
    client = connect(lookups_per_second=4.0)
    client.reading_schema(7)
    for schema_id in (21, 22, 23):
        refused(client.reading_schema, schema_id)
    error = unavailable(client.reading_schema, 24)
    assert error.retry_after_ms == 250
    assert "lookups_per_second" in str(error)
    assert client.reading_schema(7).id == 7
    refused(client.reading_schema, 21)
    assert "/schemas/ids/24" not in server.asked
    clock.now += 0.25
    refused(client.reading_schema, 24)
    unavailable(client.latest_version, "readings-value")


def test_a_key_has_look_ups_of_its_own(server, connect, clock):
    server.add(8, SCHEMA, ("readings-value", 4))
    client = connect(lookups_per_second=20.0, lookups_per_key_per_second=0.5)
    for schema_id in range(21, 26):
        refused(client.reading_schema, schema_id, "flooder")
    error = unavailable(client.reading_schema, 26, "flooder")
    assert isinstance(error, LookupRateError)
    assert "registry.lookups_per_key_per_second" in str(error)
    assert error.retry_after_ms == 10_000
    refused(client.reading_schema, 21, "flooder")  # what is known to be unknown costs nothing
    assert client.reading_schema(8, "healthy").id == 8
    clock.now += 10
    refused(client.reading_schema, 26, "flooder")


def test_keys_that_ask_for_unknown_ids_leave_look_ups_to_the_others(server, connect):
    client = connect(lookups_per_second=20.0)
    for number in range(9):
        for schema_id in range(5):
            with pytest.raises((BadSchemaError, LookupRateError)):
                client.reading_schema(1000 + 10 * number + schema_id, f"flooder-{number}")
    assert len(server.asked) < 20
    assert client.reading_schema(7, "healthy").id == 7


def test_a_key_s_look_ups_are_given_back_where_the_task_has_none(connect):
    client = connect(lookups_per_second=1.0)
    refused(client.reading_schema, 21)
    for _ in range(9):
        assert "registry.lookups_per_second" in str(unavailable(client.reading_schema, 22, "pump"))


def test_schemas_that_are_found_cost_a_key_nothing_until_the_cache_is_full(server, connect):
    for schema_id in range(20, 40):
        server.add(schema_id, SCHEMA, ("readings-value", schema_id))
    client = connect(lookups_per_second=100.0, cached_schemas=10)
    for schema_id in range(20, 35):
        assert client.reading_schema(schema_id, "pump").id == schema_id
    assert isinstance(unavailable(client.reading_schema, 35, "pump"), LookupRateError)


def test_the_allowances_of_keys_are_bounded(connect, monkeypatch):
    monkeypatch.setattr("eml.stream.registry.rate_limits.KEYS", 3)
    client = connect()
    for number in range(6):
        refused(client.reading_schema, 20 + number, f"key-{number}")
    assert len(client._limits._keys) == 3


# -- a registry that is behind -----------------------------------------------------------------------------------------


def test_a_new_id_is_waited_for_and_delays_no_other(server, connect, clock):
    client = connect(unknown_id_patience_ms=10_000)
    server.add(8, SCHEMA, ("readings-value", 4))
    client.reading_schema(7)
    waits, begin = [], clock.now
    while clock.now < begin + 9:
        error = unavailable(client.reading_schema, 9)
        assert isinstance(error, SchemaNotYetKnownError)
        waits.append(error.retry_after_ms)
        clock.now += waits[-1] / 1000
    assert 100 <= waits[0] <= 201
    assert len(waits) < 12, "pauses grow"
    assert client.reading_schema(8).version == 4
    server.add(9, SCHEMA, ("readings-value", 5))
    clock.now += 10
    assert client.reading_schema(9).version == 5


def test_patience_ends_and_the_id_is_remembered_as_unknown(server, connect, clock):
    client = connect(unknown_id_patience_ms=2_000)
    unavailable(client.reading_schema, 9)
    clock.now += 2
    assert refused(client.reading_schema, 9).reason == "unknown-schema"
    asked = len(server.asked)
    assert refused(client.reading_schema, 9).reason == "unknown-schema"
    assert len(server.asked) == asked
    assert 9 not in client._retries


@pytest.mark.parametrize("schema_id", [0, 7 + NEAR + 1])
def test_an_id_that_cannot_be_new_is_unknown_at_once(connect, schema_id):
    client = connect(unknown_id_patience_ms=10_000)
    client.reading_schema(7)
    assert refused(client.reading_schema, schema_id).reason == "unknown-schema"


def test_a_schema_whose_subject_is_not_told_yet_is_waited_for(server, connect, clock):
    places, server.places[7] = server.places[7], []
    client = connect(unknown_id_patience_ms=10_000)
    clock.now += unavailable(client.reading_schema, 7).retry_after_ms / 1000
    server.places[7] = places
    assert client.reading_schema(7).version == 3


@pytest.mark.parametrize("schema_id", [9, 2_000_000_000])
def test_a_registry_that_lost_what_it_had_is_out_of_order(server, connect, clock, schema_id):
    client = connect()
    client.reading_schema(7)
    clock.now += 2
    everything, server.schemas = server.schemas, {}
    assert "which it had" in str(unavailable(client.reading_schema, schema_id))
    server.schemas = everything
    clock.now += 1
    assert refused(client.reading_schema, schema_id).reason == "unknown-schema"


def test_one_deleted_schema_is_no_loss(server, connect, clock):
    client = connect(cache=SchemaCache(10, known_id=SchemaId(7)))
    server.add(8, SCHEMA, ("readings-value", 4))
    client.reading_schema(8)
    clock.now += 2
    del server.schemas[8]
    assert refused(client.reading_schema, 9).reason == "unknown-schema"


def test_what_is_not_had_is_remembered_up_to_a_bound(connect):
    client = connect(unknown_id_patience_ms=10_000, unknown_ids=3, lookups_per_second=100.0)
    for schema_id in range(20, 30):
        unavailable(client.reading_schema, schema_id)
    assert len(client._retries._ids) == 3


def test_clients_of_a_task_share_what_they_found(server, connect):
    cache = SchemaCache(10)
    found = connect(cache=cache).reading_schema(7)
    server.trouble = lambda _: (503, b"")
    assert connect(cache=cache).reading_schema(7) is found


# -- schemas of keys ---------------------------------------------------------------------------------------------------


def test_the_schema_of_a_key_is_looked_up_once_whatever_its_subject(server, connect):
    server.add(8, '"string"')
    client = connect()
    read = client.key_schema(8)
    assert read(b"\0\0\0\0\x08\x08pump") == "pump"
    server.trouble = lambda _: (503, b"")
    assert client.key_schema(8) is read
    assert server.asked == ["/schemas/ids/8"]


def test_an_id_may_be_that_of_a_key_and_of_a_reading(server, connect):
    server.add(8, record(field("number", "int")), ("readings-value", 4))
    client = connect()
    assert client.key_schema(8)(b"\0\0\0\0\x08\x0e") == "7"
    assert client.reading_schema(8).space.names == ("number",)
    assert client.key_schema(8)(b"\0\0\0\0\x08\x0e") == "7"


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


def test_unknown_ids_of_keys_are_limited_together_and_leave_look_ups_for_readings(connect):
    client = connect()
    for schema_id in range(1_000_000, 1_000_005):
        refused(client.key_schema, schema_id)
    assert isinstance(unavailable(client.key_schema, 1_000_005), LookupRateError)
    assert client.reading_schema(7, "pump").id == 7


def test_an_allowance_does_not_pile_up():
    allowance = TokenBucket(0.5, 0.0)
    assert allowance.wait_s(0.0) == 0.0
    assert allowance.wait_s(0.0) == 2.0
    assert allowance.wait_s(1_000_000.0) == 0.0
    assert allowance.wait_s(1_000_000.0) == 2.0


def test_a_backoff_begins_anew_after_a_success():
    backoff = Backoff(1.0, 8.0)
    for most in (1.0, 2.0, 4.0, 8.0, 8.0):
        backoff.failed(0.0)
        assert most / 2 <= backoff.wait_s(0.0) <= most
    backoff.succeeded()
    assert backoff.wait_s(0.0) == 0.0
    backoff.failed(0.0)
    assert backoff.wait_s(0.0) <= 1.0


# -- credentials -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_says_which_settings_to_look_at(server, connect, status):
    server.trouble = lambda _: (status, {"message": "no"})
    client = connect()
    for ask in (client.check, lambda: client.register("s", "{}")):
        with pytest.raises(RegistryRefusedError, match=r"registry.username .* registry.bearer_token") as error:
            ask()
        assert server.url in str(error.value)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_of_a_running_job_is_waited_for_and_told_once(server, connect, clock, caplog, status):
    client = connect()
    known = client.reading_schema(7)
    server.add(8, SCHEMA, ("readings-value", 4))
    server.trouble = lambda _: (status, {"message": "no"})
    for _ in range(3):
        error = unavailable(client.reading_schema, 8)
        assert isinstance(error, CredentialsRefusedError)
        assert "registry.bearer_token" in str(error)
        assert client.reading_schema(7) is known
        clock.now += error.retry_after_ms / 1000 + TURN_S
    assert len([line for line in caplog.messages if "registry.bearer_token" in line]) == 1
    server.trouble = lambda _: None
    assert client.reading_schema(8).version == 4


def test_an_id_that_we_may_not_see_delays_no_other(server, connect):
    server.add(8, SCHEMA, ("readings-value", 4))
    server.trouble = lambda handler: (403, {}) if handler.path == "/schemas/ids/9" else None
    client = connect()
    unavailable(client.reading_schema, 9)
    assert client.reading_schema(8).version == 4


def test_an_id_at_which_the_registry_fails_does_not_starve_others(server, connect, clock):
    server.add(8, SCHEMA, ("readings-value", 4))
    server.trouble = lambda handler: (500, {}) if handler.path == "/schemas/ids/9" else None
    client = connect()
    for _ in range(8):
        clock.now += unavailable(client.reading_schema, 9).retry_after_ms / 1000 + TURN_S
    unavailable(client.reading_schema, 9)
    wait = unavailable(client.reading_schema, 8).retry_after_ms
    clock.now += wait / 1000  # both wait until now; the one that failed before comes first
    asked = len(server.asked)
    assert unavailable(client.reading_schema, 9).retry_after_ms <= 1000 * TURN_S
    assert len(server.asked) == asked
    assert client.reading_schema(8).version == 4


@pytest.mark.parametrize(
    ("settings", "header"),
    [
        ({"username": "user", "password": "pässword"}, "Basic dXNlcjpww6Rzc3dvcmQ="),
        ({"username": "user"}, "Basic dXNlcjo="),
        ({"bearer_token": "abc.def\n"}, "Bearer abc.def"),
        ({}, None),
    ],
)
def test_credentials_are_sent(server, connect, monkeypatch, tmp_path, settings, header):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login other password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTP_PROXY", NOWHERE)
    connect(**settings).check()
    assert server.headers[-1].get("Authorization") == header


def test_credentials_in_the_url_are_sent_and_not_shown(server, connect):
    client = connect(url=server.url.replace("//", f"//user:{SECRET}%40@"))
    client.check()
    assert server.headers[-1]["Authorization"] == "Basic dXNlcjpodW50ZXIyLXNlY3JldEA="
    server.trouble = lambda _: (500, b"")
    assert SECRET not in str(unavailable(client.check))


@pytest.mark.parametrize(
    "settings",
    [
        {"bearer_token": f"{SECRET}\nX-Other: 1"},
        {"bearer_token": f"{SECRET}ü"},
        {"url": f"http://user:{SECRET}@"},
        {"url": f"ftp://user:{SECRET}@host"},
        {"url": f"http://user:{SECRET}@host:port"},
        {"url": ""},
        {"url": "https://127.0.0.1:9", "ca_file": "/nowhere.pem"},
        {"url": "https://127.0.0.1:9", "ca_file": __file__},
    ],
)
def test_settings_that_cannot_work_stop_the_job_without_showing_secrets(connect, settings):
    with pytest.raises(RegistryRefusedError) as error:
        connect(**settings)
    assert SECRET not in "".join(traceback.format_exception(error.value))
    assert "registry." in str(error.value)


def test_no_secret_is_logged_or_shown(server, connect, caplog):
    caplog.set_level(logging.DEBUG)
    replies = [(500, b""), (401, b""), (200, b"x"), (404, b"")]
    for settings in ({"username": "u", "password": SECRET}, {"bearer_token": SECRET}):
        for reply in replies:
            server.trouble = lambda _, reply=reply: reply
            client = connect(**settings)
            with pytest.raises(EmlError) as error:
                client.check()
            assert SECRET not in "".join(traceback.format_exception(error.value))
            assert SECRET not in repr(vars(client))
    assert SECRET not in caplog.text


# -- TLS ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


def test_a_server_of_an_authority_nobody_named_is_not_trusted(connect, certificates):
    with serving(certificates.server_context(ask_client=False)) as secure:
        error = unavailable(connect(url=secure.url, bearer_token=SECRET).check)
        assert "registry.ca_file" in str(error)
        assert secure.asked == []
        connect(url=secure.url, ca_file=certificates.path("ca.crt")).check()


def test_mutual_tls(connect, certificates):
    ca_file = certificates.path("ca.crt")
    ours = {"certificate_file": certificates.path("client.crt"), "key_file": certificates.path("client.key")}
    with serving(certificates.server_context(ask_client=True)) as secure:
        connect(url=secure.url, ca_file=ca_file, **ours).check()
        unavailable(connect(url=secure.url, ca_file=ca_file).check)
        assert len(secure.asked) == 1


def test_a_certificate_rotated_on_disk_is_shown_from_the_next_question_on(connect, certificates, tmp_path):
    ours = {"certificate_file": tmp_path / "crt", "key_file": tmp_path / "key"}
    stale = Certificates(tmp_path)  # of an authority that the server does not trust

    def put(name: str, source: Certificates, part: str) -> None:
        ours[name].write_bytes(Path(source.path(part)).read_bytes())

    put("certificate_file", stale, "client.crt")
    put("key_file", stale, "client.key")
    with serving(certificates.server_context(ask_client=True)) as secure:
        paths = {name: str(path) for name, path in ours.items()}
        client = connect(url=secure.url, ca_file=certificates.path("ca.crt"), retry_ms=1, longest_retry_ms=1, **paths)
        http = client._http
        with pytest.raises(AnswerError):
            http.ask("GET", "/subjects")
        put("certificate_file", certificates, "client.crt")  # and the key does not fit yet
        with pytest.raises(AnswerError):
            http.ask("GET", "/subjects")
        put("key_file", certificates, "client.key")
        assert http.ask("GET", "/subjects").status == 200


# -- secrets in files --------------------------------------------------------------------------------------------------


def demand(server: RegistryServer, secret: str) -> None:
    right = f"Basic {b64encode(f'user:{secret}'.encode()).decode()}"
    server.trouble = lambda handler: None if handler.headers["Authorization"] == right else (401, {"message": "no"})


@pytest.mark.parametrize("swap", ["written over", "replaced", "a link that turns"])
def test_a_password_rotated_on_disk_is_sent_from_the_next_question_on(server, connect, tmp_path, swap):
    file = tmp_path / "password"
    if swap == "a link that turns":  # as Kubernetes does it
        for name in ("old", "new"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "password").write_text(f"{name}\n")
        (tmp_path / "data").symlink_to("old")
        file.symlink_to("data/password")
    else:
        file.write_text("old\n")
    demand(server, "old")
    client = connect(username="user", password_file=str(file))
    client.check()
    if swap == "a link that turns":
        (tmp_path / "next").symlink_to("new")
        (tmp_path / "next").replace(tmp_path / "data")
    elif swap == "replaced":
        (tmp_path / "next").write_text("new\n")
        (tmp_path / "next").replace(file)
    else:
        file.write_text("new\n")
    demand(server, "new")
    asked = len(server.asked)
    client.check()
    assert len(server.asked) == asked + 1, "nothing was refused"


def test_a_refusal_makes_us_look_into_a_file_that_seems_the_same(server, connect, tmp_path):
    file = tmp_path / "password"
    file.write_text("old")
    client = connect(username="user", password_file=str(file))
    before = file.stat()
    file.write_text("new")  # as long, and as old as far as the clock of the disk can tell
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    demand(server, "new")
    client.check()
    assert len(server.asked) == 2


def test_a_secret_that_is_refused_is_not_sent_twice(server, connect, tmp_path):
    file = tmp_path / "password"
    file.write_text("wrong")
    demand(server, "right")
    with pytest.raises(RegistryRefusedError, match="password_file"):
        connect(username="user", password_file=str(file)).check()
    assert len(server.asked) == 1


@pytest.mark.parametrize("content", [None, b"", b"\xff"])
def test_a_file_in_the_middle_of_a_rotation_leaves_the_former_secret(server, connect, tmp_path, caplog, content):
    file = tmp_path / "token"
    file.write_text("old")
    client = connect(bearer_token_file=str(file))
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    for _ in range(2):
        client.check()
        assert server.headers[-1]["Authorization"] == "Bearer old"
    assert len([line for line in caplog.messages if "registry.bearer_token_file" in line]) == 1
    file.write_text("new")
    client.check()
    assert server.headers[-1]["Authorization"] == "Bearer new"


@pytest.mark.parametrize("content", [None, b" \n", b"\xff", SECRET.encode() + b" 2"])
def test_a_file_without_a_secret_stops_the_start(connect, tmp_path, content):
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RegistryRefusedError, match=r"registry\.bearer_token_file") as error:
        connect(bearer_token_file=str(file))
    assert SECRET not in "".join(traceback.format_exception(error.value))


# -- tools and job start -----------------------------------------------------------------------------------------------


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
