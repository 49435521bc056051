"""Dash components as a text of HTML: for the saved file, and for the first moment of the page, before Dash has begun.

Called by `saving` and `page`. Every text and every attribute is escaped. Charts become empty elements and are given
back beside the text, for whoever draws them. In a file links lead to nothing, so only their text stays.
"""

from html import escape
from typing import Any

from dash import dcc
from dash.development.base_component import Component

from eml.watch.components import children, is_html, kind, properties
from eml.watch.figures import Figure

VOID = frozenset({"br", "hr", "img", "wbr"})
NAMES = {"className": "class", "htmlFor": "for", "dateTime": "datetime", "tabIndex": "tabindex", "colSpan": "colspan"}
LEFT_OUT = frozenset({"id", "disable_n_clicks", "n_clicks"})
LINKS = frozenset({"href", "download"})


class Rendered:
    """A text, and the charts that belong into it."""

    def __init__(self, *, linked: bool = False) -> None:
        self._linked = linked  # there is a server behind it
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
        if isinstance(node, dcc.Input):
            return '<span class="dash-input-container"></span>'
        if not (is_html(node) or isinstance(node, dcc.Link)):
            return ""  # an address, a clock, a store
        tag = "a" if isinstance(node, dcc.Link) else kind(node).lower()
        if not self._linked:
            tag = {"a": "span", "button": ""}.get(tag, tag)
        if not tag:
            return ""
        opened = f"<{tag}{self._attributes(node)}>"
        return opened if tag in VOID else f"{opened}{self.html(children(node))}</{tag}>"

    def _attributes(self, node: Component) -> str:
        left_out = LEFT_OUT if self._linked else LEFT_OUT | LINKS
        written = [
            f' {escape(NAMES.get(name, name))}="{escape(str(value))}"'
            for name, value in properties(node).items()
            if name not in left_out and value is not None and isinstance(value, (str, int, float))
        ]
        return "".join(written)
