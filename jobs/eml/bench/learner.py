"""`eml bench learner`: what a prediction and a learnt window cost, against features, exemplars and classes.

Called by `command`. One quantity grows at a time, and the slope of the logarithms says with which power the cost does.
Beside it, in turns, River's logistic regression on the same samples: rates alone mean nothing on another machine.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from river import linear_model, multiclass, preprocessing

from eml.bench import report
from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.core.arrays import Array

MANY = 143  # records of a key in a call, where the stream has a backlog
WINDOW = 32  # labels that are learnt together
RIVER_TAUGHT = 200  # samples that River's model knows
PER_ROUND_S = 0.05  # a call is repeated until it took about this long
WHAT = ("predict 1", f"predict {MANY}", f"learn {WINDOW}")


@dataclass(frozen=True, slots=True)
class Size:
    """Of a learner's problem."""

    features: int = 64
    exemplars: int = 1024
    classes: int = 4


GROWING: dict[str, tuple[int, ...]] = {
    "features": (16, 64, 256),
    "exemplars": (256, 1024, 4096),
    "classes": (2, 4, 16),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of each call in `WHAT`, of the learner and of River's model."""

    size: Size
    ours: tuple[float, ...]
    rivers: tuple[float, ...]


def run(
    rounds: int, json_file: Path | None = None, baseline: Path | None = None, console: Console | None = None
) -> None:
    """Measure and print everything."""
    console = console or Console(highlight=False)
    before = report.read(baseline) if baseline is not None else None
    costs: dict[Size, Cost] = {}
    grown = {name: [replace(Size(), **{name: value}) for value in values] for name, values in GROWING.items()}
    for sizes in grown.values():
        for size in sizes:
            costs[size] = costs.get(size) or measure(size, rounds)
    series = {name: [costs[size] for size in sizes] for name, sizes in grown.items()}
    show(series, console)
    figures = figures_of(series)
    if json_file is not None:
        report.write(json_file, "learner", {"rounds": rounds}, figures)
    if before is not None:
        report.compare(before, figures, console)


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The power with which the cost grows: the slope between the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def measure(size: Size, rounds: int) -> Cost:
    """The calls of a learner with a full memory, and of River's model, in turns."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(size.classes, size.features)) * 0.5

    def draw(count: int) -> tuple[Array, list[str]]:
        classes = rng.integers(size.classes, size=count)
        return rng.normal(size=(count, size.features)) + centres[classes], [f"state-{c}" for c in classes]

    names = tuple(f"f{i}" for i in range(size.features))
    learner = EvolvingMetricLearner(FeatureSpace(names), LearnerConfig(memory_size=size.exemplars))
    learner.learn(*draw(2 * size.exemplars))
    river = _river(names, *draw(RIVER_TAUGHT))
    many, _ = draw(MANY)
    rows = [dict(zip(names, row.tolist(), strict=True)) for row in many]
    window, labels = draw(WINDOW)
    taught = [dict(zip(names, row.tolist(), strict=True)) for row in window]

    def river_learns() -> None:
        for row, label in zip(taught, labels, strict=True):
            river.learn_one(row, label)

    calls: list[Callable[[], object]] = [
        lambda: learner.predict_one(many[0]),
        lambda: learner.predict_many(many),
        lambda: learner.learn(window, labels),
        lambda: river.predict_one(rows[0]),
        lambda: [river.predict_one(row) for row in rows],
        river_learns,
    ]
    took = fastest(calls, rounds)
    return Cost(size, took[: len(WHAT)], took[len(WHAT) :])


def _river(names: Sequence[str], samples: Array, labels: Sequence[str]) -> Any:  # noqa: ANN401  River has no types here
    model = preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    for row, label in zip(samples, labels, strict=True):
        model.learn_one(dict(zip(names, row.tolist(), strict=True)), label)
    return model


def fastest(calls: Sequence[Callable[[], object]], rounds: int) -> tuple[float, ...]:
    """Seconds of each call, the least of the rounds' means; in a round each has its turn."""
    for call in calls:
        call()  # the very first one loads compiled code
    repeats = [max(1, int(PER_ROUND_S / max(1e-9, _seconds(call, 1)))) for call in calls]
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for number, (call, times) in enumerate(zip(calls, repeats, strict=True)):
            least[number] = min(least[number], _seconds(call, times))
    return tuple(least)


def _seconds(call: Callable[[], object], times: int) -> float:
    started = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - started) / times


def show(series: dict[str, list[Cost]], console: Console) -> None:
    """One table: microseconds and times River for each size, and below each series its exponents."""
    table = Table(title="The learner, microseconds per call", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("size", no_wrap=True)
    for what in WHAT:
        table.add_column(what, justify="right", no_wrap=True)
        table.add_column("times River", justify="right", no_wrap=True)
    for name, costs in series.items():
        for cost in costs:
            pairs = zip(cost.ours, cost.rivers, strict=True)
            figures = [part for ours, river in pairs for part in (f"{1e6 * ours:,.0f}", f"{ours / river:.2f}")]
            table.add_row(f"{getattr(cost.size, name):,} {name}", *figures)
        slopes = [f"{slope:.2f}" for slope in exponents(name, costs)]
        table.add_row("  grows with the power", *(part for slope in slopes for part in (slope, "")), end_section=True)
    console.print(table)
    base = Size()
    console.print(
        f"Where nothing else stands: {base.features} features, {base.exemplars:,} exemplars (a full memory),"
        f" {base.classes} classes. 'Predict {MANY}' and 'learn {WINDOW}' are whole calls. 'Times River': of the"
        " time of its scaled logistic regression, one against the rest, on the same samples in the same run.",
        soft_wrap=True,
    )


def exponents(name: str, costs: Sequence[Cost]) -> list[float]:
    """Of each call, as this quantity grows."""
    sizes = [getattr(cost.size, name) for cost in costs]
    return [exponent(sizes, [cost.ours[number] for cost in costs]) for number in range(len(WHAT))]


def figures_of(series: dict[str, list[Cost]]) -> report.Figures:
    """For the file: times River, which is better where it is less, and all else."""
    figures = report.Figures()
    for name, costs in series.items():
        for cost in costs:
            where = f"{getattr(cost.size, name)} {name}"
            for what, ours, river in zip(WHAT, cost.ours, cost.rivers, strict=True):
                figures.worse[f"{where}: {what}, times River's time"] = ours / river
                figures.measured[f"{where}: {what}, microseconds"] = 1e6 * ours
        for what, slope in zip(WHAT, exponents(name, costs), strict=True):
            figures.measured[f"{name}: {what}, grows with the power"] = slope
    return figures
