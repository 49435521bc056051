"""Samples dealt into batches with equal classes, no sample in two batches; one seed, one deal.

Called by `protocols`; it knows nothing of features or stages. The paper: "the number of streaming data in each batch
is same, and the sample number in each class is equal for all training and testing batches"; "in T-stage, the total
number of training data is fixed".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eml.evaluate.datasets import Dataset
from eml.evaluate.errors import EvaluationError

# Splits and methods get the same seeds; this number beside them keeps their random streams apart.
_STREAM = 1

I_AND_TEST = 2  # batches after the T-stage


@dataclass(frozen=True, slots=True)
class Deal:
    """Row numbers of each batch: the T-batches in order, the I-batch, the test batch."""

    training: tuple[NDArray[np.intp], ...]
    inheriting: NDArray[np.intp]
    testing: NDArray[np.intp]
    notes: tuple[str, ...]


def deal(dataset: Dataset, batch: int, seed: int, fewest: int) -> Deal:
    """Deal batches of `batch` samples; `total / batch` T-batches are wanted, `fewest` are needed.

    Where a class holds too few samples for the wanted T-batches there are fewer, and a note says so.
    """
    classes, counts = np.unique(dataset.y, return_counts=True)
    share = _share(dataset, batch, len(classes))
    rounds, notes = _rounds(dataset, batch, int(counts.min()) // share - I_AND_TEST)
    if rounds < fewest:
        raise EvaluationError(_too_few(dataset, batch, fewest))
    random = np.random.default_rng((_STREAM, seed))
    rows = [random.permutation(np.flatnonzero(dataset.y == label)) for label in classes]
    batches = [
        random.permutation(np.concatenate([row[start : start + share] for row in rows]))
        for start in range(0, (rounds + I_AND_TEST) * share, share)
    ]
    return Deal(tuple(batches[:rounds]), batches[rounds], batches[rounds + 1], notes)


def _share(dataset: Dataset, batch: int, classes: int) -> int:
    """Samples of each class in a batch."""
    if classes < 2:
        raise EvaluationError(f"{dataset.name}: {classes} class; a protocol needs at least two to tell apart")
    if batch % classes or batch < classes:
        below = batch // classes * classes
        fitting = f"{below} or {below + classes}" if below else str(classes)
        raise EvaluationError(
            f"{dataset.name}: a batch of {batch} cannot hold {classes} classes in equal number; {fitting} would fit"
        )
    return batch // classes


def _rounds(dataset: Dataset, batch: int, available: int) -> tuple[int, tuple[str, ...]]:
    """Number of T-batches, and notes where it is not the paper's total / batch."""
    if dataset.total is None:
        return available, ()
    wanted = dataset.total // batch
    notes = []
    if dataset.total % batch:
        notes.append(f"{dataset.total} is no multiple of {batch}: {wanted} T-batches, {wanted * batch} samples")
    if available < wanted:
        notes.append(f"{available} T-batches instead of {wanted}: {_scarcest(dataset)}")
    return min(wanted, available), tuple(notes)


def _scarcest(dataset: Dataset) -> str:
    classes, counts = np.unique(dataset.y, return_counts=True)
    return f"class {classes[counts.argmin()]} has {counts.min()} samples"


def _too_few(dataset: Dataset, batch: int, fewest: int) -> str:
    """Say why there are fewer than `fewest` T-batches, and which batch size would do."""
    classes, counts = np.unique(dataset.y, return_counts=True)
    needed = fewest + I_AND_TEST
    largest = int(counts.min()) // needed * len(classes)  # a batch of this size is there `needed` times
    if dataset.total is not None:
        largest = min(largest, dataset.total // fewest // len(classes) * len(classes))
    fitting = f"a batch of at most {largest} would fit" if largest else "no batch size fits: more samples are needed"
    return (
        f"{dataset.name}: {needed} batches of {batch} are needed ({fewest} before the evolution, one after it, one to "
        f"test), {batch // len(classes)} samples of each class in each, but {_scarcest(dataset)}"
        + ("" if dataset.total is None else f" and the T-stage's total is {dataset.total}")
        + f"; {fitting}"
    )
