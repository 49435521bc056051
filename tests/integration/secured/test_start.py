"""What a secured cluster does not allow is said before a job starts: each right that is missing, each way in."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from eml.local import topics as local_topics
from tests.integration.harness import Job, Topics
from tests.integration.secured import start_checks
from tests.integration.secured.broker import Acl
from tests.integration.secured.stack import USER, Secured, least_acls

pytestmark = pytest.mark.slow
LONGEST_S = 20.0


class Checks:
    """The job's start check in a process of its own."""

    def __init__(self, secured: Secured, folder: Path) -> None:
        self._secured, self._folder = secured, folder
        self.labels = f"labels-{folder.name}"
        local_topics.create(secured.bootstrap_servers, [self.labels])
        self.topics = Topics.new(secured)
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, start_checks.__file__, str(self._file({}))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "FLINK_LOG_DIR": str(folder)},
        )

    def say(self, **kafka: object) -> str:
        """What the check says of these settings."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{self._file(kafka)}\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer["seconds"] < LONGEST_S
        return cast("str", answer["said"])

    def _file(self, kafka: dict[str, object]) -> Path:
        file = self._folder / "eml.toml"
        settings = self._secured.kafka(**{"labels_topic": self.labels, **kafka})
        file.write_text(Job(self._secured, self.topics, self._folder, {"kafka": settings}).toml())
        return file


@pytest.fixture(scope="module")
def checks(secured: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checks]:
    checks = Checks(secured, tmp_path_factory.mktemp("checks"))
    secured.secured_broker.allow(USER, *least_acls(checks.topics, checks.labels))
    yield checks
    checks.process.kill()
    checks.process.communicate()


def test_the_least_rights_suffice(checks: Checks):
    assert checks.say() == ""


def test_each_right_that_is_missing_is_named(secured: Secured, checks: Checks):
    for acl in least_acls(checks.topics, checks.labels):
        secured.secured_broker.take_away(USER, acl)
        try:
            said = checks.say()
        finally:
            secured.secured_broker.allow(USER, acl)
        assert len(said.splitlines()) == 1, said
        _assert_named(acl, said)


def test_a_right_to_see_is_not_a_right_to_use(secured: Secured, checks: Checks):
    topics = checks.topics
    for resource, name, operation in (
        ("TOPIC", topics.readings, "READ"),
        ("TOPIC", topics.dead_letters, "WRITE"),
        ("GROUP", topics.predictions, "READ"),
    ):
        secured.secured_broker.take_away(USER, (resource, name, operation))
        secured.secured_broker.allow(USER, (resource, name, "DESCRIBE"))
        try:
            said = checks.say()
        finally:
            secured.secured_broker.take_away(USER, (resource, name, "DESCRIBE"))
            secured.secured_broker.allow(USER, (resource, name, operation))
        assert f"has no right to {operation} it" in said
        _assert_named((resource, name, operation), said)


def _assert_named(acl: Acl, said: str) -> None:
    resource, name, operation = acl
    option = f"--{resource.lower().replace('_', '-')} {name.removesuffix('*')}"
    assert option in said
    assert f"--operation {operation.capitalize()} {option}" in said
    setting = {"GROUP": "kafka.group_id", "TRANSACTIONAL_ID": "kafka.transactional_id_prefix"}.get(resource, "_topic)")
    assert setting in said


def test_at_least_once_needs_no_transactional_ids(secured: Secured, checks: Checks):
    acl = ("TRANSACTIONAL_ID", f"{checks.topics.predictions}*", "WRITE")
    secured.secured_broker.take_away(USER, acl)
    try:
        assert checks.say(delivery="at-least-once") == ""
    finally:
        secured.secured_broker.allow(USER, acl)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sasl.mechanism": "PLAIN"}, "look at sasl.mechanism in [kafka.properties]"),
        ({"security.protocol": "SSL"}, "a listener that wants users to log in (SASL) hangs up"),
        ({"security.protocol": "SASL_PLAINTEXT"}, "speaks TLS, but security.protocol is SASL_PLAINTEXT"),
        ({"sasl.jaas.config": "com.example.NoModule required;"}, "No LoginModule found for com.example.NoModule"),
        ({"ssl.truststore.location": "/no/such/file"}, "/no/such/file"),
    ],
)
def test_a_client_that_does_not_fit_is_told_what_to_look_at(
    secured: Secured, checks: Checks, change: dict[str, str], said: str
):
    _assert_one_line(secured, checks.say(properties={**secured.properties(), **change}), said)


def test_a_wrong_password_a_stranger_and_a_plain_client_are_told_what_to_look_at(secured: Secured, checks: Checks):
    wrong = checks.say(properties=secured.properties("wrong"))
    _assert_one_line(secured, wrong, "the user or its password is wrong: look at sasl.jaas.config")
    stranger = {**secured.properties(), "ssl.truststore.location": str(secured.stranger.file)}
    _assert_one_line(secured, checks.say(properties=stranger), "certificate is not trusted: look at ssl.truststore.*")
    _assert_one_line(secured, checks.say(properties={}), "speaks TLS, but security.protocol is PLAINTEXT")
    plain = checks.say(bootstrap_servers=secured.bootstrap_servers)
    _assert_one_line(secured, plain, "does not speak TLS, but security.protocol is SASL_SSL")


def _assert_one_line(secured: Secured, said: str, wanted: str) -> None:
    assert wanted in said
    assert len(said.splitlines()) == 1
    assert secured.password not in said
