"""What is in a Dash component: its kind, properties and children, with types that Dash does not give.

Called by `changes` and `rendering`.
"""

from typing import Any

from dash.development.base_component import Component


def kind(component: Component) -> str:
    """Its class: Div, Table, Graph, ..."""
    return str(_described(component)["type"])


def is_html(component: Component) -> bool:
    """Whether it is an element, and no part with a life of its own."""
    return str(_described(component)["namespace"]) == "dash_html_components"


def properties(component: Component) -> dict[str, Any]:
    """What was set on it, but for its children."""
    return {name: value for name, value in _described(component)["props"].items() if name != "children"}


def children(component: Component) -> list[Any]:
    """What it holds, as a list."""
    held = getattr(component, "children", None)
    if held is None:
        return []
    return list(held) if isinstance(held, (list, tuple)) else [held]


def _described(component: Any) -> dict[str, Any]:  # noqa: ANN401  Dash's class has no types here
    described: dict[str, Any] = component.to_plotly_json()
    return described
