"""A small registry on loopback, as good or as bad as a test wants it."""

import json
import re
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

Reply = tuple[int, Any]
NOT_FOUND = 404, {"error_code": 40403, "message": "Schema not found"}


class RegistryServer(ThreadingHTTPServer):
    """Answers as Confluent's registry does, unless `trouble` answers instead."""

    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.scheme = "https" if tls else "http"
        self.schemas: dict[int, dict[str, Any]] = {}
        self.places: dict[int, list[dict[str, Any]]] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.trouble: Callable[[_Handler], Reply | None] = lambda _: None

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}"

    def add(self, schema_id: int, schema: object, *places: tuple[str, int], **more: object) -> None:
        self.schemas[schema_id] = {"schema": schema if isinstance(schema, str) else json.dumps(schema), **more}
        self.places[schema_id] = [{"subject": subject, "version": version} for subject, version in places]

    def reply(self, method: str, path: str, body: Any) -> Reply:
        if path == "/subjects":
            return 200, sorted({place["subject"] for places in self.places.values() for place in places})
        if found := re.fullmatch(r"/schemas/ids/(\d+)(/versions)?", path):
            schema_id = int(found[1])
            return (200, (self.places if found[2] else self.schemas)[schema_id]) if self._has(schema_id) else NOT_FOUND
        if found := re.fullmatch(r"/subjects/([^/]+)/versions(?:/(latest|[0-9]+))?", path):
            subject = unquote(found[1])
            return self._register(subject, body) if method == "POST" else self._versions(subject, found[2])
        return NOT_FOUND

    def _has(self, schema_id: int) -> bool:
        return schema_id in self.schemas

    def _register(self, subject: str, body: Any) -> Reply:
        schema_id = 100 + len(self.schemas)
        self.add(schema_id, body["schema"], (subject, 1))
        return 200, {"id": schema_id}

    def _versions(self, subject: str, which: str | None) -> Reply:
        found = {p["version"]: i for i, places in self.places.items() for p in places if p["subject"] == subject}
        if which is None and found:
            return 200, sorted(found)
        version = max(found, default=0) if which == "latest" else int(which or 0)
        if version not in found:
            return NOT_FOUND
        schema_id = found[version]
        return 200, {"subject": subject, "version": version, "id": schema_id, **self.schemas[schema_id]}

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up, or whose certificate is refused, is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections
    wbufsize = -1  # an answer in one packet: the second one would wait for the first to be acknowledged
    server: RegistryServer

    def setup(self) -> None:
        self.server.connections += 1
        super().setup()

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body: Any) -> None:
        self.server.asked.append(self.path)
        self.server.headers.append(dict(self.headers))
        reply = self.server.trouble(self)
        if reply is None:
            reply = self.server.reply(self.command, self.path, body)
        status, content = reply
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Say nothing."""


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[RegistryServer]:
    with RegistryServer(tls) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class Certificates:
    """An authority of our own, a server's certificate from it and a client's; made with openssl."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._run("req", "-x509", *self._new_key("ca"), "-subj", "/CN=test authority", "-out", self.path("ca.crt"))
        self._issue("server", "subjectAltName=IP:127.0.0.1")
        self._issue("client", "extendedKeyUsage=clientAuth")

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def server_context(self, *, ask_client: bool) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path("server.crt"), self.path("server.key"))
        if ask_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.path("ca.crt"))
        return context

    def _new_key(self, name: str) -> list[str]:
        return [
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            self.path(f"{name}.key"),
        ]

    def _issue(self, name: str, extension: str) -> None:
        (self.folder / f"{name}.ext").write_text(extension)
        self._run("req", *self._new_key(name), "-subj", f"/CN={name}", "-out", self.path(f"{name}.csr"))
        authority = ["-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key"), "-CAcreateserial"]
        files = ["-in", self.path(f"{name}.csr"), "-out", self.path(f"{name}.crt")]
        self._run("x509", "-req", *files, *authority, "-extfile", self.path(f"{name}.ext"))

    @staticmethod
    def _run(*arguments: str) -> None:
        openssl = shutil.which("openssl")
        assert openssl, "openssl makes the certificates of these tests"
        subprocess.run([openssl, *arguments], check=True, capture_output=True)  # noqa: S603  our own arguments
