"""What the integration tests share: one running stack for all of them, and how Java runs in it."""

import os
from collections.abc import Iterator

import pytest

from eml.local.stack import Stack, running


@pytest.fixture(scope="session", autouse=True)
def quick_java() -> Iterator[None]:
    """Java compiles once, and not again for speed that a minute does not pay back: a job starts in 14 s of CPU, not 24.

    Whatever the tests start inherits it: broker, registry, jobs, clusters.
    """
    with pytest.MonkeyPatch.context() as patch:
        if "JAVA_TOOL_OPTIONS" not in os.environ:
            patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """A broker and a registry: started here, or those that EML_TEST_BROKER and EML_TEST_REGISTRY name.

    All tests share them, so a test takes topics and subjects of its own, and starts again what it stops.
    """
    broker, registry = os.environ.get("EML_TEST_BROKER"), os.environ.get("EML_TEST_REGISTRY")
    with running(bootstrap_servers=broker, registry_url=registry) as stack:
        yield stack
