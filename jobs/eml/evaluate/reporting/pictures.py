"""The report's pictures: which trials make which lines.

Called by `contents`; gathers numbers for `plots`, and draws nothing itself.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from eml.evaluate.kept_trials.store import Line
from eml.evaluate.reporting import compare, plots
from eml.evaluate.reporting.document import Gallery, Panel
from eml.evaluate.reporting.gather import OURS, VARIANTS, Row, Table
from eml.evaluate.reporting.plots import OTHER_COLOURS, OWN_COLOUR, Series

_SIGNS = {"lambda": "lambda, low rank", "rho": "rho, consistency", "gamma": "gamma, step size"}


def galleries(table: Table) -> list[Gallery]:
    """The pictures of a table: accuracy by batch size, recovery after a switch, time against accuracy."""
    colours = _colours(table)
    found = [by_batch(table, colours)] if table.scenario != "stream" else []
    if table.scenario == "stream" and table.figure == "early":
        found.append(recovery(table, colours))
    if table.figure != "balanced":
        found.append(time_against_accuracy(table, colours))
    return [gallery for gallery in found if gallery.panels]


def by_batch(table: Table, colours: Mapping[str, str]) -> Gallery:
    """A panel per data set that has several batch sizes, a line per method."""
    panels = []
    for dataset, rows in _by_dataset(table).items():
        series = [_batch_series(rows, method, colour) for method, colour in colours.items()]
        series = [one for one in series if len(one.x) > 1]
        if series:
            panels.append(Panel(dataset, plots.lines(series, "samples per batch, n_i", "accuracy, %")))
    caption = f"Accuracy by batch size, with standard errors{_left_out(table, colours)}."
    return Gallery(caption, tuple(colours.items()), tuple(panels))


def recovery(table: Table, colours: Mapping[str, str]) -> Gallery:
    """A panel per data set: accuracy in each tenth of a stage, the last before the switches and those after them."""
    panels = []
    for row in table.rows:
        series = []
        for method, colour in colours.items():
            curves = [line.outcome["curve"] for line in table.lines if _is_of(line, row, method)]
            if curves:
                series.append(Series(method, colour, range(11), _around_switch(curves), own=method == OURS))
        if series:
            svg = plots.lines(series, "tenths of a stage after the switch", "accuracy, %", mark=0.5)
            panels.append(Panel(row.dataset, svg))
    caption = (
        "Recovery: accuracy in the last tenth before a switch (0) and in each tenth of the stage after it, mean over "
        f"switches and seeds{_left_out(table, colours)}."
    )
    return Gallery(caption, tuple(colours.items()), tuple(panels))


def time_against_accuracy(table: Table, colours: Mapping[str, str]) -> Gallery:
    """One panel, a point per method."""
    means = compare.averages(table)
    series = [
        Series(method, colours.get(method, OTHER_COLOURS[-1]), [seconds], [accuracy], own=method == OURS)
        for method, (accuracy, seconds) in means.items()
        if seconds > 0
    ]
    panels = [Panel("", plots.points(series, "CPU seconds of a trial", "accuracy, %"))] if len(series) > 1 else []
    caption = (
        "Time against accuracy, averages over data sets; methods that have all rows of ours. Up and left is better."
    )
    return Gallery(caption, (), tuple(panels))


def convergence(lines: Iterable[Line]) -> list[Gallery]:
    """Objective and held-out accuracies along the T-stage, a panel each per data set and batch size."""
    cells: dict[str, list[Line]] = {}
    for line in lines:
        if line.trial["scenario"] == "convergence":
            cells.setdefault(f"{line.trial['dataset']} n_i {line.trial['batch']}", []).append(line)
    accuracies = {"old features": ("accuracy", OTHER_COLOURS[0]), "next features, if it switched now": _SURVIVORS}
    panels = []
    for name, found in sorted(cells.items()):
        objective = [_mean_course(found, "objective", "objective", OWN_COLOUR)]
        held = [_mean_course(found, label, figure, colour) for label, (figure, colour) in accuracies.items()]
        panels.append(Panel(name, plots.lines(objective, "step of the T-stage", "objective, in margins")))
        panels.append(Panel(name, plots.lines(held, "step of the T-stage", "held-out accuracy, %")))
    caption = (
        "Convergence: the T-stage's objective (Eq. 4) over held-out samples, the same samples, triplets and margin at "
        "every step; beside it their accuracy. Means over seeds, over as many steps as all seeds have."
    )
    legend = (("objective", OWN_COLOUR), *((label, colour) for label, (_, colour) in accuracies.items()))
    return [Gallery(caption, legend, tuple(panels))] if panels else []


_SURVIVORS = ("survivors", OTHER_COLOURS[1])


def surfaces(lines: Iterable[Line]) -> list[Gallery]:
    """Accuracy over each plane of settings that was kept."""
    cells: dict[tuple[str, str], dict[tuple[float, float], list[float]]] = {}
    for line in lines:
        trial = line.trial
        if trial["scenario"] == "surface":
            place = (f"{trial['dataset']} n_i {trial['batch']}", trial["plane"])
            cells.setdefault(place, {}).setdefault((trial["x"], trial["y"]), []).append(line.outcome["accuracy"])
    panels = []
    for (name, plane), values in sorted(cells.items()):
        means = {place: statistics.fmean(found) for place, found in values.items()}
        x_label, y_label = (_SIGNS[sign] for sign in plane.split("-"))
        panels.append(
            Panel(
                f"{name}: {min(means.values()):.2f} to {max(means.values()):.2f}", plots.plane(means, x_label, y_label)
            )
        )
    caption = "Accuracy in percent over two settings, the others as they are; means over seeds."
    return [Gallery(caption, (), tuple(panels))] if panels else []


def _colours(table: Table) -> dict[str, str]:
    """Ours, and the best of the others as far as colours go; variants of ours are in the table."""
    others = [method for method in table.methods if method not in VARIANTS]
    means = {m: [row.entries[m].mean for row in table.rows if m in row.entries] for m in others}
    best = sorted(others, key=lambda method: -statistics.fmean(means[method]))[: len(OTHER_COLOURS) - 1]
    shown = [method for method in table.methods if method in best]
    own = {OURS: OWN_COLOUR} if OURS in table.methods else {}
    return own | dict(zip(shown, OTHER_COLOURS, strict=False))


def _left_out(table: Table, colours: Mapping[str, str]) -> str:
    others = [method for method in table.methods if method not in VARIANTS and method not in colours]
    return f" (not drawn, being lower on average: {', '.join(others)})" if others else ""


def _by_dataset(table: Table) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in table.rows:
        found.setdefault(row.dataset, []).append(row)
    return found


def _batch_series(rows: Sequence[Row], method: str, colour: str) -> Series:
    having = [row for row in rows if method in row.entries]
    errors = [row.entries[method].std_err or 0.0 for row in having]
    means = [row.entries[method].mean for row in having]
    return Series(method, colour, [float(row.batch or 0) for row in having], means, errors, own=method == OURS)


def _is_of(line: Line, row: Row, method: str) -> bool:
    return bool(line.trial["dataset"] == row.dataset and line.trial["method"] == method)


def _around_switch(curves: Sequence[Sequence[Sequence[float]]]) -> list[float]:
    """The last tenth of a stage and all tenths of the next, mean over switches and seeds."""
    pairs = [[before[-1], *after] for curve in curves for before, after in pairwise(curve)]
    return [statistics.fmean(column) for column in zip(*pairs, strict=True)]


def _mean_course(lines: Sequence[Line], name: str, figure: str, colour: str) -> Series:
    columns = list(zip(*(line.outcome[figure] for line in lines), strict=False))  # to the shortest
    return Series(name, colour, range(1, len(columns) + 1), [statistics.fmean(column) for column in columns], own=True)
