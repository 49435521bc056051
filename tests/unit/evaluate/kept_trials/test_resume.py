"""A run that goes on: what is kept is taken, what is stale or missing runs, an interruption loses nothing finished."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from eml.evaluate import runner
from eml.evaluate.kept_trials import resume
from eml.evaluate.kept_trials.store import Store


@dataclass(frozen=True, slots=True)
class Throw:
    """A trial whose outcome is a function of its fields."""

    seed: int
    method: str = "eml"

    @property
    def label(self) -> str:
        return self.method

    @property
    def identity(self) -> dict[str, Any]:
        return {"scenario": "one-shot", "dataset": "dice", "seed": self.seed, "method": self.method}


@dataclass(frozen=True, slots=True)
class Fell:
    eyes: float
    seconds: float = 0.25

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Fell":
        return cls(**content)


class Session:
    """The runner in this process, without workers: which trials it was given, and where it is interrupted."""

    def __init__(self, folder, monkeypatch) -> None:
        self.keep = str(folder)
        self.ran: list[Throw] = []
        self.stop_after: int | None = None
        self.made_of = {"sources": "one", "data": "same"}
        self.said = ""
        monkeypatch.setattr(runner, "run", self._run)

    def _run(self, trials, perform, *_, finished=None, lengths=None):
        self.lengths, outcomes = lengths, []
        for number, trial in enumerate(trials):
            if number == self.stop_after:
                raise KeyboardInterrupt
            self.ran.append(trial)
            outcomes.append(perform(trial))
            if finished is not None:
                finished(trial, outcomes[-1], 2.0)
        return outcomes

    def run(self, trials, *, keep=True):
        self.ran = []
        out = io.StringIO()
        form: resume.Form[Throw, Fell] = resume.Form(
            lambda trial: Fell(trial.seed / 7), lambda _: self.made_of, Fell.from_json
        )
        try:
            return resume.run(trials, form, 1, self.keep if keep else None, Console(file=out, width=200))
        finally:
            self.said = out.getvalue().strip()


@pytest.fixture
def session(tmp_path, monkeypatch):
    return Session(tmp_path / "kept", monkeypatch)


TRIALS = [Throw(seed, method) for method in ("eml", "memory") for seed in range(3)]


def test_without_a_folder_all_run_and_nothing_is_written(session, tmp_path):
    session.run(TRIALS, keep=False)
    assert session.ran == TRIALS
    assert list(tmp_path.iterdir()) == []
    assert session.said == ""


def test_a_second_run_takes_everything_and_gives_the_same(session):
    first = session.run(TRIALS)
    assert session.said.endswith("kept: 0 trials taken, 0 stale, 6 to run")
    assert session.run(TRIALS) == first
    assert session.ran == []
    assert session.said.endswith("kept: 6 trials taken, 0 stale, 0 to run")


def test_more_seeds_run_only_what_is_more(session):
    session.run([Throw(seed) for seed in range(20)])
    assert session.run([Throw(seed) for seed in range(50)]) == [Fell(seed / 7) for seed in range(50)]
    assert session.ran == [Throw(seed) for seed in range(20, 50)]
    assert session.lengths == {"eml": 2.0}  # so that the time left is known at once


@pytest.mark.parametrize("stop", [0, 1, 4])
def test_interrupted_and_resumed_is_the_same_as_unbroken(session, stop):
    session.stop_after = stop
    with pytest.raises(KeyboardInterrupt, match=f"{stop} of 6 trials were finished and are kept in .*goes on"):
        session.run(TRIALS)
    session.stop_after = None
    assert session.run(TRIALS) == [Fell(trial.seed / 7) for trial in TRIALS]
    assert session.ran == TRIALS[stop:]


def test_what_is_made_of_something_else_is_not_taken_and_it_is_said_of_what(session):
    session.run(TRIALS[:4])
    session.made_of = {"sources": "two", "data": "same"}
    session.run(TRIALS)
    assert session.ran == TRIALS
    assert session.said.endswith("kept: 0 trials taken, 4 stale (made of other sources), 6 to run")
    session.made_of = {"sources": "one", "data": "same"}
    session.run(TRIALS[:4])
    assert session.ran == []  # the older ones are still there


def test_a_torn_line_runs_again_and_is_said(session):
    session.run(TRIALS)
    path = Path(session.keep, "one-shot--eml.jsonl")
    path.write_bytes(path.read_bytes()[:-9])
    assert session.run(TRIALS) == [Fell(trial.seed / 7) for trial in TRIALS]
    assert session.ran == [Throw(2)]
    assert session.said.endswith("5 trials taken, 0 stale, 1 to run; 1 unreadable (a torn write) and left out")


def test_seconds_are_kept_too(session):
    session.run(TRIALS[:1])
    (line,) = Store.at(session.keep).read_all().lines
    assert line.outcome == {"eyes": 0.0, "seconds": 0.25}
    assert line.took == 2.0
