"""A registry that is behind, or has lost schemas: how long an unknown id is waited for."""

import pytest

from eml.stream.errors import (
    SchemaNotYetKnownError,
)
from eml.stream.registry.client import NEAR
from eml.stream.registry.schema_cache import SchemaCache
from eml.stream.wire import SchemaId
from tests.unit.stream.registry.asking import SCHEMA, refused, unavailable


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
    clock.now += 3_600
    unavailable(client.reading_schema, 9)  # what was unknown may be new again: patience begins anew


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


def test_what_is_not_had_is_remembered_up_to_a_bound(server, connect):
    client = connect(unknown_id_patience_ms=10_000, unknown_ids=3, lookups_per_second=100.0)
    for schema_id in range(20, 30):
        unavailable(client.reading_schema, schema_id)
    asked = len(server.asked)
    unavailable(client.reading_schema, 29)
    assert len(server.asked) == asked, "it is remembered that this one must wait"
    unavailable(client.reading_schema, 20)
    assert len(server.asked) == asked + 1, "this one was forgotten for later ones"


def test_clients_of_a_task_share_what_they_found(server, connect):
    cache = SchemaCache(10)
    found = connect(cache=cache).reading_schema(7)
    server.trouble = lambda _: (503, b"")
    assert connect(cache=cache).reading_schema(7) is found
