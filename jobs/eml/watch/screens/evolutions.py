"""Evolutions: the list, and one opened with what became of it.

Called by `screens.show`; asks the fleet, puts tables together.
"""

from collections.abc import Sequence

from dash import dcc, html
from dash.development.base_component import Component

from eml.watch import addresses, tables, words
from eml.watch.addresses import Address
from eml.watch.screens.missing import missing
from eml.watch.tables import Cell, Column, tile
from eml.watch.views import EvolutionDetail, EvolutionRow, Fleet

COLUMNS = (
    Column("What"),
    Column("When (UTC)"),
    Column("Device"),
    Column("Devices", number=True, minor=True),
    Column("From", minor=True),
    Column("To", minor=True),
    Column("Features", minor=True),
)
NONE_YET = "No evolution yet: one appears when a device sends its first record of a newer schema version."


def show(fleet: Fleet, address: Address) -> Component:
    """The list, or one of them."""
    if address.number is not None:
        return opened(fleet, address.number)
    page = fleet.evolutions(address.page)
    return html.Div(
        [
            html.H1("Evolutions", tabIndex=-1),
            html.P(
                "What happened to models, newest first. Alike events of many devices are one row.", className="lead"
            ),
            listed(page.rows),
            tables.pager(address, len(page.rows), page.total),
        ],
        className="screen",
    )


def listed(rows: Sequence[EvolutionRow]) -> Component:
    """Events as a table; each opens."""
    return tables.table("What happened to models, newest first", COLUMNS, [_cells(row) for row in rows], NONE_YET)


def _cells(row: EvolutionRow) -> tuple[Cell, ...]:
    link = addresses.write(Address(addresses.EVOLUTIONS, number=row.number))
    return (
        dcc.Link(words.plain(row.kind), href=link),
        tables.when(row.time_ms),
        dcc.Link(words.plain(row.key, 40), href=addresses.device(row.key)),
        words.number(row.devices),
        words.plain(row.old_version) or words.UNKNOWN,
        words.plain(row.new_version) or words.UNKNOWN,
        _features(row),
    )


def _features(row: EvolutionRow) -> Cell:
    if not (row.vanished or row.survived or row.augmented):
        return words.UNKNOWN
    parts = (f"\N{MINUS SIGN}{row.vanished} vanished", f"{row.survived} survived", f"+{row.augmented} augmented")
    return ", ".join(parts)


def opened(fleet: Fleet, number: int) -> Component:
    """One evolution with what became of it."""
    detail = fleet.evolution(number)
    if detail is None:
        return missing("Evolution", "There is no such event, or it is older than what is kept.", addresses.EVOLUTIONS)
    return html.Div(
        [
            html.H1(f"{words.plain(detail.row.kind).capitalize()} of {_whom(detail.row)}", tabIndex=-1),
            html.P(_story(detail), className="lead"),
            tables.tiles(_tiles(detail), "What became of it"),
            html.Div([card for card in _cards(detail) if card is not None], className="cards"),
        ],
        className="screen",
    )


def _whom(row: EvolutionRow) -> str:
    others = row.devices - 1
    return words.plain(row.key, 60) + (f" and {words.plural(others, 'other')}" if others > 0 else "")


def _story(detail: EvolutionDetail) -> list[Cell]:
    row = detail.row
    change = (
        f" {words.plain(row.old_version)} \N{RIGHTWARDS ARROW} {words.plain(row.new_version)}."
        if row.new_version
        else ""
    )
    how = " Announced before its first record" if detail.announced else " Not announced"
    steps = f"; {words.plural(detail.transform_steps, 'transform step')}." if detail.transform_steps else "."
    warm = "" if row.warm else " Nothing survived: the model began cold."
    first = dcc.Link("Open the device", href=addresses.device(row.key))
    return [tables.when(row.time_ms), f" UTC.{change}{how}{steps}{warm} ", first]


def _tiles(detail: EvolutionDetail) -> list[Component]:
    first = f"a cold restart: {words.percent(detail.cold_accuracy_first)}"
    recovered = words.number(detail.recovered_after)
    waiting = "scored readings" if detail.recovered_after is not None else "not yet, or not among those scored"
    return [
        tile("Before", words.percent(detail.accuracy_before), "right answers"),
        tile("First 20 %", words.percent(detail.accuracy_first), first),
        tile("After", words.percent(detail.accuracy_after), f"figures of {words.plural(detail.recovered, 'device')}"),
        tile("Recovered after", recovered, waiting),
        tile("Regret", words.signed(detail.regret), "right answers; below 0, EML is ahead of a cold restart"),
    ]


def _cards(detail: EvolutionDetail) -> list[Component | None]:
    return [
        tables.card("Features", _feature_lists(detail)),
        tables.card("Taken over", [_takeovers(detail)]) if detail.vanished else None,
        tables.card("Views", [tables.shares("Share of each view in the answers", detail.shares)])
        if detail.shares
        else None,
        tables.card("Drift", [html.P(words.plain(detail.drift) or "No drift followed.")]),
        tables.card("Not features", [_ignored(detail)]) if detail.ignored else None,
        tables.card("Warnings", [html.Ul([html.Li(words.plain(each)) for each in detail.warnings])])
        if detail.warnings
        else None,
    ]


def _feature_lists(detail: EvolutionDetail) -> list[Cell]:
    renamed = [f"{old} \N{RIGHTWARDS ARROW} {new}" for new, old in detail.renamed.items()]
    lists = [
        tables.names("Vanished", detail.vanished, "\N{MINUS SIGN}"),
        tables.names("Augmented", detail.augmented, "+"),
        tables.names("Renamed", renamed, "\N{RIGHTWARDS ARROW}"),
        tables.names("Returned", detail.returned, "\N{ANTICLOCKWISE OPEN CIRCLE ARROW}"),
        tables.names("Survived", detail.survived, "="),
    ]
    return [each for each in lists if each is not None] or [tables.nothing("No feature changed.")]


def _takeovers(detail: EvolutionDetail) -> Component:
    rows = [
        (words.plain(name), words.percent(share), words.plain(by) if by else "several together")
        for name, (share, by) in list(detail.takeovers.items())[: tables.SHOWN]
    ]
    columns = (Column("Vanished"), Column("Kept", number=True), Column("Most of it by"))
    empty = "Not known: survivors take over what an announced evolution had time to teach them."
    return tables.table("What survivors took over of each vanished feature", columns, rows, empty)


def _ignored(detail: EvolutionDetail) -> Component:
    rows = [(words.plain(name), words.plain(why)) for name, why in list(detail.ignored.items())[: tables.SHOWN]]
    return tables.table("Fields that are no features", (Column("Field"), Column("Why")), rows, "")
