"""What each schema version has of each feature: a matrix for each subject.

Called by `screens.show`; asks the fleet. A cell says what it means by its sign and in words, not by its colour alone.
"""

from dash import html
from dash.development.base_component import Component

from eml.watch import tables, words
from eml.watch.addresses import Address
from eml.watch.aria import UNHEARD, labelled
from eml.watch.tables import Cell, Column
from eml.watch.views import CELLS, FeatureMatrix, Fleet

SIGNS = {
    "absent": "\N{MIDDLE DOT}",
    "survived": "\N{BLACK CIRCLE}",
    "augmented": "+",
    "vanished": "\N{MULTIPLICATION SIGN}",
    "renamed": "\N{RIGHTWARDS ARROW}",
    "returned": "\N{ANTICLOCKWISE OPEN CIRCLE ARROW}",
    "retiring": "\N{CIRCLE WITH LEFT HALF BLACK}",
}
VERSIONS = 8  # the newest; more do not fit
FEATURES = 200  # those that changed come first
NONE = "No schema yet: versions appear when the registry has a subject of the readings topic."


def show(fleet: Fleet, _address: Address) -> Component:
    """All matrices."""
    matrices = fleet.features()
    cards = [tables.card(words.plain(matrix.subject), _matrix(matrix), "wide") for matrix in matrices]
    legend = html.Ul([html.Li([_sign(kind), f" {kind}"]) for kind in CELLS], className="legend", **labelled("Signs"))
    return html.Div(
        [
            html.H1("Features", tabIndex=-1),
            html.P("What each schema version did with each feature of the one before it.", className="lead"),
            legend,
            html.Div(cards or [tables.nothing(NONE)], className="cards"),
        ],
        className="screen",
    )


def _matrix(matrix: FeatureMatrix) -> list[Cell]:
    versions = matrix.versions[-VERSIONS:]
    columns = [Column("Feature"), *(Column(f"v{version}") for version in versions), Column("What became of it")]
    rows = sorted(zip(matrix.features, matrix.cells, strict=True), key=lambda row: set(row[1]) <= {"survived"})
    table = tables.table(
        f"Features of {words.plain(matrix.subject)} by version",
        columns,
        [
            (
                words.plain(name, 60),
                *(_cell(kind) for kind in kinds[-VERSIONS:]),
                words.plain(matrix.notes.get(name, "")),
            )
            for name, kinds in rows[:FEATURES]
        ],
        "This subject has no feature: no field of its schema is a number, a boolean or an enum.",
    )
    beyond = len(rows) - FEATURES
    more = f" {words.number(beyond)} further features survived all of it." if beyond > 0 else ""
    older = len(matrix.versions) - len(versions)
    said = f"The newest {len(versions)} of {len(matrix.versions)} versions." if older > 0 else ""
    note = html.P(f"{said}{more}".strip(), className="note")
    return [html.Div(table, className="matrix"), *([note] if said or more else [])]


def _cell(kind: str) -> Component:
    return html.Span([_sign(kind), html.Span(f" {words.plain(kind)}", className="unseen")], title=words.plain(kind))


def _sign(kind: str) -> Component:
    known = kind if kind in SIGNS else "absent"
    return html.Span(SIGNS[known], className=f"sign {known}", **UNHEARD)
