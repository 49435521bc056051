"""Tables, tiles, bars and lists: what the screens are put together from.

Called by the screens. Everything is a Dash component made of plain text, which Dash and the saved file escape; a table
has a caption, a heading for each column, and a scroll region of its own, so that the page never scrolls sideways.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from eml.watch import addresses, words
from eml.watch.addresses import Address
from eml.watch.aria import UNHEARD, labelled
from eml.watch.views import PAGE_ROWS

Cell = str | Component
LONG_VALUE = 12  # characters: a name, no number
LONGEST_LINE = 8_192  # characters of a command: device names are part of it
SHOWN = 200  # bars or list entries at most; what is beyond is counted


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    number: bool = False  # numbers are set to the right
    minor: bool = False  # left out on narrow screens
    link: str = ""  # orders by this column
    sorted: bool = False


def table(caption: str, columns: Sequence[Column], rows: Iterable[Sequence[Cell]], empty: str) -> Component:
    """A table, or what to do to fill it."""
    body = [_row(columns, row) for row in rows]
    if not body:
        return nothing(empty)
    head = html.Thead(html.Tr([_heading(column) for column in columns]))
    return html.Div(
        html.Table([html.Caption(caption, className="unseen"), head, html.Tbody(body)]),
        className="scroll",
        tabIndex=0,
        role="region",
        **labelled(caption),
    )


def nothing(text: str) -> Component:
    """What stands where there is nothing yet."""
    return html.P(text, className="empty")


def _row(columns: Sequence[Column], row: Sequence[Cell]) -> Component:
    first, *rest = row
    cells: list[Component] = [html.Th(first, scope="row", className=_kind(columns[0]))]
    cells += [html.Td(cell, className=_kind(column)) for column, cell in zip(columns[1:], rest, strict=True)]
    return html.Tr(cells)


def _heading(column: Column) -> Component:
    title = dcc.Link(column.title, href=column.link) if column.link else column.title
    ordered: dict[str, Any] = {"aria-sort": "descending" if column.number else "ascending"} if column.sorted else {}
    return html.Th(title, scope="col", className=_kind(column), **ordered)


def _kind(column: Column) -> str:
    return " ".join(name for name, there in (("number", column.number), ("minor", column.minor)) if there)


def pager(address: Address, shown: int, total: int) -> Component:
    """Where in a list this is, and the links to what is before and after."""
    if total <= shown and not address.page:
        return html.P(words.plural(total, "row"), className="pager")
    first = address.page * PAGE_ROWS + 1
    parts: list[Cell] = [
        html.Span(f"{words.number(first)} to {words.number(first + shown - 1)} of {words.number(total)}")
    ]
    if address.page:
        parts.insert(0, dcc.Link("\N{LEFTWARDS ARROW} Previous", href=addresses.write(address.at(address.page - 1))))
    if first + shown - 1 < total:
        parts.append(dcc.Link("Next \N{RIGHTWARDS ARROW}", href=addresses.write(address.at(address.page + 1))))
    return html.Nav(parts, className="pager", **labelled("Pages of this list"))


def bars(caption: str, counts: Mapping[str, int], empty: str, links: Mapping[str, str] | None = None) -> Component:
    """Counts with a bar each, largest first."""
    largest = max(counts.values(), default=0)
    total = sum(counts.values())
    ordered = sorted(counts.items(), key=lambda item: -item[1])[:SHOWN]
    rows = [
        (
            dcc.Link(words.plain(name), href=links[name]) if links and name in links else words.plain(name),
            _bar(count, largest, f"{words.plain(name)}: {words.number(count)}"),
            words.number(count),
            words.percent(count / total if total else None, 0),
        )
        for name, count in ordered
    ]
    columns = (Column("Name"), Column("Bar"), Column("Count", number=True), Column("Share", number=True))
    return html.Div(table(caption, columns, rows, empty), className="bars")


def shares(caption: str, parts: Mapping[str, float], name: str = "View") -> Component:
    """Shares of a whole with a bar each, largest first."""
    ordered = sorted(parts.items(), key=lambda item: -item[1])[:SHOWN]
    rows = [
        (words.plain(part), _bar(share, 1.0, f"{words.plain(part)}: {words.percent(share)}"), words.percent(share))
        for part, share in ordered
    ]
    columns = (Column(name), Column("Bar"), Column("Share", number=True))
    return html.Div(table(caption, columns, rows, "None."), className="bars")


def _bar(value: float, largest: float, label: str) -> Component:
    return html.Progress(value=str(value), max=str(largest or 1), **labelled(label))


def tile(name: str, value: Cell, note: Cell = "", tone: str = "") -> Component:
    """One number with its name, and what to hold it against."""
    size = "value long" if isinstance(value, str) and len(value) > LONG_VALUE else "value"
    parts = [html.Dt(name), html.Dd(value, className=size)]
    return html.Div([*parts, html.Dd(note, className="note")] if note else parts, className=f"tile {tone}".strip())


def tiles(children: Sequence[Component], label: str) -> Component:
    """Numbers side by side."""
    return html.Dl(list(children), className="tiles", **labelled(label))


def card(title: str, children: Sequence[Cell], kind: str = "") -> Component:
    """A part of a screen under a heading."""
    return html.Section([html.H2(title), *children], className=f"card {kind}".strip(), **labelled(title))


def names(title: str, values: Sequence[str], sign: str) -> Component | None:
    """Names of features, where there are any."""
    if not values:
        return None
    shown = [html.Li(words.plain(value)) for value in values[:SHOWN]]
    rest = [html.Li(f"and {words.number(len(values) - SHOWN)} more")] if len(values) > SHOWN else []
    heading = html.H3([html.Span(sign, className="sign", **UNHEARD), f" {title} ({len(values)})"])
    return html.Div([heading, html.Ul([*shown, *rest], className="names")])


def commands(lines: Sequence[str], what: str) -> Component:
    """Lines for a terminal, each with a button that copies it."""
    return html.Ul([_command(line, what) for line in lines], className="commands")


def _command(line: str, what: str) -> Component:
    button = html.Button("Copy", type="button", className="copy", **labelled(f"Copy the line that {what}"))
    return html.Li([html.Code(words.plain(line, LONGEST_LINE)), button])


def when(time_ms: int) -> Component:
    """A time in UTC."""
    return html.Time(words.moment(time_ms), dateTime=words.iso(time_ms))
