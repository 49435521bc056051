"""Trials run where they are missing from the folder, and taken from it where they are there.

Called by the scenarios' sessions with all their trials; calls `store` and `runner`. A kept trial is taken only where
what it was made of is what it would be made of now.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, Protocol, TypeVar

from rich.console import Console
from rich.text import Text

from eml.evaluate import runner
from eml.evaluate.kept_trials.store import Line, Reading, Store, key_of


class Keepable(runner.Labelled, Protocol):
    """A trial that can be named in a file."""

    @property
    def identity(self) -> dict[str, Any]:
        """Its fields as JSON holds them: scenario, dataset, method, seed, and what else tells it from others."""


Trial = TypeVar("Trial", bound=Keepable)
Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Form(Generic[Trial, Outcome]):
    """How a scenario's trials are performed, what they are made of, and how an outcome is read back."""

    perform: Callable[[Trial], Outcome]
    made_of: Callable[[Trial], dict[str, str]]
    decode: Callable[[Mapping[str, Any]], Outcome]


def run(
    trials: Sequence[Trial], form: Form[Trial, Outcome], jobs: int, keep: str | None, console: Console
) -> list[Outcome]:
    """Return the outcome of each trial in order; with a folder to `keep` them in, only what is missing is run."""
    if keep is None:
        return runner.run(trials, form.perform, jobs, console)
    store = Store.at(keep)
    made_of = {trial: form.made_of(trial) for trial in trials}
    reading = store.read(dict.fromkeys((trial.identity["scenario"], trial.identity["method"]) for trial in trials))
    found = _fitting(reading, made_of)
    missing = [trial for trial in trials if trial not in found]
    console.print(Text(_account(store, reading, made_of, missing)), soft_wrap=True)
    fresh = _run_missing(missing, form, jobs, store, made_of, _lengths(found), console)
    return [fresh[trial] if trial in fresh else form.decode(found[trial].outcome) for trial in trials]


def _run_missing(
    missing: Sequence[Trial],
    form: Form[Trial, Outcome],
    jobs: int,
    store: Store,
    made_of: Mapping[Trial, dict[str, str]],
    lengths: Mapping[str, float],
    console: Console,
) -> dict[Trial, Outcome]:
    kept = 0

    def add(trial: Trial, outcome: Outcome, took: float) -> None:
        nonlocal kept
        store.add(Line(trial.identity, made_of[trial], asdict(outcome), took))  # type: ignore[call-overload]
        kept += 1

    try:
        outcomes = runner.run(missing, form.perform, jobs, console, finished=add, lengths=lengths)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{kept} of {len(missing)} trials were finished and are kept in {store.folder}; "
            "the same command goes on from there"
        ) from None
    return dict(zip(missing, outcomes, strict=True))


def _fitting(reading: Reading, made_of: Mapping[Trial, dict[str, str]]) -> dict[Trial, Line]:
    """The kept lines that can be taken as they are; of several the one written last."""
    by_key = {(line.key, key_of(line.made_of)): line for line in reading.lines}
    pairs = {trial: by_key.get((key_of(trial.identity), key_of(parts))) for trial, parts in made_of.items()}
    return {trial: line for trial, line in pairs.items() if line is not None}


def _lengths(found: Mapping[Trial, Line]) -> dict[str, float]:
    """How long trials took in earlier runs, by what the progress bar calls them."""
    took: dict[str, list[float]] = {}
    for trial, line in found.items():
        took.setdefault(trial.label, []).append(line.took)
    return {label: sum(seconds) / len(seconds) for label, seconds in took.items()}


def _account(store: Store, reading: Reading, made_of: Mapping[Trial, dict[str, str]], missing: Sequence[Trial]) -> str:
    """One line: how many are taken, how many are stale and why, how many run."""
    kept = {line.key: line for line in reading.lines}
    stale = [trial for trial in missing if key_of(trial.identity) in kept]
    changed = Counter(
        part
        for trial in stale
        for part, now in made_of[trial].items()
        if kept[key_of(trial.identity)].made_of.get(part) != now
    )
    why = f" (made of other {', '.join(changed)})" if changed else ""
    torn = f"; {reading.unreadable} unreadable (a torn write) and left out" if reading.unreadable else ""
    taken = len(made_of) - len(missing)
    return f"{store.folder}: {taken} trials taken, {len(stale)} stale{why}, {len(missing)} to run{torn}"
