"""The loop: a record is predicted, then its label is given. The same for our methods and, elsewhere, for peers.

Called by `trial`, and by `peer` in the peers' environment; a method sees what this loop hands it and no more, and
the labels of records are handed over only after these records were predicted.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from eml.core import FeatureSpace
from eml.evaluate.datasets import Floats
from eml.evaluate.prequential.course import Codes, Course, Stage

NO_ANSWER = -1  # no class has this number


class StreamMethod(Protocol):
    """What the loop asks of a method."""

    @property
    def room(self) -> int:
        """How many more labels it gathers before it changes: its answers up to there do not depend on them."""

    def predict(self, rows: Floats) -> Sequence[int | None]:
        """Return a class for each row; None: it cannot tell."""

    def learn(self, rows: Floats, labels: Sequence[int]) -> None:
        """Take labelled records, `room` of them at most."""

    def announce(self, space: FeatureSpace) -> None:
        """Hear that the stream will go over to `space`."""

    def evolve(self, space: FeatureSpace) -> None:
        """Go over to `space`: all later rows have its features."""


def play(course: Course, method: StreamMethod) -> list[Codes]:
    """Drive `method` through `course`; return its answers, stage by stage."""
    answers = []
    for number, stage in enumerate(course.stages):
        if number:
            method.evolve(stage.space)
        following = course.stages[number + 1].space if number + 1 < len(course.stages) else None
        answers.append(_play_stage(stage, method, following))
    return answers


def _play_stage(stage: Stage, method: StreamMethod, following: FeatureSpace | None) -> Codes:
    answers = np.full(len(stage), NO_ANSWER, dtype=np.intp)
    start = 0
    while start < len(stage):
        if following is not None and start == stage.announced:
            method.announce(following)
        end = _piece_end(stage, start, method.room)
        answers[start:end] = _numbers(method.predict(stage.X[start:end].copy()), end - start)
        known = start + np.flatnonzero(stage.labelled[start:end])
        if len(known):
            method.learn(stage.X[known], stage.y[known].tolist())
        start = end
    return answers


def _piece_end(stage: Stage, start: int, room: int) -> int:
    """Behind the record with the last label there is room for, or before the announcement, or at the end."""
    end = stage.announced if start < stage.announced else len(stage)
    known = np.flatnonzero(stage.labelled[start:end])
    return start + int(known[max(room, 1) - 1]) + 1 if len(known) >= max(room, 1) else end


def _numbers(answers: Sequence[int | None], records: int) -> Codes:
    if len(answers) != records:
        raise ValueError(f"{records} records were predicted with {len(answers)} answers")
    return np.array([NO_ANSWER if answer is None else answer for answer in answers], dtype=np.intp)
