"""One trial: one method through one stream of the benchmark, measured. What a worker process does.

Called by `runner`, in a process of its own; calls `streams`, then one of our methods or a peer.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eml.evaluate.haphazard.methods import PEERS, REGISTRY
from eml.evaluate.haphazard.streams import Source, records_of
from eml.evaluate.prequential import peers
from eml.evaluate.prequential.course import Codes
from eml.evaluate.prequential.play import NO_ANSWER, play

SCENARIO = "haphazard"


@dataclass(frozen=True, slots=True)
class HaphazardTrial:
    """A method, a data set at p percent of its values, a seed."""

    source: Source
    p: int
    seed: int
    method: str
    memory: int

    @property
    def label(self) -> str:
        """What the progress bar says of it."""
        return f"{self.source.name} {self.p} {self.method}"

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from others, as JSON holds it."""
        return {
            "scenario": SCENARIO,
            "dataset": self.source.name,
            "p": self.p,
            "seed": self.seed,
            "method": self.method,
            "memory": self.memory,
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """Accuracies over the whole stream in percent; CPU seconds of predicting and learning."""

    balanced: float  # mean of the two classes' accuracies: the benchmark's figure
    accuracy: float
    silent: int  # records without an answer; each counts as class 0
    seconds: float

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Outcome":
        """Return the outcome that was written as JSON."""
        return cls(**content)


def perform(trial: HaphazardTrial) -> Outcome:
    """Run one trial."""
    records = records_of(trial.source)
    course = records.stream(trial.p)
    if trial.method in PEERS:
        (given,), seconds = peers.answers(course, PEERS[trial.method], trial.seed, trial.memory)
        return measure(records.y, given, seconds)
    method = REGISTRY[trial.method](course.stages[0].space, trial.seed, trial.memory)
    start = time.process_time()
    (given,) = play(course, method)
    return measure(records.y, given, time.process_time() - start)


def measure(labels: Codes, given: Codes, seconds: float) -> Outcome:
    """Compare answers with labels; no answer counts as class 0, as the benchmark has it."""
    right = np.where(given == NO_ANSWER, 0, given) == labels
    balanced = np.mean([right[labels == label].mean() for label in np.unique(labels)])
    silent = int((given == NO_ANSWER).sum())
    return Outcome(100.0 * float(balanced), 100.0 * float(right.mean()), silent, seconds)
