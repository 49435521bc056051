"""Telling a TLS listener from one without, so that a client of the wrong kind need not wait."""

import socket
import ssl
import subprocess
import time
from pathlib import Path

import pytest

from eml.local.errors import UnreachableError
from eml.local.listeners import check, mismatch, speaks_tls
from eml.settings import KafkaSettings
from tests.unit.local.listening import kafka, listening


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-subj", "/CN=x"]
    subprocess.run([*command, "-keyout", str(file), "-out", f"{file}.crt"], check=True, capture_output=True)  # noqa: S603
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def hang_up(connection: socket.socket) -> None:
    """As a plain listener of Kafka does when a request's length is impossible."""
    connection.recv(4)


def test_a_tls_listener_and_a_plain_client(tls):
    with listening(lambda connection: tls.wrap_socket(connection, server_side=True).close()) as address:
        said = mismatch(KafkaSettings(bootstrap_servers=address))
    assert said is not None
    assert f"{address} speaks TLS, but security.protocol is PLAINTEXT: set security.protocol" in said


def test_a_plain_listener_and_a_tls_client():
    with listening(hang_up) as address:
        said = mismatch(KafkaSettings(bootstrap_servers=address, properties={"security.protocol": "SASL_SSL"}))
    assert said is not None
    assert f"{address} does not speak TLS, but security.protocol is SASL_SSL" in said


def test_what_fits_is_no_mismatch(tls):
    with listening(hang_up) as address:
        assert mismatch(KafkaSettings(bootstrap_servers=f"127.0.0.1:9,{address}")) is None
    with listening(lambda connection: tls.wrap_socket(connection, server_side=True).close()) as address:
        assert mismatch(KafkaSettings(bootstrap_servers=address, properties={"security.protocol": "SSL"})) is None


def test_nobody_there_is_not_known():
    assert speaks_tls("127.0.0.1:9") is None
    assert speaks_tls("no-such-host.invalid:9092") is None


# -- before a job starts -----------------------------------------------------------------------------------------------


def http(connection: socket.socket) -> None:
    connection.recv(100)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def refusal(servers: str) -> str:
    begun = time.monotonic()
    with pytest.raises(UnreachableError) as refused:
        check(KafkaSettings(bootstrap_servers=servers))
    assert time.monotonic() - begun < 2
    assert "kafka.bootstrap_servers" in str(refused.value)
    return str(refused.value)


def test_addresses_without_kafka_are_reported_at_once():
    assert "no answer from the brokers at 127.0.0.1:9 (connection refused)" in refusal("127.0.0.1:9,127.0.0.1:10")
    assert "at no-such-host.invalid:9092 (there is no such host)" in refusal("no-such-host.invalid:9092")
    with listening(http, 3) as address:  # the registry's port, say
        assert f"what answers at {address} is no Kafka broker" in refusal(address)


def test_one_broker_that_answers_suffices():
    with listening(kafka, 3) as address:
        check(KafkaSettings(bootstrap_servers=f"127.0.0.1:9, {address}"))
