"""What changed between two trees of components, so that a browser is told of that alone.

Called by `page`. Dash builds all of a component's children anew when they are set: a reader would lose the focus, an
opened detail, a chart under the pointer, every two seconds. So each component gets an id by its place, and
only the properties that differ are set, as deep inside as it goes.
"""

from collections.abc import Mapping
from typing import Any

from dash.development.base_component import Component

from eml.watch.components import children, is_html, kind, properties

Properties = Mapping[str, Any]
FEW = 24  # components of a table that are set one by one; of more, a browser is quicker with all of them anew
CLICKABLE = frozenset({"Button"})  # all else is told not to listen to clicks: screen readers would call it clickable


def with_ids(tree: Component, prefix: str = "at") -> Component:
    """The same tree; every component in it has an id."""
    if not getattr(tree, "id", None):
        setattr(tree, "id", prefix)  # noqa: B010  Dash's class does not declare it
    if is_html(tree) and kind(tree) not in CLICKABLE:
        setattr(tree, "disable_n_clicks", True)  # noqa: B010  same
    for number, child in enumerate(children(tree)):
        if isinstance(child, Component):
            with_ids(child, f"{prefix}-{number}")
    return tree


def changes(old: Component, new: Component) -> dict[str, Properties] | None:
    """Properties to set, by component id; None: it is another screen."""
    return _inside(old, new) if _same(old, new) else None


def _inside(old: Component, new: Component) -> dict[str, Properties]:
    was, own = properties(old), properties(new)
    changed = {name: value for name, value in own.items() if was[name] != value}
    before, after = children(old), children(new)
    deeper: dict[str, Properties] = {}
    if len(before) == len(after) and all(map(_matches, before, after)):
        for one, other in zip(before, after, strict=True):
            if isinstance(one, Component):
                deeper |= _inside(one, other)
        if kind(new) == "Tbody" and len(deeper) > FEW:
            changed["children"], deeper = after, {}
    else:
        changed["children"] = after
    return ({str(own["id"]): changed} if changed else {}) | deeper


def _matches(one: object, other: object) -> bool:
    """Whether the one can become the other by setting properties of it, or of components in it."""
    if isinstance(one, Component) and isinstance(other, Component):
        return _same(one, other)
    return not isinstance(one, Component) and one == other


def _same(old: Component, new: Component) -> bool:
    was, own = properties(old), properties(new)
    return kind(old) == kind(new) and was.keys() == own.keys() and was["id"] == own["id"]
