"""The live page: Dash in waitress.

Called by the command `eml watch`, and by `eml demo`. Asks a `Fleet` and shows its answers; knows neither Kafka nor the
registry. One callback draws: at a new address the whole screen, every two seconds what changed on it.
"""

import socket
import webbrowser
from collections import OrderedDict
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote
from uuid import uuid4

import dash
import waitress
from dash import Dash, Input, Output, State, ctx, no_update
from dash.development.base_component import Component
from flask import Response, request

from eml.watch import addresses, layout, saving
from eml.watch.addresses import Address
from eml.watch.changes import changes, with_ids
from eml.watch.doors import Doors, WatchError, guard
from eml.watch.screens.choice import screen
from eml.watch.views import Fleet

ASSETS = Path(__file__).parent / "assets"
THREADS = 4  # viewers that are answered at the same time
KEPT = 64  # screens that are remembered, so that only what changed on them is sent; more viewers get all of it
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
        )
        self._thread: Thread | None = None

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


def serve(fleet: Fleet, host: str, port: int, token: str | None, *, open_browser: bool) -> None:
    """Show the page until Ctrl-C."""
    with Page(fleet, host, port, token) as page:
        if open_browser:
            webbrowser.open(f"{page.url}?token={quote(token, safe='')}" if token else page.url)
        page.run()


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= LARGEST_PORT:
        raise WatchError(f"There is no port {port}: choose another --port, from 0 to {LARGEST_PORT}.")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
        return socket.create_server((address[0], port), family=family)
    except (OSError, UnicodeError) as error:
        why = f"The page cannot listen on {host}:{port} ({error}): choose another --host or --port."
        raise WatchError(why) from error


def application(fleet: Fleet, doors: Doors) -> Dash:
    """The Dash application, with all its callbacks and its doors."""
    app = Dash(
        __name__,
        assets_folder=str(ASSETS),
        assets_ignore=r"page\.js",  # in the document's head, before anything is drawn
        index_string=layout.DOCUMENT,
        title="EML watch",
        update_title="",
        serve_locally=True,
        suppress_callback_exceptions=True,  # screens come and go
        enable_mcp=False,
        add_log_handler=False,
    )
    app.layout = with_ids(layout.frame(), "frame")
    _add_callbacks(app, fleet, Shown())
    app.server.add_url_rule(layout.SAVING, "save", lambda: _saved(fleet))
    guard(app.server, doors, app.csp_hashes())
    return app


class Shown:
    """The screens that viewers have before them, by a name that each brings along."""

    def __init__(self) -> None:
        self._trees: OrderedDict[str, tuple[Address, Component]] = OrderedDict()
        self._lock = Lock()

    def keep(self, address: Address, tree: Component) -> str:
        """Remember a screen; its name."""
        name = uuid4().hex
        with self._lock:
            self._trees[name] = (address, tree)
            while len(self._trees) > KEPT:
                self._trees.popitem(last=False)
        return name

    def before(self, name: str | None, address: Address) -> Component | None:
        """The screen that a viewer has, if it is one of this address and still remembered."""
        with self._lock:
            known = self._trees.get(name or "")
        return known[1] if known and known[0] == address else None


def _add_callbacks(app: Dash, fleet: Fleet, shown: Shown) -> None:
    @app.callback(
        Output(layout.MAIN, "children"),
        Output(layout.SHOWN, "data"),
        Input(layout.WHERE, "pathname"),
        Input(layout.WHERE, "search"),
        Input(layout.TICK, "n_intervals"),
        State(layout.SHOWN, "data"),
    )
    def draw(pathname: str, query: str, _ticks: int | None, name: str | None) -> tuple[Any, Any]:
        address = addresses.read(pathname, query)
        _draw_frame(fleet, address, pathname, query)
        tree = with_ids(screen(fleet, address))
        before = shown.before(name, address) if ctx.triggered_id == layout.TICK else None
        changed = changes(before, tree) if before is not None else None
        if changed is None:
            return tree, shown.keep(address, tree)
        for component, properties in changed.items():
            dash.set_props(component, dict(properties))
        return no_update, shown.keep(address, tree) if changed else no_update

    @app.callback(Output(layout.WHERE, "href"), Input(layout.FIND, "value"), prevent_initial_call=True)
    def find(text: str | None) -> str:
        return addresses.write(Address(addresses.DEVICES, search=text or ""))


def _draw_frame(fleet: Fleet, address: Address, pathname: str, query: str) -> None:
    now = fleet.summary()
    word, look = layout.state(now)
    dash.set_props(layout.STATE, {"children": word, "className": look})
    dash.set_props(
        layout.BANNER, {"children": layout.banner(now), "className": "banner bad" if now.problem else "banner"}
    )
    dash.set_props(layout.SAVE, {"href": f"{layout.SAVING}?of={quote(f'{pathname}{query or str()}', safe='')}"})
    for place in layout.PLACES:
        dash.set_props(f"to-{place}", {"className": layout.place_class(place, address.place)})


def _saved(fleet: Fleet) -> Response:
    pathname, _, query = request.args.get("of", "/").partition("?")
    document = saving.document(fleet, addresses.read(pathname, query))
    name = f"attachment; filename={saving.file_name()}"
    return Response(document, mimetype="text/html", headers={"Content-Disposition": name})
