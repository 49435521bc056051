"""The Dash application: what each address shows, and every two seconds what changed on it.

Called by `page`. Asks a `Fleet`, has `screens` draw its answers, and `doors` ask who comes.
"""

from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import dash
from dash import Dash, Input, Output, State, ctx, no_update
from dash.development.base_component import Component
from flask import Response, request

from eml.watch import addresses, layout, saving
from eml.watch.addresses import Address
from eml.watch.changes import changes, with_ids
from eml.watch.doors import Doors, guard
from eml.watch.rendering import Rendered
from eml.watch.screens.choice import screen
from eml.watch.views import Fleet

ASSETS = Path(__file__).parent / "assets"
KEPT = 64  # screens that are remembered, so that only what changed on them is sent; more viewers get all of it


def application(fleet: Fleet, doors: Doors) -> Dash:
    """The Dash application, with all its callbacks and its doors."""
    app = Early(
        fleet,
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


class Early(Dash):
    """Dash, with the screen in the document itself: it is seen before a script has run, and where none runs."""

    def __init__(self, fleet: Fleet, name: str, **options: Any) -> None:  # noqa: ANN401  Dash's own
        super().__init__(name, **options)
        self._fleet = fleet

    def interpolate_index(self, **parts: Any) -> str:  # type: ignore[override]  # noqa: ANN401  it is called by names
        """The document for the address that was asked for."""
        document: str = super().interpolate_index(**parts)  # type: ignore[no-untyped-call]
        address = addresses.read(quote(request.path, errors="surrogatepass"), request.query_string.decode("latin-1"))
        shown = screen(self._fleet, address) if address.place else None
        early = Rendered(linked=True).html(layout.frame(address, self._fleet.summary(), shown))
        return document.replace(f">{layout.EARLY}<", f">{early}<", 1)


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
    dash.set_props(layout.BANNER, {"children": layout.banner(now), "className": layout.banner_class(now)})
    dash.set_props(layout.SAVE, {"href": f"{layout.SAVING}?of={quote(f'{pathname}{query or str()}', safe='')}"})
    for place in layout.PLACES:
        dash.set_props(f"to-{place}", {"className": layout.place_class(place, address)})


def _saved(fleet: Fleet) -> Response:
    pathname, _, query = request.args.get("of", "/").partition("?")
    document = saving.document(fleet, addresses.read(pathname, query))
    name = f"attachment; filename={saving.file_name()}"
    return Response(document, mimetype="text/html", headers={"Content-Disposition": name})
