"""Secrets and certificates: refused ones, rotated ones, and that no message shows one."""

import logging
import os
import traceback
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest

from eml.core import EmlError
from eml.settings import RegistrySettings
from eml.stream.errors import (
    CredentialsRefusedError,
    RegistryRefusedError,
)
from eml.stream.registry.client import OTHERS_FIRST_S
from eml.stream.registry.http_client import AnswerError, RegistryHttp
from tests.unit.stream.registry.asking import NOWHERE, SCHEMA, SECRET, unavailable
from tests.unit.stream.registry.registry_server import Certificates, RegistryServer, serving


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_says_which_settings_to_look_at(server, connect, status):
    server.trouble = lambda _: (status, {"message": "no"})
    client = connect()
    for ask in (client.check, lambda: client.register("s", "{}")):
        with pytest.raises(RegistryRefusedError, match=r"registry.username .* registry.bearer_token") as error:
            ask()
        assert server.url in str(error.value)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_of_a_running_job_is_waited_for_and_told_once(server, connect, clock, caplog, status):
    client = connect()
    known = client.reading_schema(7)
    server.add(8, SCHEMA, ("readings-value", 4))
    server.trouble = lambda _: (status, {"message": "no"})
    for _ in range(3):
        error = unavailable(client.reading_schema, 8)
        assert isinstance(error, CredentialsRefusedError)
        assert "registry.bearer_token" in str(error)
        assert client.reading_schema(7) is known
        clock.now += error.retry_after_ms / 1000 + OTHERS_FIRST_S
    assert len([line for line in caplog.messages if "registry.bearer_token" in line]) == 1
    server.trouble = lambda _: None
    assert client.reading_schema(8).version == 4


def test_an_id_that_we_may_not_see_delays_no_other(server, connect):
    server.add(8, SCHEMA, ("readings-value", 4))
    server.trouble = lambda handler: (403, {}) if handler.path == "/schemas/ids/9" else None
    client = connect()
    unavailable(client.reading_schema, 9)
    assert client.reading_schema(8).version == 4


def test_an_id_at_which_the_registry_fails_does_not_starve_others(server, connect, clock):
    server.add(8, SCHEMA, ("readings-value", 4))
    server.trouble = lambda handler: (500, {}) if handler.path == "/schemas/ids/9" else None
    client = connect()
    for _ in range(8):
        clock.now += unavailable(client.reading_schema, 9).retry_after_ms / 1000 + OTHERS_FIRST_S
    unavailable(client.reading_schema, 9)
    wait = unavailable(client.reading_schema, 8).retry_after_ms
    clock.now += wait / 1000  # both wait until now; the one that failed before comes first
    asked = len(server.asked)
    assert unavailable(client.reading_schema, 9).retry_after_ms <= 1000 * OTHERS_FIRST_S
    assert len(server.asked) == asked
    assert client.reading_schema(8).version == 4


@pytest.mark.parametrize(
    ("settings", "header"),
    [
        ({"username": "user", "password": "pässword"}, "Basic dXNlcjpww6Rzc3dvcmQ="),
        ({"username": "user"}, "Basic dXNlcjo="),
        ({"bearer_token": "abc.def\n"}, "Bearer abc.def"),
        ({}, None),
    ],
)
def test_credentials_are_sent(server, connect, monkeypatch, tmp_path, settings, header):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login other password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTP_PROXY", NOWHERE)
    connect(**settings).check()
    assert server.headers[-1].get("Authorization") == header


def test_credentials_in_the_url_are_sent_and_not_shown(server, connect):
    client = connect(url=server.url.replace("//", f"//user:{SECRET}%40@"))
    client.check()
    assert server.headers[-1]["Authorization"] == "Basic dXNlcjpodW50ZXIyLXNlY3JldEA="
    server.trouble = lambda _: (500, b"")
    assert SECRET not in str(unavailable(client.check))


@pytest.mark.parametrize(
    "settings",
    [
        {"bearer_token": f"{SECRET}\nX-Other: 1"},
        {"bearer_token": f"{SECRET}ü"},
        {"url": f"http://user:{SECRET}@"},
        {"url": f"ftp://user:{SECRET}@host"},
        {"url": f"http://user:{SECRET}@host:port"},
        {"url": ""},
        {"url": "https://127.0.0.1:9", "ca_file": "/nowhere.pem"},
        {"url": "https://127.0.0.1:9", "ca_file": __file__},
    ],
)
def test_settings_that_cannot_work_stop_the_job_without_showing_secrets(connect, settings):
    with pytest.raises(RegistryRefusedError) as error:
        connect(**settings)
    assert SECRET not in "".join(traceback.format_exception(error.value))
    assert "registry." in str(error.value)


def test_no_secret_is_logged_or_shown(server, connect, caplog):
    caplog.set_level(logging.DEBUG)
    replies = [(500, b""), (401, b""), (200, b"x"), (404, b"")]
    for settings in ({"username": "u", "password": SECRET}, {"bearer_token": SECRET}):
        for reply in replies:
            server.trouble = lambda _, reply=reply: reply
            client = connect(**settings)
            with pytest.raises(EmlError) as error:
                client.check()
            assert SECRET not in "".join(traceback.format_exception(error.value))
            assert SECRET not in repr(vars(client))
    assert SECRET not in caplog.text


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


