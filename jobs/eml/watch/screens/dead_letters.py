"""Dead letters: the list by reason, and one opened with its bytes.

Called by `screens.show`; asks the fleet, puts tables together.
"""

from dash import dcc, html
from dash.development.base_component import Component

from eml.watch import addresses, tables, words
from eml.watch.addresses import Address
from eml.watch.aria import labelled
from eml.watch.screens.missing import missing
from eml.watch.tables import Cell, Column
from eml.watch.views import DeadLetterDetail, DeadLetterRow, Fleet

COLUMNS = (
    Column("Reason"),
    Column("When (UTC)"),
    Column("Device"),
    Column("Message"),
    Column("Record", minor=True),
)
NONE = "None: every record could be read."


def show(fleet: Fleet, address: Address) -> Component:
    """The list, or one of them."""
    if address.number is not None:
        return opened(fleet, address.number)
    page = fleet.dead_letters(address.reason, address.page)
    return html.Div(
        [
            html.H1("Dead letters", tabIndex=-1),
            html.P("Records that could not be used, newest first, each with its reason.", className="lead"),
            _reasons(fleet, address),
            tables.table("Dead letters, newest first", COLUMNS, [_cells(row) for row in page.rows], NONE),
            tables.pager(address, len(page.rows), page.total),
        ],
        className="screen",
    )


def _reasons(fleet: Fleet, address: Address) -> Component:
    counts = fleet.summary().dead_letters
    choices = [("", "All", sum(counts.values())), *((reason, words.plain(reason), n) for reason, n in counts.items())]
    links = [
        dcc.Link(
            f"{name} ({words.number(count)})",
            href=addresses.write(Address(addresses.DEAD_LETTERS, reason=reason)),
            className="chip chosen" if reason == address.reason else "chip",
        )
        for reason, name, count in choices[: tables.SHOWN]
    ]
    return html.Nav(links, className="chips", **labelled("Dead letters by reason"))


def _cells(row: DeadLetterRow) -> tuple[Cell, ...]:
    return (
        dcc.Link(words.plain(row.reason), href=addresses.write(Address(addresses.DEAD_LETTERS, number=row.number))),
        tables.when(row.time_ms),
        dcc.Link(words.plain(row.key, 40) or "(no name)", href=addresses.device(row.key)),
        words.plain(row.message),
        words.plain(row.source, 60),
    )


def opened(fleet: Fleet, number: int) -> Component:
    """One dead letter with its bytes."""
    detail = fleet.dead_letter(number)
    if detail is None:
        why = "There is no such dead letter, or it is older than what is kept."
        return missing("Dead letter", why, addresses.DEAD_LETTERS)
    row = detail.row
    return html.Div(
        [
            html.H1(f"Dead letter: {words.plain(row.reason)}", tabIndex=-1),
            html.P([html.B(words.plain(row.message, 1_000))], className="lead"),
            html.P(
                ["Device ", dcc.Link(words.plain(row.key, 60) or "(no name)", href=addresses.device(row.key)), ", ",
                 tables.when(row.time_ms), f" UTC, record {words.plain(row.source)}."]
            ),
            html.Div([card for card in _cards(detail) if card is not None], className="cards"),
        ],
        className="screen",
    )  # fmt: skip


def _cards(detail: DeadLetterDetail) -> list[Component | None]:
    decoded = [
        (words.plain(name, 60), words.plain(value)) for name, value in list(detail.fields.items())[: tables.SHOWN]
    ]
    headers = [
        (words.plain(name, 60), words.plain(value)) for name, value in list(detail.headers.items())[: tables.SHOWN]
    ]
    two = (Column("Name"), Column("Value"))
    empty = "Not a field could be decoded."
    again = tables.commands(detail.commands, "sends it again")
    stopped = html.P(words.plain(detail.stopped_at, 1_000) or "All of it could be decoded.", className="note")
    return [
        tables.card("Send it again", [again], "wide") if detail.commands else None,
        tables.card("Decoded as far as it goes", [tables.table("Fields", two, decoded, empty), stopped]),
        tables.card("Headers", [tables.table("Headers", two, headers, "It has no headers.")]),
        tables.card("Bytes", [_bytes(detail)], "wide"),
    ]


def _bytes(detail: DeadLetterDetail) -> Component:
    dump = html.Pre(
        "\n".join(map(words.plain, detail.hex_lines)), tabIndex=0, role="region", **labelled("The value's bytes in hex")
    )
    return html.Div([html.P(words.plural(detail.length, "byte"), className="note"), dump])
