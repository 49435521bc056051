"""The controls: nearest neighbours on a bounded memory, written plainly. What a learned metric has to beat.

Built by `methods`; knows feature spaces and numpy, nothing of the learner. Two of them stay honest about what they
know: after an evolution `NearestNeighbour(keep=True)` compares survived features only, for old exemplars have no
others; `keep=False` forgets all and compares the new stage's features.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eml.core import FeatureSpace
from eml.evaluate.datasets import Floats

Label = int | str


class Exemplars:
    """A bounded, class-balanced reservoir: every class has the same room, and in it an even sample of its past.

    Rows have NaN where a feature did not exist yet when they came.
    """

    def __init__(self, budget: int, seed: int) -> None:
        self._budget = budget
        self._random = np.random.default_rng(seed)
        self._rows: dict[Label, list[Floats]] = {}
        self._seen: dict[Label, int] = {}

    def add(self, row: Floats, label: Label) -> None:
        """Keep `row` with the probability that gives all rows of its class the same chance."""
        if label not in self._rows:
            self._rows[label], self._seen[label] = [], 0
            self._shrink()
        self._seen[label] += 1
        rows, room = self._rows[label], self._room()
        if len(rows) < room:
            rows.append(row)
        elif (place := int(self._random.integers(self._seen[label]))) < room:
            rows[place] = row

    def move(self, old: Sequence[int], new: Sequence[int], width: int) -> None:
        """Carry the columns `old` over to the columns `new` of a wider or narrower space; drop rows that lack one."""
        for label, rows in self._rows.items():
            kept = []
            for row in rows:
                moved = np.full(width, np.nan)
                moved[list(new)] = row[list(old)]
                if len(new) and not np.isnan(moved[list(new)]).any():
                    kept.append(moved)
            if len(kept) < len(rows):
                self._seen[label] = len(kept)  # the sample begins anew with what is left
            self._rows[label] = kept

    def arrays(self) -> tuple[Floats, list[Label]]:
        """All rows and their labels."""
        labels = [label for label, rows in self._rows.items() for _ in rows]
        return np.array([row for rows in self._rows.values() for row in rows]), labels

    def _room(self) -> int:
        return max(1, self._budget // len(self._rows))

    def _shrink(self) -> None:
        for rows in self._rows.values():
            while len(rows) > self._room():
                rows.pop(int(self._random.integers(len(rows))))


class RunningScale:
    """Each feature's standard deviation over the stream so far (Chan's update, batch by batch)."""

    def __init__(self, width: int) -> None:
        self._count = np.zeros(width)
        self._mean = np.zeros(width)
        self._squares = np.zeros(width)

    def update(self, rows: Floats) -> None:
        """Take in a batch of complete rows."""
        count = self._count + len(rows)
        step = rows.mean(axis=0) - self._mean
        self._squares += ((rows - rows.mean(axis=0)) ** 2).sum(axis=0) + step**2 * self._count * len(rows) / count
        self._mean += step * len(rows) / count
        self._count = count

    def move(self, old: Sequence[int], new: Sequence[int], width: int) -> None:
        """Carry the columns `old` over to the columns `new`; the others start from nothing."""
        for name in ("_count", "_mean", "_squares"):
            moved = np.zeros(width)
            moved[list(new)] = getattr(self, name)[list(old)]
            setattr(self, name, moved)

    def deviation(self) -> Floats:
        """Return the deviations; 1 where a feature never moved."""
        deviation = np.sqrt(self._squares / np.maximum(self._count, 1))
        return np.where(deviation > 0, deviation, 1.0)


class NearestNeighbour:
    """The label of the nearest exemplar; `scaled`: features divided by their running deviation."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int, *, scaled: bool, keep: bool) -> None:
        self._seed, self._memory, self._scaled, self._keep = seed, memory, scaled, keep
        self._space: FeatureSpace
        self._compared: list[int]  # columns that prediction looks at
        self._exemplars: Exemplars
        self._scale: RunningScale
        self._begin(space)

    def announce(self, space: FeatureSpace) -> None:
        """Nothing to prepare."""

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Remember the batch."""
        self._scale.update(rows)
        for row, label in zip(rows, labels, strict=True):
            self._exemplars.add(row, label)

    def evolve(self, space: FeatureSpace) -> None:
        """Go on with what survives, or begin anew."""
        change = self._space.diff(space)
        if not (self._keep and change.survived):
            self._begin(space)
            return
        old = self._space.columns(change.former[name] for name in change.survived)
        new = space.columns(change.survived)
        self._exemplars.move(old, new, len(space))
        self._scale.move(old, new, len(space))
        self._space, self._compared = space, new

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return the label of each row's nearest exemplar, None where there is none at all."""
        known, labels = self._exemplars.arrays()
        if not labels:
            return [None] * len(rows)
        scale = self._scale.deviation()[self._compared] if self._scaled else np.ones(len(self._compared))
        nearest = _nearest(rows[:, self._compared] / scale, known[:, self._compared] / scale)
        return [labels[place] for place in nearest]

    def _begin(self, space: FeatureSpace) -> None:
        self._space = space
        self._compared = list(range(len(space)))
        self._exemplars = Exemplars(self._memory, self._seed)
        self._scale = RunningScale(len(space))


def _nearest(rows: Floats, known: Floats) -> NDArray[np.intp]:
    """Place of the nearest of `known` for each row; ||a - b||² without the term that is the same for all."""
    centre = known.mean(axis=0)  # smaller numbers lose fewer digits in the difference of squares
    rows, known = rows - centre, known - centre
    nearest: NDArray[np.intp] = np.argmin((known**2).sum(axis=1) - 2 * rows @ known.T, axis=1)
    return nearest
