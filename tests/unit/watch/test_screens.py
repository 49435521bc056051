"""Every screen of a fleet of which every text is hostile: it stays text, wherever it stands."""

import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import pytest

from eml.watch import views
from eml.watch.addresses import Address
from eml.watch.changes import with_ids
from eml.watch.layout import frame
from eml.watch.rendering import Rendered
from eml.watch.saving import document
from eml.watch.screens.choice import SCREENS, screen
from eml.watch.views import Fleet

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\" onclick='x' javascript:x \u202e\ud800\0{x}"
ALLOWED = {
    "a", "article", "b", "button", "caption", "code", "dd", "details", "div", "dl", "dt", "figcaption", "figure",
    "footer", "h1", "h2", "h3", "header", "label", "li", "main", "nav", "p", "pre", "progress", "section", "span",
    "summary", "table", "tbody", "td", "th", "thead", "time", "tr", "ul",
}  # fmt: skip


def hostile(kind: Any, row: Any = None) -> Any:  # noqa: PLR0911  one for each sort of type
    """A value of a type, with that text wherever there is one."""
    origin, inside = get_origin(kind), get_args(kind)
    if isinstance(kind, TypeVar):
        return hostile(row)
    if is_dataclass(origin or kind):
        made = origin or kind
        hints = get_type_hints(made)
        return made(*(hostile(hints[each.name], inside[0] if inside else None) for each in fields(made)))
    if origin in (Union, types.UnionType):
        return hostile(inside[0], row)
    if origin is tuple:
        return tuple(hostile(each, row) for each in inside)
    if origin is Mapping:
        return {HOSTILE: hostile(inside[1], row)}
    if origin is Sequence:
        return [hostile(inside[0], row)]
    return {str: HOSTILE, int: 5, float: 0.5, bool: True}[kind]


class HostileFleet:
    """Answers every question with that text."""

    def __getattr__(self, name: str) -> Any:
        answer = hostile(get_type_hints(getattr(Fleet, name), vars(views))["return"])
        return lambda *_: answer


class Seen(HTMLParser):
    """The elements of a text of HTML, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]


@pytest.mark.parametrize("number", [None, 1])
@pytest.mark.parametrize("place", SCREENS)
def test_it_stays_text_wherever_it_stands(place, number):
    fleet: Any = HostileFleet()
    address = Address(place, key=HOSTILE, number=number, search=HOSTILE, reason=HOSTILE)
    shown = with_ids(frame(address, fleet.summary(), screen(fleet, address)))
    rendered = Rendered(linked=True)
    text = rendered.html(shown)
    assert text.encode()
    seen = Seen(text)
    assert seen.tags <= ALLOWED
    assert not [name for name in seen.attributes if name.startswith("on")]
    assert all(link.startswith(("/", "#")) and not link.startswith("//") for link in seen.links)
    for figure in rendered.figures:
        assert "<" not in json.dumps(figure).replace("<br>", "").replace("<extra>", "").replace("</extra>", "")


def test_so_it_does_in_the_saved_file():
    text = document(HostileFleet(), Address("device", key=HOSTILE))
    assert text.encode()
    assert HOSTILE[:20] not in text
    assert text.count("</script>") == 2  # Plotly's and ours


def test_a_dash_answer_carries_it_as_json():
    fleet: Any = HostileFleet()
    for place in SCREENS:
        tree = with_ids(screen(fleet, Address(place, key=HOSTILE, number=1)))
        assert json.dumps(tree.to_plotly_json(), default=lambda each: each.to_plotly_json()).encode()
