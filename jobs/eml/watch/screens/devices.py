"""Devices: the list, and one opened.

Called by `screens.show`; asks the fleet, puts tables and charts together.
"""

from collections.abc import Sequence
from dataclasses import replace

from dash import dcc, html
from dash.development.base_component import Component

from eml.watch import addresses, charts, tables, words
from eml.watch.addresses import Address
from eml.watch.screens.missing import missing
from eml.watch.tables import Cell, Column, tile
from eml.watch.views import DeviceDetail, DeviceRow, Fleet, PredictionRow

NEWEST = 30  # predictions that are listed
SCORES = 3  # labels of a prediction that are shown with their scores
NO_DEVICES = "No device yet: one appears with its first prediction."


def show(fleet: Fleet, address: Address) -> Component:
    """The list, by what was searched."""
    page = fleet.devices(address.search, address.order, address.page)
    searched = f"No device's name contains “{words.plain(address.search)}”." if address.search else NO_DEVICES
    found = f"Names that contain “{words.plain(address.search)}”. " if address.search else ""
    return html.Div(
        [
            html.H1("Devices", tabIndex=-1),
            html.P(
                [found, "Column headings change the order; the box above finds a device by its name."], className="lead"
            ),
            tables.table("Devices", _columns(address), [_cells(row) for row in page.rows], searched),
            tables.pager(address, len(page.rows), page.total),
        ],
        className="screen",
    )


def _columns(address: Address) -> tuple[Column, ...]:
    def ordered(title: str, order: str, *, number: bool = True, minor: bool = False) -> Column:
        link = addresses.write(replace(address, order=order, page=0))
        return Column(title, number, minor, link, sorted=address.order == order)

    return (
        ordered("Device", "key", number=False),
        Column("Version", minor=True),
        Column("Stage", minor=True),
        ordered("Accuracy", "accuracy"),
        Column("Predictions", number=True, minor=True),
        Column("Scored", number=True, minor=True),
        Column("Novelty", number=True, minor=True),
        ordered("Dead letters", "dead-letters"),
        ordered("Last seen (UTC)", "last", minor=True),
    )


def _cells(row: DeviceRow) -> tuple[Cell, ...]:
    return (
        dcc.Link(words.plain(row.key, 60) or "(no name)", href=addresses.device(row.key)),
        words.plain(row.version),
        words.plain(row.stage),
        words.percent(row.accuracy),
        words.number(row.predictions),
        words.number(row.scored),
        words.score(row.novelty),
        words.number(row.dead_letters),
        tables.when(row.last_ms),
    )


def opened(fleet: Fleet, address: Address) -> Component:
    """One device."""
    detail = fleet.device(address.key)
    if detail is None:
        why = f"No device named “{words.plain(address.key)}” has been seen."
        return missing("Device", why, addresses.DEVICES)
    predictions = [_prediction(row) for row in detail.predictions[:NEWEST]]
    return html.Div(
        [
            html.H1(words.plain(detail.row.key) or "(no name)", tabIndex=-1),
            tables.tiles(_tiles(detail.row), "The device now"),
            html.Div(
                [
                    tables.card("Accuracy", [charts.of_accuracy(detail.accuracy)], "wide"),
                    tables.card("Dips", _dips(detail), "wide"),
                    tables.card(
                        "Last predictions", [tables.table(TITLE, PREDICTIONS, predictions, NO_DEVICES)], "wide"
                    ),
                ],
                className="cards",
            ),
        ],
        className="screen",
    )


TITLE = "Last predictions, newest first"
PREDICTIONS = (
    Column("When (UTC)"),
    Column("Predicted"),
    Column("Truth"),
    Column("Scores"),
    Column("Margin", number=True),
    Column("Novelty", number=True),
    Column("Version", minor=True),
    Column("Stage", minor=True),
    Column("Record", minor=True),
)


def _tiles(row: DeviceRow) -> list[Component]:
    return [
        tile("Version", words.plain(row.version) or words.UNKNOWN, f"stage: {words.plain(row.stage)}"),
        tile(
            "Accuracy",
            words.percent(row.accuracy),
            f"of {words.number(row.scored)} scored" if row.scored else "no labels yet",
        ),
        tile("Predictions", words.number(row.predictions), html.Span(["last ", tables.when(row.last_ms), " UTC"])),
        tile("Novelty", words.score(row.novelty), "of the last prediction"),
        tile("Dead letters", words.number(row.dead_letters), "", "warn" if row.dead_letters else ""),
    ]


def _dips(detail: DeviceDetail) -> list[Cell]:
    if not detail.dips:
        return [tables.nothing("None: its accuracy has not fallen."), *_commands(detail.commands)]
    fallen = [
        html.Li(["By ", html.B(words.points(depth)), " from ", tables.when(first), " to ", tables.when(last), " UTC"])
        for first, last, depth in detail.dips[: tables.SHOWN]
    ]
    return [html.Ul(fallen, className="plain"), *_commands(detail.commands)]


def _commands(lines: Sequence[str]) -> list[Cell]:
    if not lines:
        return []
    why = html.P("Capture these records, and run the job's own logic over them again:")
    return [why, tables.commands(lines, "captures or replays these records")]


def _prediction(row: PredictionRow) -> tuple[Cell, ...]:
    best = sorted(row.scores.items(), key=lambda item: -item[1])[:SCORES]
    scores = ", ".join(f"{words.plain(name, 30)} {words.score(score)}" for name, score in best)
    return (
        tables.when(row.time_ms),
        words.UNKNOWN if row.label is None else words.plain(row.label, 40),
        _truth(row),
        scores or words.UNKNOWN,
        words.score(row.margin),
        words.score(row.novelty),
        words.plain(row.version) + (" (late)" if row.late else ""),
        words.plain(row.stage),
        html.Span(words.plain(row.source, 60), title=words.plain(row.event_id)),
    )


def _truth(row: PredictionRow) -> Cell:
    if row.truth is None:
        return words.UNKNOWN
    right = row.truth == row.label
    sign = "\N{CHECK MARK} right" if right else f"\N{BALLOT X} {words.plain(row.truth, 40)}"
    return html.Span(sign, className="right" if right else "wrong")
