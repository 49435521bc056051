"""What the page asks the registry: names of versions, schemas by id, and what a subject's versions have."""

import time

import pytest

from eml.settings import KafkaSettings, RegistrySettings, Settings
from eml.watch.fleet_view import FleetView
from eml.watch.registry import VERSIONS, Registry
from eml.watch.schema_watch import SchemaWatch
from tests.unit.stream.registry.registry_server import serving
from tests.watched import IDS, framed, prediction
from tests.watched_topics import readings_schema


@pytest.fixture
def server():
    with serving() as server:
        for version in (1, 2):
            server.add(IDS[version], readings_schema(version), ("readings-value", version), ("others", 7))
        yield server


@pytest.fixture
def registry(server):
    registry = Registry(Settings(KafkaSettings(), RegistrySettings(url=server.url, retry_ms=1, longest_retry_ms=1)))
    yield registry
    registry.close()


def seen(version=2):
    view = FleetView()
    fields = prediction(schema_id=IDS[version], schema_version=version)
    view.add_predictions([(fields, fields["source_timestamp"], framed("prediction", fields))])
    return view


def test_versions_get_their_names_and_features_their_matrix(registry):
    view = seen()
    SchemaWatch(registry, view).ask()
    assert view.summary().versions == {"readings-value v2": 1}
    assert view.summary().problem == ""
    (matrix,) = view.features()
    assert (matrix.subject, matrix.versions) == ("readings-value", [1, 2])
    assert dict(zip(matrix.features, matrix.cells, strict=True)) == {
        "temperature": ["survived", "survived"],
        "rpm": ["survived", "renamed"],
        "oil_pressure": ["survived", "vanished"],
        "acoustic": ["absent", "augmented"],
    }


def test_a_version_is_asked_for_once(registry, server):
    watch = SchemaWatch(registry, seen())
    watch.ask()
    before = len(server.asked)
    watch.ask()
    assert sorted(server.asked[before:]) == ["/subjects", "/subjects/readings-value/versions"]


def test_only_the_newest_versions_are_shown(registry, server):
    for version in range(3, 40):
        server.add(100 + version, readings_schema(2), ("readings-value", version))
    ((_, versions),) = registry.subjects().items()
    assert [schema.version for schema in versions] == list(range(40 - VERSIONS, 40))


def test_what_cannot_be_one_of_readings_is_left_out(registry, server):
    server.add(50, '{"type": "record", "name": "N", "fields": [{"name": "a", "type": "bytes"}]}', ("readings-value", 3))
    server.add(51, "message Reading {}", ("readings-value", 4), schemaType="PROTOBUF")
    server.add(52, '{"type": "rec', ("readings-value", 5))
    ((_, versions),) = registry.subjects().items()
    assert [schema.version for schema in versions] == [1, 2]
    view = seen()
    for schema_id in (51, 52, 999):
        fields = prediction(key=f"pump-{schema_id}", schema_id=schema_id, schema_version=9)
        view.add_predictions([(fields, fields["source_timestamp"], b"")])
    SchemaWatch(registry, view).ask()
    assert view.summary().versions["schema 999 v9"] == 1


def test_a_registry_that_is_down_is_reported_and_asked_again(registry, server):
    view = seen()
    watch = SchemaWatch(registry, view)
    server.trouble = lambda _: (503, {})
    watch.ask()
    assert "registry.url" in view.summary().problem
    assert registry.text(IDS[1]) is None
    server.trouble = lambda _: None
    time.sleep(0.05)  # it is not asked again at once
    watch.ask()
    assert view.summary().problem == ""
    assert registry.text(IDS[1]) == readings_schema(1)


def test_a_schema_that_the_registry_does_not_know_has_no_text(registry):
    assert registry.text(999) is None
