"""A registry on loopback, a clock that stands still, and clients of both."""

from collections.abc import Iterator

import pytest

from eml.settings import RegistrySettings
from eml.stream.registry.client import SchemaRegistry
from tests.unit.stream.registry.asking import RECORD, SCHEMA, Clock
from tests.unit.stream.registry.registry_server import RegistryServer, serving


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
