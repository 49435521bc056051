"""One trial: one method through one stream, measured. What a worker process does.

Called by `runner`, in a process of its own; calls a source's `load`, `course`, then one of our methods or a peer.
"""

import time
from dataclasses import dataclass
from typing import Any

from eml.evaluate.prequential import course, peers
from eml.evaluate.prequential.course import Plan
from eml.evaluate.prequential.measures import Figures, measure
from eml.evaluate.prequential.methods import REGISTRY
from eml.evaluate.prequential.play import play
from eml.evaluate.trial import Source, dataset_of


@dataclass(frozen=True, slots=True)
class StreamTrial:
    """A method, a data set as a stream, a seed."""

    source: Source
    plan: Plan
    seed: int
    method: str
    memory: int

    @property
    def label(self) -> str:
        """What the progress bar says of it."""
        return f"{self.source.name} {self.method}"

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from others, as JSON holds it."""
        return {
            "scenario": "stream",
            "dataset": self.source.name,
            "seed": self.seed,
            "method": self.method,
            "memory": self.memory,
            **self.plan.identity,
        }


def perform(trial: StreamTrial) -> Figures:
    """Run one trial."""
    dealt = course.deal(dataset_of(trial.source), trial.plan, trial.seed)
    if trial.method not in REGISTRY:
        return measure(dealt, *peers.answers(dealt, trial.method, trial.seed, trial.memory))
    method = REGISTRY[trial.method](dealt.stages[0].space, trial.seed, trial.memory)
    start = time.process_time()
    answers = play(dealt, method)
    return measure(dealt, answers, time.process_time() - start)
