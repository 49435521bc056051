"""A data set as a stream whose features are switched: which records come when, with which columns and labels.

Called by `trial`; cuts a `Dataset`, and knows no method. Which columns a stage has is for `schemes` to say.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.core import FeatureSpace
from eml.evaluate.datasets import Dataset, Floats
from eml.evaluate.errors import EvaluationError
from eml.evaluate.prequential import schemes

Codes = NDArray[np.intp]  # classes by number
Mask = NDArray[np.bool_]

# Streams, splits and methods get the same seeds; this number beside them keeps their random streams apart.
_STREAM = 2

FEWEST_RECORDS = 10  # of a stage: figures are of its fifths and tenths


@dataclass(frozen=True, slots=True)
class Plan:
    """How a data set is dealt; the same for every method."""

    switches: int = 1
    total: int | None = None  # records of the stream; None: all there are
    labelled: float = 1.0  # share of the records whose label is given
    notice: float = 0.25  # share of a stage, its last part, in which the next space is known
    scheme: str = schemes.ROTATING  # which columns come and go
    order: str = "seeded"  # of the records; or file: as they stand there

    @property
    def identity(self) -> dict[str, Any]:
        """Its fields as they are kept; the last two only where they differ from what all streams once were."""
        once = {"scheme": schemes.ROTATING, "order": "seeded"}
        return {name: value for name, value in asdict(self).items() if name not in once or once[name] != value}


@dataclass(frozen=True, slots=True)
class Stage:
    """Records of one feature space, in order."""

    space: FeatureSpace
    X: Floats  # (n, d)
    y: Codes  # (n,)
    labelled: Mask  # (n,) whether a record's label is given after its prediction
    announced: int  # the record before which the next space becomes known

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, slots=True)
class Course:
    """A stream for one seed, stage by stage."""

    stages: tuple[Stage, ...]


def deal(dataset: Dataset, plan: Plan, seed: int) -> Course:
    """Deal the records, in a seeded order or as they stand, into stages of equal length."""
    records = len(dataset.y) if plan.total is None else plan.total
    _check(dataset, plan, records)
    random = np.random.default_rng((_STREAM, seed))
    shuffled = random.permutation(len(dataset.y))
    order = (shuffled if plan.order == "seeded" else dataset.order)[:records]
    labelled = random.random(records) < plan.labelled
    _, codes = np.unique(dataset.y, return_inverse=True)
    columns_of = schemes.stages(plan.scheme, dataset.split, plan.switches)
    stages = []
    for columns, places in zip(columns_of, np.array_split(np.arange(records), plan.switches + 1), strict=True):
        rows = order[places]
        stages.append(
            Stage(
                space=FeatureSpace(tuple(f"f{column:04d}" for column in columns)),
                X=dataset.X[np.ix_(rows, columns)],
                y=codes[rows].astype(np.intp),
                labelled=labelled[places],
                announced=len(rows) - round(plan.notice * len(rows)),
            )
        )
    return Course(tuple(stages))


def _check(dataset: Dataset, plan: Plan, records: int) -> None:
    """Refuse what makes no stream, and say what would."""
    if records > len(dataset.y):
        raise EvaluationError(f"{dataset.name} has {len(dataset.y)} records; --total {records} is more than there are")
    if records < FEWEST_RECORDS * (plan.switches + 1):
        raise EvaluationError(
            f"{dataset.name}: {records} records are too few for {plan.switches} switches; "
            f"{FEWEST_RECORDS * (plan.switches + 1)} are needed"
        )
