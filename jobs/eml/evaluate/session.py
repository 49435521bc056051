"""One `eml evaluate` from request to table.

Called by `command`; checks the request before any work is done, has `runner` run its trials, and gives the outcomes
to `results` and `table`.
"""

import argparse
import json
from collections.abc import Sequence

from rich.console import Console

from eml.evaluate import request, table
from eml.evaluate.catalogue import DATASETS, METHODS
from eml.evaluate.datasets import Named
from eml.evaluate.errors import EvaluationError, resolve_names
from eml.evaluate.kept_trials import resume, sources
from eml.evaluate.methods import REGISTRY, settings
from eml.evaluate.own import OwnFile
from eml.evaluate.results import BETTER_MEMORY, MEMORIES, Cell, Score, as_json, cell
from eml.evaluate.trial import Outcome, Source, Trial, dataset_of, perform, script_of

# Code that all figures depend on.
_PROTOCOL = ("eml.evaluate.trial", "eml.evaluate.protocols", "eml.evaluate.deal", "eml.evaluate.imputing")


def run(arguments: argparse.Namespace) -> None:
    """Evaluate as asked."""
    scenario = arguments.scenario if arguments.task is None else f"{arguments.scenario}-task-{arguments.task}"
    methods = resolve_names(arguments.methods, METHODS, "method")
    target = request.target("json", arguments.json)
    chosen = sources_of(arguments)
    groups = [
        [
            Trial(source, scenario, batch, seed, method, arguments.memory)
            for method in methods
            for seed in range(arguments.seed, arguments.seed + arguments.runs)
        ]
        for source in chosen
        for batch in arguments.batch or dataset_of(source).batches
    ]
    notes = [_notes(group[0]) for group in groups]  # also finds what cannot be run, before hours of what can
    trials = [trial for group in groups for trial in group]
    form = resume.Form(perform, made_of, Outcome.from_json)
    outcomes = iter(resume.run(trials, form, arguments.jobs, arguments.keep, Console(stderr=True)))
    cells = [_cell(group, notes_, [next(outcomes) for _ in group]) for group, notes_ in zip(groups, notes, strict=True)]
    if target:
        command = {**request.plain(arguments), "dataset": [source.name for source in chosen], "methods": methods}
        target.write_text(json.dumps(as_json(cells, command), indent=1) + "\n", encoding="utf-8")
    table.show(cells, _title(scenario), _caption(arguments, methods), Console())


def made_of(trial: Trial) -> dict[str, str]:
    """What a trial's figure depends on beside its own fields."""
    data = sources.data_checksum(trial.source)
    return sources.made_of(code_of(trial.method), settings(trial.method, trial.memory), data, sources.installed())


def code_of(method: str) -> str:
    """Return the checksum of the code a method's figures are made with."""
    return sources.code_checksum([*_PROTOCOL, *sources.modules_of(REGISTRY[method])])


def sources_of(arguments: argparse.Namespace) -> list[Source]:
    """Return the data asked for, by name or the user's own."""
    if arguments.data is None:
        for option in ("split", "classes", "total"):
            if getattr(arguments, option) is not None:
                raise EvaluationError(f"--{option} goes with --data; a data set by name has the paper's")
        return [Named(name) for name in resolve_names(arguments.dataset, DATASETS, "data set")]
    if arguments.batch is None:
        raise EvaluationError("--data needs --batch N[,N..]: the samples of a batch, all classes in equal number")
    if arguments.split is None and arguments.scenario != "multi-shot":
        raise EvaluationError("--data needs --split DV,DS,DN: the columns of X that vanish, survive and are new")
    classes = tuple(arguments.classes or ())
    return [OwnFile(arguments.data, arguments.split, arguments.batch, classes, arguments.total)]


def _notes(trial: Trial) -> tuple[str, ...]:
    note = dataset_of(trial.source).note
    return (*((note,) if note else ()), *script_of(trial).notes)


def _cell(group: Sequence[Trial], notes: Sequence[str], outcomes: Sequence[Outcome]) -> Cell:
    by_method: dict[str, list[Outcome]] = {}
    for trial, outcome in zip(group, outcomes, strict=True):
        by_method.setdefault(trial.method, []).append(outcome)
    scores = {method: Score(tuple(found)) for method, found in by_method.items()}
    first = group[0]
    return cell(first.scenario, first.source.name, first.batch, notes, scores)


def _title(scenario: str) -> str:
    return f"{scenario.replace('-task-', ', Task ')}: accuracy in percent, mean ± standard error"


def _caption(arguments: argparse.Namespace, methods: Sequence[str]) -> str:
    last = arguments.seed + arguments.runs - 1
    lines = [
        f"Seeds {arguments.seed} to {last}, with the same batches for every method.",
        f"A memory of {arguments.memory} exemplars for every method.",
    ]
    if all(name in methods for name in MEMORIES):
        lines.append(
            f"{BETTER_MEMORY}: in each cell the better of memory (features divided by their running deviation) and "
            "memory-raw (as they are)."
        )
    if arguments.task == "II":
        lines.append("Accuracy: mean of the second batch of stage 2 and the test batch of stage 3.")
    return "\n".join(lines)
