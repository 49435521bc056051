"""One `eml evaluate confirm`: kept trials of earlier code run again, and counted as made with today's where all agree.

Called by `command`. For methods that are not ours: the learner's own figures are made anew when it changes. Of every
scenario and method one trial per data set is run again, the quickest; its figures must be equal to the last bit, CPU
time apart, and settings, data and packages must be the same. What was found stands in the folder
(`kept_trials.confirmed`).
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from eml.evaluate import runner, scenarios
from eml.evaluate.errors import EvaluationError
from eml.evaluate.kept_trials import confirmed
from eml.evaluate.kept_trials.confirmed import Confirmation
from eml.evaluate.kept_trials.store import Line, Store
from eml.evaluate.reporting.gather import VARIANTS
from eml.evaluate.scenarios import AnyTrial

_OURS = (*VARIANTS, "restart", "drop-only")  # all that is made of our learner

Place = tuple[str, str, str]  # scenario, method, the code its trials were made with


def run(arguments: argparse.Namespace) -> None:
    """Confirm as asked."""
    folder = Path(arguments.keep)
    if not folder.is_dir():
        raise EvaluationError(f"--keep {folder}: there is no such folder")
    groups = _stale(Store(folder).read_all().lines)
    if not groups:
        sys.stdout.write("every kept trial of a method that is not ours was made with the code that is here\n")
        return
    chosen = {place: _sample(lines, arguments.longest) for place, lines in groups.items()}
    trials = [trial for found in chosen.values() for trial in found]
    outcomes = dict(
        zip(trials, runner.run(trials, scenarios.perform, arguments.jobs, Console(stderr=True)), strict=True)
    )
    found = []
    for place, sample in chosen.items():
        differing = [trial.label for trial, line in sample.items() if not _equal(outcomes[trial], line.outcome)]
        sys.stdout.write(_verdict(place, len(groups[place]), len(sample), differing) + "\n")
        if sample and not differing:
            found.append(_confirmation(place, sample))
    confirmed.add(folder, found)


def _stale(lines: Sequence[Line]) -> dict[Place, list[Line]]:
    """The kept trials made with other code than is here, by scenario, method and that code."""
    groups: dict[Place, list[Line]] = {}
    for line in {line.key: line for line in lines}.values():
        scenario, method, code = line.trial["scenario"], line.trial["method"], line.made_of.get("sources", "")
        if method in _OURS:
            continue
        try:
            now = scenarios.code_of(scenario, method)
        except KeyError:  # a method that is not here any more
            continue
        if code != now:
            groups.setdefault((scenario, method, code), []).append(line)
    return groups


def _sample(lines: Sequence[Line], longest: float | None) -> dict[AnyTrial, Line]:
    """The quickest trial of each data set that can be compared; of those above `longest` seconds only the quickest."""
    quickest: dict[str, tuple[AnyTrial, Line]] = {}
    for line in sorted(lines, key=lambda line: line.took):
        trial = scenarios.rebuilt(line.trial)
        if trial is not None and line.trial["dataset"] not in quickest and _comparable(trial, line):
            quickest[line.trial["dataset"]] = (trial, line)
    kept = list(quickest.values())
    return dict(pair for number, pair in enumerate(kept) if not number or longest is None or pair[1].took <= longest)


def _comparable(trial: AnyTrial, line: Line) -> bool:
    """Whether only the code is another."""
    now = scenarios.made_of(trial)
    return all(line.made_of.get(part) == value for part, value in now.items() if part != "sources")


def _equal(outcome: Mapping[str, Any], kept: Mapping[str, Any]) -> bool:
    now = json.loads(json.dumps(outcome))  # as it would be read back
    return {**now, "seconds": 0.0} == {**kept, "seconds": 0.0}


def _confirmation(place: Place, sample: Mapping[AnyTrial, Line]) -> Confirmation:
    scenario, method, before = place
    rerun = tuple(f"{trial.label}, seed {trial.seed}" for trial in sample)
    return Confirmation(scenario, method, before, scenarios.code_of(scenario, method), rerun)


def _verdict(place: Place, kept: int, rerun: int, differing: Sequence[str]) -> str:
    scenario, method, _ = place
    if not rerun:
        why = "of a user's own data, or with other settings, data or packages"
        return f"{scenario} {method}: none of {kept} can be compared ({why}); they stay stale"
    if differing:
        return f"{scenario} {method}: {len(differing)} of {rerun} differ ({', '.join(differing)}); {kept} stay stale"
    return f"{scenario} {method}: {rerun} run again, all equal; {kept} kept trials stand"