def test_a_server_of_an_authority_nobody_named_is_not_trusted(connect, certificates):
    with serving(certificates.server_context(ask_client=False)) as secure:
        error = unavailable(connect(url=secure.url, bearer_token=SECRET).check)
        assert "registry.ca_file" in str(error)
        assert secure.asked == []
        connect(url=secure.url, ca_file=certificates.path("ca.crt")).check()


def test_mutual_tls(connect, certificates):
    ca_file = certificates.path("ca.crt")
    ours = {"certificate_file": certificates.path("client.crt"), "key_file": certificates.path("client.key")}
    with serving(certificates.server_context(ask_client=True)) as secure:
        connect(url=secure.url, ca_file=ca_file, **ours).check()
        unavailable(connect(url=secure.url, ca_file=ca_file).check)
        assert len(secure.asked) == 1


def test_a_certificate_rotated_on_disk_is_shown_from_the_next_question_on(certificates, tmp_path):
    ours = {"certificate_file": tmp_path / "crt", "key_file": tmp_path / "key"}
    stale = Certificates(tmp_path)  # of an authority that the server does not trust

    def put(name: str, source: Certificates, part: str) -> None:
        ours[name].write_bytes(Path(source.path(part)).read_bytes())

    put("certificate_file", stale, "client.crt")
    put("key_file", stale, "client.key")
    with serving(certificates.server_context(ask_client=True)) as secure:
        paths = {name: str(path) for name, path in ours.items()}
        authority = RegistrySettings(url=secure.url, timeout_ms=5_000, ca_file=certificates.path("ca.crt"))
        shown = replace(authority, certificate_file=paths["certificate_file"], key_file=paths["key_file"])
        http = RegistryHttp(shown, 1_000)
        with pytest.raises(AnswerError):
            http.ask("GET", "/subjects")
        put("certificate_file", certificates, "client.crt")  # and the key does not fit yet
        with pytest.raises(AnswerError):
            http.ask("GET", "/subjects")
        put("key_file", certificates, "client.key")
        assert http.ask("GET", "/subjects").status == 200


def demand(server: RegistryServer, secret: str) -> None:
    right = f"Basic {b64encode(f'user:{secret}'.encode()).decode()}"
    server.trouble = lambda handler: None if handler.headers["Authorization"] == right else (401, {"message": "no"})


@pytest.mark.parametrize("swap", ["written over", "replaced", "a link that turns"])
def test_a_password_rotated_on_disk_is_sent_from_the_next_question_on(server, connect, tmp_path, swap):
    file = tmp_path / "password"
    if swap == "a link that turns":  # as Kubernetes does it
        for name in ("old", "new"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "password").write_text(f"{name}\n")
        (tmp_path / "data").symlink_to("old")
        file.symlink_to("data/password")
    else:
        file.write_text("old\n")
    demand(server, "old")
    client = connect(username="user", password_file=str(file))
    client.check()
    if swap == "a link that turns":
        (tmp_path / "next").symlink_to("new")
        (tmp_path / "next").replace(tmp_path / "data")
    elif swap == "replaced":
        (tmp_path / "next").write_text("new\n")
        (tmp_path / "next").replace(file)
    else:
        file.write_text("new\n")
    demand(server, "new")
    asked = len(server.asked)
    client.check()
    assert len(server.asked) == asked + 1, "nothing was refused"


def test_a_refusal_makes_us_look_into_a_file_that_seems_the_same(server, connect, tmp_path):
    file = tmp_path / "password"
    file.write_text("old")
    client = connect(username="user", password_file=str(file))
    before = file.stat()
    file.write_text("new")  # as long, and as old as far as the clock of the disk can tell
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    demand(server, "new")
    client.check()
    assert len(server.asked) == 2


def test_a_secret_that_is_refused_is_not_sent_twice(server, connect, tmp_path):
    file = tmp_path / "password"
    file.write_text("wrong")
    demand(server, "right")
    with pytest.raises(RegistryRefusedError, match="password_file"):
        connect(username="user", password_file=str(file)).check()
    assert len(server.asked) == 1


@pytest.mark.parametrize("content", [None, b"", b"\xff"])
def test_a_file_in_the_middle_of_a_rotation_leaves_the_former_secret(server, connect, tmp_path, caplog, content):
    file = tmp_path / "token"
    file.write_text("old")
    client = connect(bearer_token_file=str(file))
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    for _ in range(2):
        client.check()
        assert server.headers[-1]["Authorization"] == "Bearer old"
    assert len([line for line in caplog.messages if "registry.bearer_token_file" in line]) == 1
    file.write_text("new")
    client.check()
    assert server.headers[-1]["Authorization"] == "Bearer new"


@pytest.mark.parametrize("content", [None, b" \n", b"\xff", SECRET.encode() + b" 2"])
def test_a_file_without_a_secret_stops_the_start(connect, tmp_path, content):
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RegistryRefusedError, match=r"registry\.bearer_token_file") as error:
        connect(bearer_token_file=str(file))
    assert SECRET not in "".join(traceback.format_exception(error.value))
