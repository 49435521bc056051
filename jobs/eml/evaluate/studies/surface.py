"""Accuracy over a plane of two settings, the others as they are (the paper's figure of hyper-parameters).

Called by `session`, in a worker; plays the one-shot protocol with other settings. The paper's planes are {gamma, rho}
and {gamma, lambda}, each from 1e-5 to 1. Its gamma, the step size, is chosen online here, from `steps`; a plane with
gamma has that one size on offer instead. The plane {lambda, rho} has what is left to set.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.evaluate.methods import Eml
from eml.evaluate.protocols import one_shot
from eml.evaluate.trial import Source, dataset_of, play

PLANES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"lambda-rho": ("lam", "rho"), "gamma-rho": ("gamma", "rho"), "gamma-lambda": ("gamma", "lam")}
)
GRID = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # the paper's range, for every setting


@dataclass(frozen=True, slots=True)
class SurfaceTrial:
    """A point of a plane over a data set at one batch size, a seed."""

    source: Source
    batch: int
    seed: int
    memory: int
    plane: str
    x: float
    y: float

    @property
    def label(self) -> str:
        """What the progress bar says of it: points of a plane take about as long as each other."""
        return f"{self.source.name} {self.batch} {self.plane}"

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from others, as JSON holds it."""
        return {
            "scenario": "surface",
            "dataset": self.source.name,
            "batch": self.batch,
            "seed": self.seed,
            "method": "eml",
            "memory": self.memory,
            "plane": self.plane,
            "x": self.x,
            "y": self.y,
        }

    @property
    def settings(self) -> LearnerConfig:
        """The learner's, with the two of this point."""
        values: dict[str, Any] = dict(zip(PLANES[self.plane], (self.x, self.y), strict=True))
        if "gamma" in values:
            values["steps"] = (values.pop("gamma"),)
        return replace(LearnerConfig(), memory_size=self.memory, **values)


@dataclass(frozen=True, slots=True)
class Point:
    """Accuracy in percent, and CPU seconds."""

    accuracy: float
    seconds: float

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Point":
        """Return the point that was written as JSON."""
        return cls(**content)


class _Tuned(Eml):
    """The learner with settings of its own."""

    def __init__(self, space: FeatureSpace, seed: int, config: LearnerConfig) -> None:
        self._learner = EvolvingMetricLearner(space, config, seed)


def perform(trial: SurfaceTrial) -> Point:
    """Run one trial."""
    script = one_shot(dataset_of(trial.source), trial.batch, trial.seed)
    start = time.process_time()
    ((_, accuracy),) = play(script, _Tuned(script.start, trial.seed, trial.settings))
    return Point(accuracy, time.process_time() - start)
