"""The first screen: the fleet at this moment, its roll-out, its accuracy and what happened to it.

Called by `screens.show`; asks the fleet, puts tables and charts together.
"""

from dash import dcc, html
from dash.development.base_component import Component

from eml.watch import addresses, charts, tables, words
from eml.watch.addresses import Address
from eml.watch.screens.evolutions import listed
from eml.watch.tables import tile
from eml.watch.views import Fleet, Summary

NEWEST = 6  # evolutions on the first screen


def show(fleet: Fleet, _address: Address) -> Component:
    """The whole screen."""
    summary = fleet.summary()
    newest = fleet.evolutions(0)
    more = dcc.Link("All evolutions", href=addresses.write(Address(addresses.EVOLUTIONS)))
    return html.Div(
        [
            html.H1("Fleet", tabIndex=-1),
            tables.tiles(_tiles(summary), "The fleet now"),
            html.Div(
                [
                    tables.card("Roll-out", [charts.of_rollout(fleet.rollout())], "wide"),
                    tables.card("Accuracy", [charts.of_accuracy(fleet.accuracy())], "wide"),
                    tables.card(
                        "What happened", [listed(newest.rows[:NEWEST]), html.P(more, className="more")], "wide"
                    ),
                    tables.card("Versions", [tables.bars("Devices by schema version", summary.versions, NO_DEVICE)]),
                    tables.card("Stages", [tables.bars("Devices by stage of their model", summary.stages, NO_DEVICE)]),
                    tables.card("Dead letters", [_dead_letters(summary)]),
                ],
                className="cards",
            ),
        ],
        className="screen",
    )


NO_DEVICE = "No device yet: start the job, and let devices send readings."


def _tiles(now: Summary) -> list[Component]:
    return [
        tile("Devices", words.number(now.devices), words.plural(len(now.versions), "schema version")),
        tile("Throughput", words.rate(now.records_per_s), f"{words.number(now.predictions)} predictions seen"),
        tile("Lag", words.number(now.lag), "readings without prediction" if now.lag is not None else "not to be read"),
        tile("Latency", words.duration(now.latency_p50_ms), f"99 of 100 within {words.duration(now.latency_p99_ms)}"),
        tile("Accuracy", words.percent(now.accuracy), _accuracy_note(now)),
        tile("Regret", words.signed(now.regret), _regret_note(now)),
        _dead_tile(now),
    ]


def _accuracy_note(now: Summary) -> str:
    if now.accuracy is None:
        return "no labels yet"
    if now.cold_accuracy is None:
        return f"of {words.number(now.scored)} scored"
    return f"a cold restart: {words.percent(now.cold_accuracy)}"


def _regret_note(now: Summary) -> str:
    if now.regret is None:
        return "no evolution compared yet"
    return "right answers a cold restart has more" if now.regret > 0 else "right answers; below 0, EML is ahead"


def _dead_tile(now: Summary) -> Component:
    total = sum(now.dead_letters.values())
    share = total / (total + now.predictions) if total else 0.0
    link = dcc.Link(words.number(total), href=addresses.write(Address(addresses.DEAD_LETTERS)))
    note = f"{words.percent(share, 2)} of records" if total else "every record was read"
    return tile("Dead letters", link, note, "warn" if total else "")


def _dead_letters(now: Summary) -> Component:
    links = {reason: addresses.write(Address(addresses.DEAD_LETTERS, reason=reason)) for reason in now.dead_letters}
    return tables.bars("Dead letters by reason", now.dead_letters, "None: every record could be read.", links)
