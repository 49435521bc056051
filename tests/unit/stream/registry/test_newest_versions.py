"""The newest version of a subject: asked for in the background, bounded, and never a reason to stop."""

import threading
import time
from collections.abc import Callable

import pytest

from eml.settings import RecordSettings, RegistrySettings
from eml.stream.registry.client import SchemaRegistry
from eml.stream.registry.newest_versions import SUBJECTS, NewestVersions
from tests.synthetic import reading_schema
from tests.unit.stream.registry.registry_server import serving

SOON_S = 20.0  # at most: a busy machine is slow, not wrong


@pytest.fixture
def server():
    with serving() as made:
        made.add(1, reading_schema(["a", "b"]), ("readings-value", 1))
        yield made


@pytest.fixture
def make(server):
    made = []

    def start(every_ms: int = 20, **settings: object) -> NewestVersions:
        registry = SchemaRegistry(RegistrySettings(url=server.url, retry_ms=1, **settings), RecordSettings())  # type: ignore[arg-type]
        made.append(NewestVersions(registry, every_ms))
        return made[-1]

    yield start
    for newest in made:
        newest.close()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < end, "it should have happened by now"
        time.sleep(0.005)


def version_of(newest: NewestVersions, subject: str = "readings-value") -> int | None:
    found = newest.newest(subject)
    return None if found is None else found.version


def test_a_version_that_is_registered_later_is_noticed(server, make):
    newest = make()
    assert newest.newest("readings-value") is None, "nobody waits for the first answer"
    wait_until(lambda: version_of(newest) == 1)
    server.add(2, reading_schema(["b", "c"]), ("readings-value", 2))
    wait_until(lambda: version_of(newest) == 2)
    found = newest.newest("readings-value")
    assert found is not None
    assert (found.id, found.subject, found.space.names) == (2, "readings-value", ("b", "c"))


def test_a_version_that_is_taken_back_is_noticed(server, make):
    server.add(2, reading_schema(["b", "c"]), ("readings-value", 2))
    newest = make()
    wait_until(lambda: version_of(newest) == 2)
    del server.places[2], server.schemas[2]
    wait_until(lambda: version_of(newest) == 1)


def test_the_same_schema_under_two_subjects_has_the_version_of_the_one_asked_for(server, make):
    server.add(2, reading_schema(["b", "c"]), ("another-value", 7), ("readings-value", 2))
    newest = make()
    wait_until(lambda: version_of(newest) == 2)


def test_it_is_asked_once_per_interval_however_often_it_is_wanted(server, make):
    newest = make(every_ms=60_000)
    wait_until(lambda: version_of(newest) == 1)
    for _ in range(1000):
        newest.newest("readings-value")
    assert sum("latest" in path for path in server.asked) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_trouble_leaves_what_is_known(server, make, status):
    newest = make()
    wait_until(lambda: version_of(newest) == 1)
    server.trouble = lambda _: (status, {"message": "no"})
    asked = len(server.asked)
    wait_until(lambda: len(server.asked) > asked + 2)
    assert version_of(newest) == 1
    server.trouble = lambda _: None
    server.add(2, reading_schema(["b", "c"]), ("readings-value", 2))
    wait_until(lambda: version_of(newest) == 2)


def test_a_newest_version_that_cannot_be_used_is_left_alone(server, make):
    newest = make()
    wait_until(lambda: version_of(newest) == 1)
    server.add(2, {"type": "string"}, ("readings-value", 2))
    server.add(3, reading_schema([]), ("readings-value", 3))
    asked = len(server.asked)
    wait_until(lambda: len(server.asked) > asked + 4)
    assert version_of(newest) == 1


def test_the_number_of_subjects_is_bounded(make):
    newest = make(every_ms=60_000)
    wait_until(lambda: version_of(newest) == 1)
    for number in range(SUBJECTS):
        newest.newest(f"subject-{number}")
    assert version_of(newest) is None, "the one that was not asked for the longest is forgotten"


def test_it_can_be_turned_off(server, make):
    newest = make(every_ms=0)
    assert newest.newest("readings-value") is None
    assert not [thread for thread in threading.enumerate() if thread.name == "newest versions"]
    assert not server.asked
