"""The frame around every screen: where to go, how the job is, find, save, light and dark.

Called by `page`; the screens come into `MAIN`.
"""

from dash import dcc, html
from dash.development.base_component import Component

from eml.watch import addresses, words
from eml.watch.addresses import Address
from eml.watch.aria import PRESSED, labelled
from eml.watch.views import Summary

MAIN, STATE, BANNER, FIND, SAVE, WHERE, TICK, SHOWN = (
    "main",
    "state",
    "banner",
    "find",
    "save",
    "where",
    "tick",
    "shown",
)
TICK_MS = 2_000  # a person sees a change at once, and a server with ten viewers hardly notices them
SAVING = "/save"
PLACES = {
    addresses.FLEET: "Fleet",
    addresses.DEVICES: "Devices",
    addresses.EVOLUTIONS: "Evolutions",
    addresses.FEATURES: "Features",
    addresses.DEAD_LETTERS: "Dead letters",
}
EARLY = "EARLY"  # where the document has the page as it is before Dash has begun
# Dash fills in its own parts. The script runs before anything is drawn, so a dark page never flashes white.
DOCUMENT = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<title>{%title%}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<script src="/assets/page.js"></script>
{%css%}
</head>
<body>
<div id="early" aria-busy="true">EARLY</div>
{%app_entry%}
{%config%}
{%scripts%}
{%renderer%}
</body>
</html>"""


def frame(address: Address | None = None, now: Summary | None = None, shown: Component | None = None) -> Component:
    """The page; without a screen where Dash fills it in."""
    return html.Div(
        [
            dcc.Location(id=WHERE, refresh="callback-nav"),
            dcc.Interval(id=TICK, interval=TICK_MS),
            dcc.Store(id=SHOWN),
            html.A("Skip to content", href=f"#{MAIN}", className="skip"),
            html.Header(_header(address, now), className="top"),
            html.Div(banner(now), id=BANNER, role="status", className=banner_class(now)),
            html.Div(AWAY, role="alert", className="banner bad away"),
            html.Main(shown, id=MAIN, tabIndex=-1),
            html.Footer("EML watch reads topics and registry, and writes nothing. Times are in UTC."),
        ],
        className="page",
    )


def _header(address: Address | None, now: Summary | None) -> list[Component]:
    links = [
        dcc.Link(title, href=addresses.write(Address(place)), id=f"to-{place}", className=place_class(place, address))
        for place, title in PLACES.items()
    ]
    word, look = state(now)
    find = dcc.Input(
        id=FIND, type="search", placeholder="Find a device", debounce=0.4, maxLength=200, autoComplete="off", value=""
    )
    return [
        html.Div([html.Span("EML", className="brand"), html.Span(word, id=STATE, className=look)], className="name"),
        html.Nav(links, className="places", **labelled("Screens")),
        html.Div(
            [
                html.Label([html.Span("Find a device", className="unseen"), find], htmlFor=FIND),
                html.A("Save", id=SAVE, href=SAVING, download="", className="button", title=SAVE_TITLE),
                html.Button("Dark", id="theme", type="button", className="button", **PRESSED),
            ],
            className="tools",
        ),
    ]


LONGEST_PROBLEM = 1_000  # characters: a broker's messages are part of it
AWAY = "The server of this page does not answer, so what you see is old. Is `eml watch` still running?"
SAVE_TITLE = "Save what is shown as one HTML file, to attach to a ticket"


def place_class(place: str, at: Address | None) -> str:
    """How a link to a place looks while another one, or it, is open."""
    opened = addresses.DEVICES if at and at.place == addresses.DEVICE else at and at.place
    return "place here" if place == opened else "place"


def state(now: Summary | None) -> tuple[str, str]:
    """In a word how the page is doing, and how that looks."""
    if now is None:
        return "", "state"
    if now.problem:
        return "Problem", "state bad"
    return ("Catching up", "state busy") if now.reading else ("Live", "state good")


def banner(now: Summary | None) -> str:
    """What is wrong and what to do; empty while all is well."""
    if now is None:
        return ""
    return words.plain(now.problem, LONGEST_PROBLEM) or (
        "Reading what the topics hold; numbers grow until that is done." if now.reading else ""
    )


def banner_class(now: Summary | None) -> str:
    """How the banner looks."""
    return "banner bad" if now and now.problem else "banner"
