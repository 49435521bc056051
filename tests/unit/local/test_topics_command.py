"""`eml topics` without a broker: which topics it makes, and what it says."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from eml import cli
from eml.local import listeners, topics
from eml.local.process import free_port

NAMES = ["readings", "labels", "predictions", "scores", "evolutions", "dead-letters"]


class FakeAdmin:
    """A broker with some topics; writes down what is made."""

    def __init__(self, there: list[str], error: KafkaException | None = None) -> None:
        self._there, self._error = there, error
        self.made: list[tuple[str, int, int]] = []

    def list_topics(self, timeout: float) -> Any:  # noqa: ARG002  as the client's
        if self._error:
            raise self._error
        described = type("Topic", (), {"partitions": [0, 1, 2]})
        return type("Metadata", (), {"topics": dict.fromkeys(self._there, described)})

    def create_topics(self, wanted: list[Any], request_timeout: float) -> dict[str, Any]:  # noqa: ARG002
        self.made += [(one.topic, one.num_partitions, one.replication_factor) for one in wanted]
        return {}


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / "eml.toml"
    file.write_text(
        "[kafka]\nbootstrap_servers = 'localhost:9092'\nlabels_topic = 'labels'\n[registry]\nurl = 'http://localhost:8081'\n"
        "[kafka.properties]\nsecurity.protocol = 'SSL'\n"
    )
    return file


def with_broker(monkeypatch: pytest.MonkeyPatch, admin: FakeAdmin) -> list[dict[str, str]]:
    asked: list[dict[str, str]] = []

    def client(properties: dict[str, str]) -> FakeAdmin:
        asked.append(properties)
        return admin

    monkeypatch.setattr(topics, "AdminClient", client)
    monkeypatch.setattr(listeners, "check", lambda _kafka: None)  # somebody listens
    return asked


def test_only_what_is_missing_is_made(settings, monkeypatch, capsys):
    admin = FakeAdmin(["readings", "other"])
    asked = with_broker(monkeypatch, admin)
    assert cli.main(["topics", "create", "--settings", str(settings), "--partitions", "8", "--replicas", "3"]) == 0
    assert admin.made == [(name, 8, 3) for name in NAMES[1:]]
    assert asked[0]["security.protocol"] == "SSL"
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=1) for line in lines] == [
        ["readings", "there already"],
        *([n, "made"] for n in NAMES[1:]),
    ]


def test_where_all_are_there_nothing_is_made(settings, monkeypatch):
    admin = FakeAdmin(NAMES)
    with_broker(monkeypatch, admin)
    assert cli.main(["topics", "create", "--settings", str(settings)]) == 0
    assert admin.made == []


def test_a_broker_that_does_not_answer_is_named(settings, monkeypatch, capsys):
    with_broker(monkeypatch, FakeAdmin([], KafkaException(KafkaError(KafkaError._TRANSPORT))))
    assert cli.main(["topics", "create", "--settings", str(settings)]) == 3
    assert "localhost:9092 does not answer" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["create", "list"])
def test_an_address_where_nobody_listens_is_told_at_once(settings, capsys, action):
    nobody = f"127.0.0.1:{free_port()}"
    settings.write_text(settings.read_text().replace("localhost:9092", nobody))
    begun = time.monotonic()
    assert cli.main(["topics", action, "--settings", str(settings)]) == 3
    assert time.monotonic() - begun < 10, "a client would ask for twenty seconds"
    assert f"no answer from the brokers at {nobody}" in capsys.readouterr().err


def test_the_list_says_which_are_missing_and_under_which_setting(settings, monkeypatch, capsys):
    with_broker(monkeypatch, FakeAdmin(NAMES[1:]))
    assert cli.main(["topics", "list", "--settings", str(settings), "--json"]) == 1
    found = {each["topic"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["readings"] == {"setting": "kafka.readings_topic", "topic": "readings", "partitions": None}
    assert {found[name]["partitions"] for name in NAMES[1:]} == {3}


def test_the_list_is_well_where_all_are_there(settings, monkeypatch, capsys):
    with_broker(monkeypatch, FakeAdmin(NAMES))
    assert cli.main(["topics", "list", "--settings", str(settings)]) == 0
    assert "missing" not in capsys.readouterr().out
