"""The paper's protocols as scripts: lists of steps that any method can be driven through.

Called by `trial`; deals samples with `deal` and cuts columns into feature spaces. Only `trial` sees the labels of a
`Predict` step; the method is handed its samples alone.

How the paper is read where it leaves room:

- The survivors are known all through a T-stage (section III-B), so the next space is announced at its start.
- Multi-shot Task I is defined as training on all R+1 batches, but the experiments say "we directly use the last two
  adjacent evolution stages and regard it as the one-shot scenario": stage 2 is the T-stage and stage 1 is not used.
- Multi-shot Task II is defined as predictions "for all stages", and the experiments spell out two of them: "on the
  second batch streaming data in Stage 2", right after the first one, and on the test batch in stage 3. Its accuracy
  here is the mean of these two, one per evolution. The second batch of stage 1 is predicted after its first one too,
  and reported by stage, but does not count: no feature has evolved by then, and the paper says nothing of it.
  A predicted batch of stages 1 and 2 is learnt afterwards, "when new labeled streaming data in Stage 2 arriving".
- "All batches of T-stage are split into Stage 1 and Stage 2 with equal number": of an odd number stage 2 has one more.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eml.core import FeatureSpace
from eml.evaluate.datasets import Dataset, Floats, Labels
from eml.evaluate.deal import deal

Task = Literal["I", "II"]
Columns = NDArray[np.intp]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Announce:
    """The next feature space becomes known."""

    space: FeatureSpace


@dataclass(frozen=True, slots=True)
class Learn:
    """A labelled batch arrives."""

    X: Floats
    y: Labels


@dataclass(frozen=True, slots=True)
class Evolve:
    """From the next batch on samples have these features."""

    space: FeatureSpace


@dataclass(frozen=True, slots=True)
class Predict:
    """A batch to classify; the labels are for the score only. `counts`: part of the protocol's accuracy."""

    X: Floats
    y: Labels
    stage: int
    counts: bool = True


Step = Announce | Learn | Evolve | Predict


@dataclass(frozen=True, slots=True)
class Script:
    """A protocol played out for one seed: the first feature space, then the steps."""

    start: FeatureSpace
    steps: tuple[Step, ...]
    notes: tuple[str, ...]


def one_shot(dataset: Dataset, batch: int, seed: int) -> Script:
    """T-batches over [vanished, survived]; then an I-batch to learn and a test batch over [survived, new]."""
    hand = deal(dataset, batch, seed, fewest=1)
    vanished, survived, _ = dataset.split
    columns = np.arange(dataset.X.shape[1])
    before = _Stage(dataset, columns[: vanished + survived])
    after = _Stage(dataset, columns[vanished:])
    steps = [
        Announce(after.space),
        *before.learn(hand.training),
        Evolve(after.space),
        *after.learn([hand.inheriting]),
        after.predict(hand.testing, stage=2),
    ]
    return Script(before.space, tuple(steps), hand.notes)


def multi_shot(dataset: Dataset, batch: int, seed: int, task: Task = "I") -> Script:
    """Four feature quarters, three stages of two neighbouring quarters each, two evolutions.

    Both tasks and all methods are dealt the same batches for the same seed.
    """
    hand = deal(dataset, batch, seed, fewest=2 if task == "I" else 3)  # Task II predicts the second one of stage 2
    quarters = np.array_split(np.arange(dataset.X.shape[1]), 4)
    first, second, third = (_Stage(dataset, np.concatenate([left, right])) for left, right in pairwise(quarters))
    half = len(hand.training) // 2
    opening, middle = hand.training[:half], hand.training[half:]
    notes = hand.notes
    if len(hand.training) % 2:
        notes += (f"{len(hand.training)} T-batches: {half} in stage 1, {len(middle)} in stage 2",)
    last: list[Step] = [
        Evolve(third.space),
        *third.learn([hand.inheriting]),
        third.predict(hand.testing, stage=3),
    ]
    if task == "I":
        return Script(second.space, (Announce(third.space), *second.learn(middle), *last), notes)
    steps = [
        Announce(second.space),
        *first.learn_and_predict(opening, stage=1, counts=False),
        Evolve(second.space),
        Announce(third.space),
        *second.learn_and_predict(middle, stage=2, counts=True),
        *last,
    ]
    return Script(first.space, tuple(steps), notes)


def space_of(columns: Columns) -> FeatureSpace:
    """Return columns of a data set as features."""
    return FeatureSpace(tuple(f"f{column:04d}" for column in columns))


class _Stage:
    """The columns that exist during one stage, and the steps of batches cut to them."""

    def __init__(self, dataset: Dataset, columns: Columns) -> None:
        self._dataset = dataset
        self._columns = columns
        self.space = space_of(columns)

    def learn(self, batches: Iterable[Rows]) -> Iterator[Step]:
        for rows in batches:
            yield Learn(self._dataset.X[np.ix_(rows, self._columns)], self._dataset.y[rows])

    def predict(self, rows: Rows, stage: int, *, counts: bool = True) -> Predict:
        return Predict(self._dataset.X[np.ix_(rows, self._columns)], self._dataset.y[rows], stage, counts)

    def learn_and_predict(self, batches: Iterable[Rows], stage: int, *, counts: bool) -> Iterator[Step]:
        """Learn all batches, the second one after predicting it."""
        for number, rows in enumerate(batches):
            if number == 1:
                yield self.predict(rows, stage, counts=counts)
            yield from self.learn([rows])
