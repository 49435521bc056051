"""How many look-ups a task and its keys may make, and how long to wait after failures."""

import pytest

from eml.settings import RegistrySettings
from eml.stream.errors import (
    BadSchemaError,
    LookupRateError,
)
from eml.stream.registry.rate_limits import KEY_BURST, Backoff, LookupLimits, TokenBucket
from tests.unit.stream.registry.asking import SCHEMA, refused, unavailable


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


def test_the_allowances_of_keys_are_bounded(monkeypatch):
    monkeypatch.setattr("eml.stream.registry.rate_limits.KEYS", 3)
    limits = LookupLimits(RegistrySettings(lookups_per_second=1000.0, lookups_per_key_per_second=1.0), 0.0)
    for _ in range(int(KEY_BURST)):
        limits.take("first", 0.0)
    with pytest.raises(LookupRateError):
        limits.take("first", 0.0)
    for number in range(3):
        limits.take(f"key-{number}", 0.0)
    limits.take("first", 0.0)  # it was forgotten, and what it had used with it


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
