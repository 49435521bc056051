"""A registry behind TLS: a proxy that lets in who shows the right credentials, and asks the real registry."""

import base64
import http.client
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from eml.local.process import LOOPBACK
from tests.integration.secured.certificates import Certificate


def basic(user: str, password: str) -> str:
    """What a client with basic authentication sends."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def bearer(token: str) -> str:
    """What a client with a token sends."""
    return f"Bearer {token}"


class RegistryProxy:
    """`authorization` is what requests must carry, and may change at any time; None: nothing.

    With `clients`, the file of an authority, clients must show a certificate of it (mutual TLS).
    """

    def __init__(
        self, registry_url: str, certificate: Certificate, authorization: str | None = None, clients: Path | None = None
    ) -> None:
        self.authorization = authorization
        self.refused = 0
        self._target = urlsplit(registry_url)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.certificate, certificate.key)
        if clients is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(clients)
        self._server = _Server((LOOPBACK, 0), self._handler())
        # The handshake in the connection's own thread, at its first read: one that hangs must not stop the others.
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://{LOOPBACK}:{self._server.server_address[1]}{self._target.path}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if proxy.authorization is not None and self.headers.get("Authorization") != proxy.authorization:
                    proxy.refused += 1
                    self._answer(401, b"{}")
                else:
                    self._answer(*proxy.ask(self.command, self.path, body))

            do_POST = do_GET  # noqa: N815  as the base class wants it

            def _answer(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """A test's output is not for requests."""

        return Handler

    def ask(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """The real registry's status and body."""
        connection = http.client.HTTPConnection(str(self._target.hostname), self._target.port, timeout=20)
        try:
            connection.request(method, path, body or None, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: Any) -> None:
        """A client that breaks off (a handshake it does not like) is what some tests are about."""
