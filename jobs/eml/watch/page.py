"""The live page: Dash in waitress.

Called by the command `eml watch`, and by `eml demo`. Knows neither Kafka nor the registry, only a `Fleet`.
"""

import logging
import socket
from threading import Thread
from types import TracebackType
from typing import Any, Self

import waitress

from eml.watch.application import application
from eml.watch.doors import Doors, WatchError
from eml.watch.views import Fleet

THREADS = 8  # a browser asks for six things at once when it opens the page
LARGEST_ANSWER = 16 << 20  # bytes; Plotly and a saved file have 5 MB, and need no temporary file on their way
CLOSING_S = 5.0
LARGEST_PORT = 65_535
LARGEST_REQUEST = 1 << 20  # bytes; the page sends some hundred


class Page:
    """A server with the page; `with` closes it."""

    def __init__(self, fleet: Fleet, host: str = "127.0.0.1", port: int = 0, token: str | None = None) -> None:
        app = application(fleet, Doors(host, token))
        listening = _listen(host, port)
        self.port: int = listening.getsockname()[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"
        self._open: dict[int, Any] = {}  # waitress's sockets, its own map of them is one for all servers of a process
        self._server = waitress.create_server(
            app.server,
            map=self._open,
            sockets=[listening],
            threads=THREADS,
            ident=None,
            max_request_body_size=LARGEST_REQUEST,
            outbuf_overflow=LARGEST_ANSWER,
        )
        self._thread: Thread | None = None
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # that a request waits for a thread is no news

    def run(self) -> None:
        """Answer until `close`, or Ctrl-C."""
        try:
            self._server.run()
        finally:
            self._server.task_dispatcher.shutdown()

    def start(self) -> Self:
        """Answer in a thread, until `close`."""
        self._thread = Thread(target=self.run, name="eml watch", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop to answer."""
        if self._thread is None:
            self._end()
        else:
            self._server.trigger.pull_trigger(self._end)
            self._thread.join(CLOSING_S)

    def _end(self) -> None:
        for channel in list(self._open.values()):
            channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= LARGEST_PORT:
        raise WatchError(f"There is no port {port}: choose another --port, from 0 to {LARGEST_PORT}.")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
        return socket.create_server((address[0], port), family=family)
    except (OSError, UnicodeError) as error:
        why = f"The page cannot listen on {host}:{port} ({error}): choose another --host or --port."
        raise WatchError(why) from error
