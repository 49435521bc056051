"""What our client relies on in a real registry."""

import json
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
import requests

from eml.local.stack import Stack
from eml.settings import KafkaSettings, RecordSettings, RegistrySettings, Settings
from eml.stream.errors import BadSchemaError, IncompatibleSchemaError
from eml.stream.registry.answers import UNRULED
from eml.stream.registry.client import SchemaRegistry
from eml.stream.registry.subjects import Subjects

TIMEOUT_S = 10

pytestmark = pytest.mark.slow


@pytest.fixture
def subject() -> str:
    """A subject nobody else has; the slash must survive the address."""
    return f"test-{uuid.uuid4().hex[:12]}/a-value"


@pytest.fixture
def registry(stack: Stack, subject: str) -> Iterator[SchemaRegistry]:
    with_topic = Settings(kafka=KafkaSettings(readings_topic=subject.removesuffix("-value")))
    # Without patience: what is missing here is missing for good.
    settings = RegistrySettings(url=stack.registry_url, timeout_ms=10_000, unknown_id_patience_ms=0)
    client = SchemaRegistry(settings, RecordSettings(), subjects=Subjects.of(with_topic))
    yield client
    client.close()


def schema(subject: str, *features: str, **more: Any) -> str:
    """A schema that no other test registers: a registry may have one id for equal ones."""
    fields = [{"name": name, "type": "double", **more} for name in features]
    name = f"R{subject.partition('-')[2].partition('/')[0]}"
    return json.dumps({"type": "record", "name": name, "fields": fields})


def address(stack: Stack, path: str, subject: str) -> str:
    return f"{stack.registry_url}/{path}/{quote(subject, safe='')}"


def test_what_is_registered_is_found_by_its_id(registry, subject):
    registry.check()
    assert registry.latest_version(subject) is None
    first = registry.register(subject, schema(subject, "a"))
    assert registry.register(subject, schema(subject, "a")) == first
    second = registry.register(subject, schema(subject, "a", "b", default=0.0))
    assert registry.latest_version(subject) == (second, 2)
    found = [registry.reading_schema(each) for each in (first, second)]
    assert [(each.subject, each.version) for each in found] == [(subject, 1), (subject, 2)]
    assert found[1].space.names == ("a", "b")


def test_a_schema_of_several_subjects_has_the_version_of_ours(registry, subject):
    registry.register(subject, schema(subject, "a"))
    both = schema(subject, "a", "b", default=0.0)
    registry.register(f"0-{subject}", both)
    assert registry.reading_schema(registry.register(subject, both)).version == 2


def test_a_schema_of_another_subject_is_foreign_and_one_of_our_record_s_name_is_not(registry, subject):
    foreign = registry.reading_schema(registry.register(f"0-{subject}", schema(subject, "foreign")))
    with pytest.raises(BadSchemaError, match=r"record\.subjects") as error:
        foreign.check_reading()
    assert error.value.reason == "foreign-subject"
    name = f"R{subject.partition('-')[2].partition('/')[0]}"
    for number, ours in enumerate((name, f"{subject.removesuffix('-value')}-{name}")):
        found = registry.reading_schema(registry.register(ours, schema(subject, f"own_{number}")))
        found.check_reading()
        assert found.subject == ours


def test_schemas_of_keys_need_not_be_records(registry, subject):
    topic = subject.removesuffix("-value")
    key_id = registry.register(f"{topic}-key", '"string"')
    assert registry.key_schema(key_id)(b"\x08pump") == "pump"
    device = {"type": "record", "name": f"D{uuid.uuid4().hex}", "fields": [{"name": "number", "type": "long"}]}
    key_id = registry.register(f"{topic}-device-key", json.dumps(device))
    assert registry.key_schema(key_id)(b"\x0e") == "7"


def test_an_id_that_does_not_exist_is_unknown(registry):
    for schema_id in (0, 2**31 - 1):
        with pytest.raises(BadSchemaError) as error:
            registry.reading_schema(schema_id)
        assert error.value.reason == "unknown-schema"


def test_a_schema_outlives_its_deleted_subject(stack, registry, subject):
    schema_id = registry.register(subject, schema(subject, "a"))
    requests.delete(address(stack, "subjects", subject), timeout=TIMEOUT_S).raise_for_status()
    found = registry.reading_schema(schema_id)
    assert (found.subject, found.version, found.space.names) == ("", 0, ("a",))


def test_an_incompatible_schema_and_one_that_is_none_are_refused(stack, registry, subject):
    registry.register(subject, schema(subject, "a"))
    rule = {"compatibility": "BACKWARD"}
    requests.put(address(stack, "config", subject), json=rule, timeout=TIMEOUT_S).raise_for_status()
    with pytest.raises(IncompatibleSchemaError):
        registry.register(subject, schema(subject, "b"))
    with pytest.raises(BadSchemaError):
        registry.register(subject, "no schema")


def test_a_schema_is_judged_before_it_is_registered(registry, subject, stack):
    assert registry.verdict(subject, schema(subject, "a")) == UNRULED
    registry.register(subject, schema(subject, "a"))
    requests.put(address(stack, "config", subject), json={"compatibility": "BACKWARD"}, timeout=TIMEOUT_S)
    good = registry.verdict(subject, schema(subject, "a", "b", default=0.0))
    assert (good.compatible, good.mode) == (True, "BACKWARD")
    assert not registry.verdict(subject, schema(subject, "a", "b")).compatible
