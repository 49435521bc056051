"""What changed between two trees of components, so that a browser is told of that alone.

Called by `page`. Dash builds all of a component's children anew when they are set: a reader would lose the focus, an
opened detail, a chart under the pointer, every two seconds. So each component gets an id by its place, and of a tree of
the same shape only the properties that differ are set.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dash.development.base_component import Component

from eml.watch.components import children, is_html, kind, properties

Properties = Mapping[str, Any]
MOST = 80  # properties set one by one; a tree with more changes is set as a whole
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
    """Properties to set, by component id; None: the shape is another, or too much changed."""
    found: dict[str, Properties] = {}
    for change in _walk(old, new):
        if change is None or len(found) >= MOST:
            return None
        found[change[0]] = change[1]
    return found


def _walk(old: Component, new: Component) -> Iterator[tuple[str, Properties] | None]:
    was, own = properties(old), properties(new)
    before, after = children(old), children(new)
    if kind(old) != kind(new) or was.keys() != own.keys() or was["id"] != own["id"] or not _alike(before, after):
        yield None
        return
    changed = {name: value for name, value in own.items() if was[name] != value}
    if _is_text(before) and before != after:
        changed["children"] = after
    if changed:
        yield str(own["id"]), changed
    for one, other in zip(before, after, strict=False):
        if isinstance(one, Component) and isinstance(other, Component):
            yield from _walk(one, other)


def _alike(before: list[Any], after: list[Any]) -> bool:
    """Whether the one can become the other by setting properties, without touching components inside."""
    if _is_text(before) or _is_text(after):
        return _is_text(before) and _is_text(after)
    return len(before) == len(after) and all(
        isinstance(other, Component) if isinstance(one, Component) else one == other
        for one, other in zip(before, after, strict=True)
    )


def _is_text(held: list[Any]) -> bool:
    return not any(isinstance(child, Component) for child in held)
