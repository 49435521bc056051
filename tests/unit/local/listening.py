"""Sockets that answer as somebody would: for tests of what stands at an address."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eml.local.listeners import API_VERSIONS


@contextmanager
def listening(answer: Callable[[socket.socket], object], connections: int = 1) -> Iterator[str]:
    """A listener that handles some connections; its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for _ in range(connections):
                connection, _ = server.accept()
                with connection:
                    answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join(5)


def kafka(connection: socket.socket) -> None:
    """As a plain listener of Kafka does with its first request, and with a TLS greeting."""
    said = connection.recv(100)
    if said[:14] == API_VERSIONS[:14]:
        connection.sendall(b"\0\0\0\x08" + API_VERSIONS[8:12] + b"\0\0\0\0")
