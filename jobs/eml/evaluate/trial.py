"""One trial: one method through one script, scored. What a worker process does.

Called by `runner`, in a process of its own; calls a source's `load`, `protocols` and `methods`. A trial depends on
its own fields only, so that it gives the same wherever and whenever it runs.
"""

import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from eml.evaluate.datasets import Dataset
from eml.evaluate.methods import Method, build
from eml.evaluate.protocols import Announce, Evolve, Learn, Predict, Script, multi_shot, one_shot


class Source(Hashable, Protocol):
    """Where a data set comes from: hashable, and small enough to be sent to a worker."""

    @property
    def name(self) -> str:
        """The data set's name in the table."""

    def load(self) -> Dataset:
        """Return the data set, or say why not (EvaluationError)."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A method, a cell of the table, a seed."""

    source: Source
    scenario: str  # a key of paper.MAIN_TABLE
    batch: int
    seed: int
    method: str
    memory: int

    @property
    def label(self) -> str:
        """What the progress bar says of it."""
        return f"{self.source.name} {self.batch} {self.method}"

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from others, as JSON holds it."""
        return {
            "scenario": self.scenario,
            "dataset": self.source.name,
            "batch": self.batch,
            "seed": self.seed,
            "method": self.method,
            "memory": self.memory,
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """Accuracies in percent: the protocol's, and by stage; CPU seconds of learning and predicting."""

    accuracy: float
    by_stage: dict[int, float]
    seconds: float

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Outcome":
        """Return the outcome that was written as JSON, where all names are strings."""
        by_stage = {int(stage): accuracy for stage, accuracy in content["by_stage"].items()}
        return cls(content["accuracy"], by_stage, content["seconds"])


@lru_cache(maxsize=2)  # trials come data set by data set, mostly
def dataset_of(source: Source) -> Dataset:
    """Return the data set of a source, loaded once per process."""
    return source.load()


def script_of(trial: Trial) -> Script:
    """Return the script of a trial: it depends on the cell and the seed, not on the method."""
    dataset = dataset_of(trial.source)
    if trial.scenario == "one-shot":
        return one_shot(dataset, trial.batch, trial.seed)
    return multi_shot(dataset, trial.batch, trial.seed, "I" if trial.scenario == "multi-shot-task-I" else "II")


def perform(trial: Trial) -> Outcome:
    """Run one trial."""
    script = script_of(trial)
    start = time.process_time()
    scores = play(script, build(trial.method, script.start, trial.seed, trial.memory))
    seconds = time.process_time() - start
    counted = [accuracy for step, accuracy in scores if step.counts]
    return Outcome(sum(counted) / len(counted), {step.stage: accuracy for step, accuracy in scores}, seconds)


def play(script: Script, method: Method) -> list[tuple[Predict, float]]:
    """Drive `method` through `script`; return each prediction step with its accuracy in percent."""
    scores = []
    for step in script.steps:
        match step:
            case Announce(space):
                method.announce(space)
            case Evolve(space):
                method.evolve(space)
            case Learn(samples, labels):
                method.learn(samples, labels.tolist())
            case Predict(samples, labels):
                predicted = method.predict(samples)  # the labels stay here
                right = [got == true for got, true in zip(predicted, labels.tolist(), strict=True)]
                scores.append((step, 100.0 * sum(right) / len(right)))
    return scores
