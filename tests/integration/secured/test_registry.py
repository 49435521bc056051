"""A registry behind TLS: with basic authentication, with a bearer token, with mutual TLS."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from eml.core.errors import EmlError
from eml.settings import RecordSettings, RegistrySettings
from eml.stream.registry.client import SchemaRegistry
from eml.stream.wire import SchemaId
from tests.integration.secured.proxy import RegistryProxy, basic, bearer
from tests.integration.secured.stack import Secured, canary

pytestmark = pytest.mark.slow
SCHEMA = '{"type": "record", "name": "Secured", "fields": [{"name": "x", "type": "double"}]}'
Settings = Callable[..., RegistrySettings]


@pytest.fixture
def settings(secured: Secured) -> Settings:
    """Settings for the registry at an address, whose authority is trusted."""
    own = RegistrySettings(ca_file=str(secured.authority.file), timeout_ms=10_000)
    return lambda proxy, **more: replace(own, url=proxy.url, **more)


@contextmanager
def client(settings: RegistrySettings) -> Iterator[SchemaRegistry]:
    registry = SchemaRegistry(settings, RecordSettings())
    try:
        yield registry
    finally:
        registry.close()


def assert_works(settings: RegistrySettings) -> None:
    with client(settings) as registry:
        registry.check()
        schema_id = registry.register("secured-value", SCHEMA)
        assert registry.reading_schema(SchemaId(schema_id)).space.names == ("x",)


def refusal(settings: RegistrySettings) -> str:
    with client(settings) as registry, pytest.raises(EmlError) as error:
        registry.check()
    return str(error.value)


def test_basic_authentication(secured: Secured, settings: Settings):
    password = canary("basic")
    with RegistryProxy(secured.registry_url, secured.server, basic("eml", password)) as proxy:
        assert_works(settings(proxy, username="eml", password=password))
        said = refusal(settings(proxy, username="eml", password=canary("wrong")))
    assert "refuses us (401): look at registry.username and registry.password" in said
    assert "canary" not in said


def test_a_bearer_token(secured: Secured, settings: Settings):
    token = canary("token")
    with RegistryProxy(secured.registry_url, secured.server, bearer(token)) as proxy:
        assert_works(settings(proxy, bearer_token=token))
        said = refusal(settings(proxy, bearer_token=canary("wrong")))
        assert "registry.bearer_token" in said
        assert "canary" not in said
        assert "refuses us (401)" in refusal(settings(proxy))


def test_mutual_tls(secured: Secured, settings: Settings):
    shown = {"certificate_file": str(secured.client.certificate), "key_file": str(secured.client.key)}
    stranger = secured.stranger.issue("strange-client")
    unknown = {"certificate_file": str(stranger.certificate), "key_file": str(stranger.key)}
    with RegistryProxy(secured.registry_url, secured.server, clients=secured.authority.file) as proxy:
        assert_works(settings(proxy, **shown))
        for certificate in ({}, unknown):
            said = refusal(settings(proxy, **certificate))
            assert "registry.certificate_file" in said, said


def test_a_registry_nobody_vouches_for_is_not_spoken_to(secured: Secured, settings: Settings):
    password = canary("basic")
    with RegistryProxy(secured.registry_url, secured.stranger.issue("strange-server"), basic("eml", password)) as proxy:
        said = refusal(settings(proxy, username="eml", password=password))
        assert proxy.refused == 0
    assert "registry.ca_file" in said
    assert "canary" not in said


def test_a_token_rotated_on_disk_is_picked_up(secured: Secured, settings: Settings, tmp_path):
    file, old, new = tmp_path / "token", canary("old-token"), canary("new-token")
    file.write_text(old)
    with (
        RegistryProxy(secured.registry_url, secured.server, bearer(old)) as proxy,
        client(settings(proxy, bearer_token_file=str(file))) as registry,
    ):
        schema_id = registry.register("secured-value", SCHEMA)
        proxy.authorization = bearer(new)
        file.write_text(f"{new}\n")
        assert registry.reading_schema(SchemaId(schema_id)).space.names == ("x",)
