"""What the hostile tests share: a broker, and a registry that serves any text as a schema."""

from collections.abc import Iterator

import pytest

from eml.local.stack import Stack, running
from tests.integration.conftest import quick_java  # noqa: F401  a fixture
from tests.unit.stream.registry.registry_server import RegistryServer, serving


@pytest.fixture(scope="session")
def server() -> Iterator[RegistryServer]:
    with serving() as started:
        yield started


@pytest.fixture(scope="session")
def stack(server: RegistryServer) -> Iterator[Stack]:
    with running(registry_url=server.url) as started:
        yield started
