"""A user's own data: an `.npz` with arrays X and y, cut as the command line says.

Called by `trial` (the source of `--data`); gives the same `Dataset` as a named one. It knows nothing of batches'
contents: whether the classes hold enough samples is for `protocols` to say. NaN is a missing value; an infinite one is
missing, too, as it is for the learner. Which methods take missing values: see `imputing`.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.evaluate.datasets import Dataset, Floats, Labels
from eml.evaluate.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A user's file and how to cut it; small enough to be sent to a worker, which loads it."""

    path: str
    split: tuple[int, int, int] | None  # None: quarters, as the multi-shot scenario cuts anyway
    batches: tuple[int, ...]
    classes: tuple[str, ...] = ()  # none: all
    total: int | None = None

    @property
    def name(self) -> str:
        """The file's name; its ending tells it from a data set of the paper."""
        return Path(self.path).name

    def load(self) -> Dataset:
        """Return the file's samples of the chosen classes."""
        arrays = read(Path(self.path))
        rows = samples(self.path, arrays["X"])
        classes = labels(self.path, arrays["y"], len(rows))
        if self.classes:
            chosen = _chosen(classes, self.classes)
            rows, classes = rows[chosen], classes[chosen]
        return Dataset(
            name=self.name,
            X=rows,
            y=classes,
            split=_split(self.split, rows.shape[1]),
            total=self.total,
            batches=self.batches,
        )


def read(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file, X and y among them."""
    if not path.is_file():
        raise EvaluationError(f"--data {path}: no such file")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            missing = [name for name in ("X", "y") if name not in arrays]
            if missing:
                held = ", ".join(arrays) or "none"
                raise EvaluationError(
                    f"--data {path}: no array {' and no '.join(missing)} in it (its arrays: {held}); "
                    "write it with numpy.savez(FILE, X=samples_in_rows, y=labels)"
                )
            return dict(arrays)
    except (
        ValueError,
        TypeError,
        AttributeError,
        EOFError,
        zipfile.BadZipFile,
    ) as error:  # a .npy, a pickle, or neither
        raise EvaluationError(
            f"--data {path}: not an .npz of plain arrays ({error}); write it with numpy.savez(FILE, X=..., y=...)"
        ) from error


def samples(path: str, values: NDArray[Any]) -> Floats:
    """Return X as numbers, NaN where one is missing."""
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise EvaluationError(
            f"--data {path}: X must be numbers, samples in rows; it is {values.dtype} of shape {values.shape}"
        )
    numbers = values.astype(np.float64)
    numbers[np.isinf(numbers)] = np.nan
    if np.isnan(numbers).all():
        raise EvaluationError(f"--data {path}: X holds no value, all are missing (NaN or infinite)")
    return numbers


def labels(path: str, values: NDArray[Any], rows: int) -> Labels:
    """Return y as whole numbers or strings, one per row."""
    if values.shape != (rows,):
        raise EvaluationError(f"--data {path}: y must hold one label per row of X: {rows}, not {values.shape}")
    if values.dtype.kind in "US":
        return values.astype(np.str_)
    if values.dtype.kind in "iub" or (values.dtype.kind == "f" and np.array_equal(values, np.rint(values))):
        return values.astype(np.int64)
    raise EvaluationError(f"--data {path}: labels must be whole numbers or strings; y is {values.dtype}")


def _chosen(labels: Labels, classes: tuple[str, ...]) -> NDArray[np.bool_]:
    spelt = labels.astype(np.str_)
    absent = sorted(set(classes) - set(spelt.tolist()))
    if absent:
        known = ", ".join(np.unique(spelt).tolist()[:20])
        raise EvaluationError(f"--classes: no sample of class {', '.join(absent)} (classes in the file: {known})")
    chosen: NDArray[np.bool_] = np.isin(spelt, classes)
    return chosen


def _split(split: tuple[int, int, int] | None, columns: int) -> tuple[int, int, int]:
    if split is None:
        quarter = columns // 4
        return quarter, columns - 2 * quarter, quarter
    if sum(split) != columns:
        vanished, survived, new = split
        raise EvaluationError(
            f"--split {vanished},{survived},{new} adds up to {sum(split)}, but X has {columns} columns; "
            f"the paper's first quarter, middle half, last quarter would be "
            f"{columns // 4},{columns - 2 * (columns // 4)},{columns // 4}"
        )
    return split
