"""One secured stack for all of its tests."""

from collections.abc import Iterator

import pytest

from tests.integration.secured.stack import Secured, running


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker with SASL_SSL and ACLs, and a registry: topics and subjects are each test's own."""
    with running(tmp_path_factory.mktemp("secured")) as stack:
        yield stack
