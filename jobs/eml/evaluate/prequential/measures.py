"""What a method's answers come to: shares of right ones, before a switch and after it.

Called by `trial`; knows a course's labels and the answers, no method.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eml.evaluate.prequential.course import Codes, Course, Stage

EARLY = 0.2  # the part of a stage right after a switch that shows what was carried over
TENTHS = 10


@dataclass(frozen=True, slots=True)
class Figures:
    """One run of a method; accuracies in percent, those after a switch as the mean over switches."""

    early: float  # in the first 20 % of a stage after a switch
    after: float  # in a whole stage after a switch
    balanced: float  # the same, every class counting alike
    before: float  # in the first stage
    right: tuple[int, ...]  # right answers by stage
    curve: tuple[tuple[float, ...], ...]  # accuracy in each tenth of each stage
    seconds: float  # CPU time of predicting and learning

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Figures":
        """Return the figures that were written as JSON, where tuples are lists."""
        curve = tuple(tuple(tenths) for tenths in content["curve"])
        return cls(**{**content, "right": tuple(content["right"]), "curve": curve})


def measure(course: Course, answers: Sequence[Codes], seconds: float) -> Figures:
    """Compare answers with labels; no answer is a wrong one."""
    hits = [given == stage.y for stage, given in zip(course.stages, answers, strict=True)]
    later = hits[1:]
    return Figures(
        early=_mean([_percent(right[: max(1, round(EARLY * len(right)))]) for right in later]),
        after=_mean([_percent(right) for right in later]),
        balanced=_mean([_balanced(stage, right) for stage, right in zip(course.stages[1:], later, strict=True)]),
        before=_percent(hits[0]),
        right=tuple(int(right.sum()) for right in hits),
        curve=tuple(tuple(_percent(part) for part in np.array_split(right, TENTHS)) for right in hits),
        seconds=seconds,
    )


def _balanced(stage: Stage, right: np.typing.NDArray[np.bool_]) -> float:
    return _mean([_percent(right[stage.y == label]) for label in np.unique(stage.y)])


def _percent(right: np.typing.NDArray[np.bool_]) -> float:
    return 100.0 * float(right.mean())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
