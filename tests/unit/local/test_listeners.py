"""Telling a TLS listener from one without, so that a client of the wrong kind need not wait."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eml.local.listeners import mismatch, speaks_tls
from eml.settings import KafkaSettings


@contextmanager
def listening(answer: Callable[[socket.socket], object]) -> Iterator[str]:
    """A listener that handles one connection; its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join(5)


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
