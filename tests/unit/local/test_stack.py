"""A stack of parts given by address, and the addresses of a stack's own parts; no process is started here."""

import socket

import pytest

from eml.local import broker as brokers
from eml.local.errors import LocalError, UnreachableError
from eml.local.process import LOOPBACK, free_port
from eml.local.stack import Stack, running

NOBODY = f"{LOOPBACK}:1"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(brokers, "ANSWER_TIMEOUT_S", 0.3)


def test_a_stack_s_own_parts_are_on_the_loopback_interface(tmp_path):
    stack = Stack(tmp_path, broker_port=20_001, registry_port=20_002)
    assert stack.bootstrap_servers == "127.0.0.1:20001"
    assert stack.registry_url == "http://127.0.0.1:20002/apis/ccompat/v7"
    for value in stack.broker.properties().values():
        assert "0.0.0.0" not in str(value)  # noqa: S104  that is the point
    stack.stop()  # nothing runs: nothing happens


def test_a_part_given_by_address_is_not_ours_to_stop(tmp_path):
    stack = Stack(tmp_path, "broker.example:9092", "https://registry.example")
    with pytest.raises(LocalError, match=r"broker at broker\.example:9092 was given by address"):
        _ = stack.broker
    with pytest.raises(LocalError, match=r"registry at https://registry\.example was given by address"):
        _ = stack.registry
    assert stack.processes == []


def test_a_given_broker_that_does_not_answer_is_an_error_before_anything_starts(tmp_path):
    with pytest.raises(UnreachableError, match=f"No Kafka broker answers at {NOBODY}"), running(tmp_path, NOBODY):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_given_registry_that_does_not_answer_is_an_error_before_anything_starts(tmp_path):
    url = f"http://{NOBODY}"
    with pytest.raises(UnreachableError, match=f"No registry answers at {url}"), running(tmp_path, registry_url=url):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_says_nothing_does_not_pass_for_a_broker(tmp_path):
    port = free_port()
    with socket.create_server((LOOPBACK, port)), pytest.raises(UnreachableError, match="No Kafka broker answers"):
        Stack(tmp_path, f"{LOOPBACK}:{port}", f"http://{NOBODY}").start()
