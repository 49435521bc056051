"""The benchmark's streams: records in its order, and its masks of which values are there.

Called by `trial` and `session`; reads `haphazard_NAME.npz` from the folder in EML_DATA, or a user's file of that form:
X (records in rows), y (two classes), and a mask of X's shape for each share p of values that are there: mask25, mask50,
mask75. A value that is not there is NaN in the stream; one that is NaN in X is missing under any mask.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.core import FeatureSpace
from eml.evaluate import datasets, own
from eml.evaluate.datasets import Floats
from eml.evaluate.errors import EvaluationError
from eml.evaluate.prequential.course import Codes, Course, Mask, Stage

_MASK = "mask"


@dataclass(frozen=True, slots=True)
class Records:
    """A data set with its masks."""

    X: Floats  # (records, features)
    y: Codes  # (records,) 0 or 1
    masks: dict[int, Mask]  # by p in percent, each (records, features)

    def stream(self, p: int) -> Course:
        """Return the records with what is there at p percent, as a stream of one stage, every label given."""
        names = tuple(f"f{column:04d}" for column in range(self.X.shape[1]))
        rows = np.where(self.masks[p], self.X, np.nan)
        every = np.ones(len(self.y), dtype=np.bool_)
        return Course((Stage(FeatureSpace(names), rows, self.y, every, announced=len(self.y)),))


@dataclass(frozen=True, slots=True)
class Source:
    """A set of the benchmark, or a user's file; small enough to be sent to a worker, which loads it."""

    name: str
    path: str | None = None  # None: a set of the benchmark

    @classmethod
    def own(cls, path: str) -> "Source":
        """A user's file."""
        return cls(Path(path).name, path)

    def load(self) -> Records:
        """Return the records and masks."""
        path = datasets.checked(self.name, datasets.haphazard_file(self.name)) if self.path is None else Path(self.path)
        arrays = own.read(path)
        samples = own.samples(str(path), arrays["X"])
        classes, codes = np.unique(own.labels(str(path), arrays["y"], len(samples)), return_inverse=True)
        if len(classes) != 2:
            raise EvaluationError(f"{path}: {len(classes)} classes; the benchmark's streams have two")
        return Records(samples, codes.astype(np.intp), _masks(path, arrays, samples.shape))


@lru_cache(maxsize=8)
def records_of(source: Source) -> Records:
    """Return the records of a source, loaded once per process."""
    return source.load()


def _masks(path: Path, arrays: dict[str, NDArray[Any]], shape: tuple[int, ...]) -> dict[int, Mask]:
    names = [name for name in arrays if name.startswith(_MASK) and name.removeprefix(_MASK).isdecimal()]
    if not names:
        raise EvaluationError(f"{path}: no masks in it; they are named mask25, mask50, ... by percent of values there")
    for name in names:
        if arrays[name].shape != shape:
            raise EvaluationError(f"{path}: {name} must have the shape of X, {shape}, not {arrays[name].shape}")
    return {int(name.removeprefix(_MASK)): arrays[name].astype(np.bool_) for name in names}
