"""A course, and the answers to it, as files between two environments: plain arrays, never a pickle.

Called by `peers` on our side and by `peer` on the other.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.core import FeatureSpace
from eml.evaluate.prequential.course import Codes, Course, Stage


def write_course(path: Path, course: Course) -> None:
    """Write the stages' arrays, each under its name and the stage's number."""
    arrays: dict[str, NDArray[Any]] = {"stages": np.array(len(course.stages))}
    for number, stage in enumerate(course.stages):
        arrays[f"names{number}"] = np.array(stage.space.names)
        arrays[f"X{number}"], arrays[f"y{number}"] = stage.X, stage.y
        arrays[f"labelled{number}"] = stage.labelled
        arrays[f"announced{number}"] = np.array(stage.announced)
    np.savez(path, **arrays)


def read_course(path: Path) -> Course:
    """Return what `write_course` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        return Course(
            tuple(
                Stage(
                    space=FeatureSpace(tuple(arrays[f"names{number}"].tolist())),
                    X=arrays[f"X{number}"],
                    y=arrays[f"y{number}"],
                    labelled=arrays[f"labelled{number}"],
                    announced=int(arrays[f"announced{number}"]),
                )
                for number in range(int(arrays["stages"]))
            )
        )


def write_answers(path: Path, answers: Sequence[Codes], seconds: float) -> None:
    """Write the answers of each stage, and the CPU time they took."""
    stages = {f"stage{number}": given for number, given in enumerate(answers)}
    np.savez(path, seconds=np.array(seconds), **stages)


def read_answers(path: Path) -> tuple[list[Codes], float]:
    """Return what `write_answers` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        answers: list[Codes] = [arrays[f"stage{number}"] for number in range(len(arrays) - 1)]
        return answers, float(arrays["seconds"])
