"""A chart with its words and its numbers, for those who see it and those who do not.

Called by the screens; the figures come from `figures`.
"""

from collections.abc import Sequence

from dash import dcc, html
from dash.development.base_component import Component

from eml.watch import tables, words
from eml.watch.aria import labelled
from eml.watch.condensing import smoothed
from eml.watch.figures import CONFIG, Figure, accuracy, accuracy_text, rollout, rollout_text
from eml.watch.tables import Cell, Column
from eml.watch.views import Accuracy, Rollout

NUMBERS = 12  # times in the table under a chart
NO_LABELS = "No labels yet: accuracy appears with the first label."


def of_rollout(seen: Rollout) -> Component:
    """Devices by schema version over time."""
    if not seen.times_ms:
        return tables.nothing("No device yet: this fills with the first prediction on the predictions topic.")
    columns = [Column("Time (UTC)"), *(Column(words.plain(name), number=True) for name in seen.devices)]
    rows: list[Sequence[Cell]] = [
        (tables.when(seen.times_ms[at]), *(words.number(counts[at]) for counts in seen.devices.values()))
        for at in _spread(len(seen.times_ms))
    ]
    numbers = tables.table("Devices by schema version, at some times", columns, rows, "")
    return _chart(rollout(seen), rollout_text(seen), numbers)


def of_accuracy(curve: Accuracy) -> Component:
    """Right answers over time."""
    if all(value is None for value in curve.accuracy):
        return tables.nothing(NO_LABELS)
    curve = smoothed(curve)
    columns = [Column("Time (UTC)"), *(Column(name, number=True) for name in ("EML", "A cold restart", "Scored"))]
    rows = [
        (
            tables.when(curve.times_ms[at]),
            words.percent(curve.accuracy[at]),
            words.percent(curve.cold[at]),
            words.number(curve.scored[at]),
        )
        for at in _spread(len(curve.times_ms))
    ]
    numbers = tables.table("Right answers, at some times", columns, rows, "")
    return _chart(accuracy(curve), accuracy_text(curve), numbers)


def _chart(figure: Figure, text: str, numbers: Component) -> Component:
    graph = dcc.Graph(figure=figure, config=CONFIG, className="graph", responsive=True)
    drawn = html.Div(graph, role="img", **labelled(text))
    details = html.Details([html.Summary("The numbers"), numbers])
    return html.Figure([drawn, html.Figcaption(text), details])


def _spread(count: int) -> Sequence[int]:
    """Some places of a sequence, the last among them."""
    step = max(1, -(-count // NUMBERS))
    return [count - 1 - back for back in range(0, count, step)]
