"""Dash components as a text of HTML, for the saved file: the same screens, without a server.

Called by `saving`. Every text and every attribute is escaped. Charts become empty elements and are given back beside
the text, for whoever draws them; links lead to nothing in a file, so their text stays.
"""

from html import escape
from typing import Any

from dash import dcc
from dash.development.base_component import Component

from eml.watch.components import children, kind, properties
from eml.watch.figures import Figure

VOID = frozenset({"br", "hr", "img", "wbr"})
NAMES = {"className": "class", "htmlFor": "for", "dateTime": "datetime", "tabIndex": "tabindex", "colSpan": "colspan"}
LEFT_OUT = frozenset({"id", "disable_n_clicks", "n_clicks", "href", "download"})


class Rendered:
    """A text, and the charts that belong into it."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []

    def html(self, node: Any) -> str:  # noqa: ANN401  a component's child may be anything that is shown
        """A component, a text, or a list of them."""
        if node is None:
            return ""
        if isinstance(node, (list, tuple)):
            return "".join(self.html(each) for each in node)
        if not isinstance(node, Component):
            return escape(str(node))
        if isinstance(node, dcc.Graph):
            self.figures.append(properties(node)["figure"])
            return f'<div class="graph" id="chart-{len(self.figures)}"></div>'
        return self._element(node)

    def _element(self, node: Component) -> str:
        tag = "span" if isinstance(node, dcc.Link) else kind(node).lower()
        inside = self.html(children(node))
        if tag == "button":  # there is no script in the file that would answer it
            return ""
        opened = f"<{tag}{_attributes(node)}>"
        return opened if tag in VOID else f"{opened}{inside}</{tag}>"


def _attributes(node: Component) -> str:
    written = [
        f' {escape(NAMES.get(name, name))}="{escape(str(value))}"'
        for name, value in properties(node).items()
        if name not in LEFT_OUT and value is not None and isinstance(value, (str, int, float))
    ]
    return "".join(written)
