"""One `eml evaluate haphazard` from request to table.

Called by `command`; checks the request before any work is done, has `runner` run its trials, and gives the outcomes
to `results` and `table`.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console

from eml.evaluate import request
from eml.evaluate.ablations import config_without
from eml.evaluate.catalogue import ABLATIONS, HAPHAZARD_METHODS, HAPHAZARD_SETS
from eml.evaluate.errors import EvaluationError, resolve_names
from eml.evaluate.haphazard import table
from eml.evaluate.haphazard.methods import PEERS, REGISTRY
from eml.evaluate.haphazard.results import Cell, as_json, cell
from eml.evaluate.haphazard.streams import Source, records_of
from eml.evaluate.haphazard.trial import HaphazardTrial, Outcome, perform
from eml.evaluate.kept_trials import resume, sources
from eml.evaluate.prequential import peer, peers

_TRIAL = "eml.evaluate.haphazard.trial"  # the code all figures depend on, with what it imports
_ONE_SEED = ("majority", *PEERS)  # nothing in them is random: they run once, as seed 0


def run(arguments: argparse.Namespace) -> None:
    """Evaluate as asked."""
    methods = resolve_names(arguments.methods, HAPHAZARD_METHODS, "method")
    target = request.target("json", arguments.json)
    if not set(PEERS).isdisjoint(methods):
        peers.python()
    chosen = _sources(arguments)
    groups = [_group(arguments, source, p, methods) for source in chosen for p in _shares(arguments, source)]
    trials = [trial for group in groups for trial in group]
    form = resume.Form(perform, made_of, Outcome.from_json)
    outcomes = iter(resume.run(trials, form, arguments.jobs, arguments.keep, Console(stderr=True)))
    cells = [_cell(group, [next(outcomes) for _ in group]) for group in groups]
    if target:
        command = {**request.plain(arguments), "dataset": [source.name for source in chosen], "methods": methods}
        target.write_text(json.dumps(as_json(cells, command), indent=1) + "\n", encoding="utf-8")
    table.show(cells, _caption(arguments, methods), Console())


def made_of(trial: HaphazardTrial) -> dict[str, str]:
    """What a trial's figure depends on beside its own fields."""
    stage = records_of(trial.source).stream(trial.p).stages[0]
    data = sources.short(str(stage.X.shape).encode(), stage.X.tobytes(), stage.y.tobytes())
    code = code_of(trial.method)
    if trial.method in PEERS:
        return sources.made_of(code, {"memory": trial.memory}, data, peers.installed(PEERS[trial.method]))
    settings = asdict(config_without(ABLATIONS.get(trial.method), trial.memory))
    return sources.made_of(code, {} if trial.method in _ONE_SEED else settings, data, sources.installed())


def code_of(method: str) -> str:
    """Return the checksum of the code a method's figures are made with."""
    if method in PEERS:
        return sources.code_checksum([_TRIAL, peer.__name__, peer.FACTORIES[PEERS[method]][0]])
    return sources.code_checksum([_TRIAL, *sources.modules_of(REGISTRY[method])])


def _sources(arguments: argparse.Namespace) -> list[Source]:
    if arguments.data is not None:
        return [Source.own(arguments.data)]
    return [Source(name) for name in resolve_names(arguments.dataset or ["all"], HAPHAZARD_SETS, "data set")]


def _shares(arguments: argparse.Namespace, source: Source) -> list[int]:
    """The shares asked for, all there are where none is."""
    there = sorted(records_of(source).masks)
    absent = [p for p in arguments.p or () if p not in there]
    if absent:
        raise EvaluationError(
            f"--p {absent[0]}: {source.name} has no mask of {absent[0]} % (its masks: {', '.join(map(str, there))})"
        )
    return list(arguments.p or there)


def _group(arguments: argparse.Namespace, source: Source, p: int, methods: Sequence[str]) -> list[HaphazardTrial]:
    """The trials of a row, by method and seed."""
    seeds = range(arguments.seed, arguments.seed + arguments.runs)
    return [
        HaphazardTrial(source, p, seed, method, arguments.memory)
        for method in methods
        for seed in ((0,) if method in _ONE_SEED else seeds)
    ]


def _cell(group: Sequence[HaphazardTrial], outcomes: Sequence[Outcome]) -> Cell:
    by_method: dict[str, tuple[Outcome, ...]] = {}
    for trial, outcome in zip(group, outcomes, strict=True):
        by_method[trial.method] = (*by_method.get(trial.method, ()), outcome)
    return cell(group[0].source.name, group[0].p, by_method)


def _caption(arguments: argparse.Namespace, methods: Sequence[str]) -> str:
    last = arguments.seed + arguments.runs - 1
    once = [name for name in methods if name in _ONE_SEED]
    return (
        "p: percent of the values that are there. Records in the benchmark's order, each predicted, then learnt.\n"
        f"Seeds {arguments.seed} to {last}" + (f" ({', '.join(once)}: nothing random, run once)" if once else "") + "."
        f" Memory: {arguments.memory} exemplars."
    )
