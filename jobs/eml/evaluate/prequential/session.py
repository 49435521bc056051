"""One `eml evaluate stream` from request to table.

Called by `command`; checks the request before any work is done, has `runner` run its trials, and gives the figures
to `results` and `table`.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console

from eml.evaluate import request
from eml.evaluate.ablations import config_without
from eml.evaluate.catalogue import ABLATIONS, DATASETS, PEERS, STREAM_METHODS
from eml.evaluate.datasets import Named
from eml.evaluate.errors import EvaluationError, resolve_names
from eml.evaluate.kept_trials import resume, sources
from eml.evaluate.own import OwnFile
from eml.evaluate.prequential import course, peer, peers, schemes, table
from eml.evaluate.prequential.course import Plan
from eml.evaluate.prequential.measures import Figures
from eml.evaluate.prequential.methods import REGISTRY
from eml.evaluate.prequential.results import COLD, Group, as_json
from eml.evaluate.prequential.trial import StreamTrial, perform
from eml.evaluate.trial import Source, dataset_of

_TRIAL = "eml.evaluate.prequential.trial"  # the code all figures depend on, with what it imports


def run(arguments: argparse.Namespace) -> None:
    """Evaluate as asked."""
    methods = resolve_names(arguments.methods, STREAM_METHODS, "method")
    target = request.target("json", arguments.json)
    chosen = _sources(arguments)
    trials = _trials(arguments, chosen, methods)
    form = resume.Form(perform, made_of, Figures.from_json)
    figures = iter(resume.run(trials, form, arguments.jobs, arguments.keep, Console(stderr=True)))
    groups = [
        Group(
            source.name,
            dataset_of(source).note,
            {method: tuple(next(figures) for _ in range(arguments.runs)) for method in methods},
        )
        for source in chosen
    ]
    if target:
        command = {**request.plain(arguments), "dataset": [source.name for source in chosen], "methods": methods}
        target.write_text(json.dumps(as_json(groups, command), indent=1) + "\n", encoding="utf-8")
    table.show(groups, _caption(arguments, methods), Console())


def made_of(trial: StreamTrial) -> dict[str, str]:
    """What a trial's figures depend on beside its own fields."""
    data = sources.data_checksum(trial.source)
    if trial.plan.order == "file":
        data = sources.short(data.encode(), dataset_of(trial.source).order.tobytes())
    if trial.method not in REGISTRY:
        return sources.made_of(code_of(trial.method), {"memory": trial.memory}, data, peers.installed(trial.method))
    settings = asdict(config_without(ABLATIONS.get(trial.method), trial.memory))
    return sources.made_of(code_of(trial.method), settings, data, sources.installed())


def code_of(method: str) -> str:
    """Return the checksum of the code a method's figures are made with."""
    if method not in REGISTRY:
        return sources.code_checksum([_TRIAL, peer.__name__, peer.FACTORIES[method][0]])
    return sources.code_checksum([_TRIAL, *sources.modules_of(REGISTRY[method])])


def _trials(arguments: argparse.Namespace, sources: Sequence[Source], methods: Sequence[str]) -> list[StreamTrial]:
    """Return the trials by source, method and seed, or say what cannot be run, before hours of what can."""
    plan = Plan(
        arguments.switches, arguments.total, arguments.labelled, arguments.notice, arguments.scheme, arguments.order
    )
    if not set(PEERS).isdisjoint(methods):
        peers.python()
    for source in sources:
        course.deal(dataset_of(source), plan, arguments.seed)
    seeds = range(arguments.seed, arguments.seed + arguments.runs)
    return [
        StreamTrial(source, plan, seed, method, arguments.memory)
        for source in sources
        for method in methods
        for seed in seeds
    ]


def _sources(arguments: argparse.Namespace) -> list[Source]:
    if arguments.data is None:
        for option in ("split", "classes"):
            if getattr(arguments, option) is not None:
                raise EvaluationError(f"--{option} goes with --data; a data set by name has its own")
        return [Named(name) for name in resolve_names(arguments.dataset, DATASETS, "data set")]
    if arguments.split is None and arguments.scheme == schemes.ROTATING:
        raise EvaluationError("--data needs --split DV,DS,DN: the columns of X that vanish, survive and are new")
    if arguments.split is not None and arguments.scheme != schemes.ROTATING:
        raise EvaluationError(f"--split goes with --scheme {schemes.ROTATING}; the others take chunks of equal size")
    return [OwnFile(arguments.data, arguments.split, (), tuple(arguments.classes or ()))]


def _caption(arguments: argparse.Namespace, methods: Sequence[str]) -> str:
    last = arguments.seed + arguments.runs - 1
    lines = [
        f"Seeds {arguments.seed} to {last}, with the same stream for every method; switches: {arguments.switches}"
        + ("." if arguments.scheme == schemes.ROTATING else f", {arguments.scheme} features."),
        f"Labelled: {100 * arguments.labelled:g} % of the records. Memory: {arguments.memory} exemplars.",
    ]
    if arguments.order == "file":
        lines.append("Records in the order in which they were recorded.")
    if "eml-announced" in methods:
        lines.append(f"eml-announced knows the next features in the last {100 * arguments.notice:g} % of a stage.")
    if COLD in methods:
        lines.append(f"regret: right answers of {COLD} minus a method's own, per stage after a switch; less is better.")
    return "\n".join(lines)
