"""One `eml evaluate convergence` or `surface` from request to a few lines of text; the pictures are the report's.

Called by `command`; checks the request before any work is done and has `kept_trials.resume` run its trials.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import product
from statistics import fmean
from typing import TypeVar

from rich.console import Console
from rich.text import Text

from eml.evaluate import protocols, request
from eml.evaluate.errors import resolve_names
from eml.evaluate.kept_trials import resume, sources
from eml.evaluate.session import sources_of
from eml.evaluate.studies import convergence, surface
from eml.evaluate.studies.convergence import Curve, CurveTrial
from eml.evaluate.studies.surface import GRID, PLANES, Point, SurfaceTrial
from eml.evaluate.trial import Source, dataset_of

_PROTOCOL = ("eml.evaluate.trial", "eml.evaluate.protocols", "eml.evaluate.deal", "eml.evaluate.methods")

Trial = TypeVar("Trial", CurveTrial, SurfaceTrial)
Outcome = TypeVar("Outcome", Curve, Point)


def run(arguments: argparse.Namespace) -> None:
    """Study as asked."""
    (_convergence if arguments.scenario == "convergence" else _surface)(arguments)


def _convergence(arguments: argparse.Namespace) -> None:
    trials = [CurveTrial(*cell, arguments.memory) for cell in _cells(arguments)]
    form = resume.Form(convergence.perform, _made_of, Curve.from_json)
    _carry_out(trials, form, arguments, _curve_lines)


def _surface(arguments: argparse.Namespace) -> None:
    planes = resolve_names(arguments.plane, tuple(PLANES), "plane")
    trials = [
        SurfaceTrial(*cell, arguments.memory, plane, x, y)
        for cell in _cells(arguments)
        for plane, x, y in product(planes, GRID, GRID)
    ]
    form = resume.Form(surface.perform, _made_of, Point.from_json)
    _carry_out(trials, form, arguments, _surface_lines)


def _cells(arguments: argparse.Namespace) -> Iterator[tuple[Source, int, int]]:
    """Sources, batch sizes and seeds; what cannot be dealt is found here, before any work."""
    for source in sources_of(arguments):
        for batch in arguments.batch or dataset_of(source).batches[:1]:
            protocols.one_shot(dataset_of(source), batch, arguments.seed)
            for seed in range(arguments.seed, arguments.seed + arguments.runs):
                yield source, batch, seed


def _made_of(trial: CurveTrial | SurfaceTrial) -> dict[str, str]:
    code = sources.code_checksum([*_PROTOCOL, type(trial).__module__])
    data = sources.data_checksum(trial.source)
    return sources.made_of(code, asdict(trial.settings), data, sources.installed())


def _carry_out(
    trials: Sequence[Trial],
    form: resume.Form[Trial, Outcome],
    arguments: argparse.Namespace,
    lines: Callable[[Sequence[Trial], Sequence[Outcome]], Iterator[str]],
) -> None:
    target = request.target("json", arguments.json)
    outcomes = resume.run(trials, form, arguments.jobs, arguments.keep, Console(stderr=True))
    if target:
        content = [
            {"trial": trial.identity, "outcome": asdict(outcome)}
            for trial, outcome in zip(trials, outcomes, strict=True)
        ]
        target.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for line in lines(trials, outcomes):
        Console().print(Text(line), soft_wrap=True)


def _curve_lines(trials: Sequence[CurveTrial], curves: Sequence[Curve]) -> Iterator[str]:
    """Say of each cell where its curves begin and end, as means over seeds."""
    by_cell: dict[str, list[Curve]] = {}
    for trial, curve in zip(trials, curves, strict=True):
        by_cell.setdefault(trial.label, []).append(curve)
    for cell, found in by_cell.items():
        yield f"{cell}: {min(len(curve.learnt) for curve in found)} steps or more of the T-stage, first and last:"
        for name, figure in (
            ("objective, in margins", "objective"),
            ("held-out accuracy, old features", "accuracy"),
            ("held-out accuracy, next features", "survivors"),
        ):
            first, last = (fmean(getattr(curve, figure)[end] for curve in found) for end in (0, -1))
            yield f"  {name}: {first:.3f} to {last:.3f}"


def _surface_lines(trials: Sequence[SurfaceTrial], points: Sequence[Point]) -> Iterator[str]:
    """Say of each plane how far apart its best and its worst point are."""
    planes: dict[str, dict[tuple[float, float], list[float]]] = {}
    for trial, point in zip(trials, points, strict=True):
        planes.setdefault(trial.label, {}).setdefault((trial.x, trial.y), []).append(point.accuracy)
    for label, cells in planes.items():
        means = {place: fmean(accuracies) for place, accuracies in cells.items()}
        best, worst = (extreme(means, key=lambda place: means[place]) for extreme in (max, min))
        at_best, at_worst = (_place(PLANES[label.split()[-1]], place) for place in (best, worst))
        yield f"{label}: best {means[best]:.2f} ({at_best}), worst {means[worst]:.2f} ({at_worst})"


def _place(names: tuple[str, str], values: tuple[float, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in zip(names, values, strict=True))
