"""The screen for an address that shows nothing: what may be wrong, and where to go."""

from dash import dcc, html
from dash.development.base_component import Component

from eml.watch import addresses
from eml.watch.addresses import Address


def missing(title: str, why: str, place: str) -> Component:
    """Nothing is here; the link leads to the list."""
    link = dcc.Link("Back to the list", href=addresses.write(Address(place)))
    return html.Div([html.H1(title, tabIndex=-1), html.P(why, className="empty"), html.P(link)], className="screen")
