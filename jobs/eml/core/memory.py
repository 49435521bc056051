"""The bounded, class-balanced memory of labelled exemplars.

The learner puts every labelled sample in; views embed it to predict, stages draw triplets from it.
Raw features, so that it outlives every metric. Columns of vanished features stay behind the active ones
for a while: a feature that returns finds the values its exemplars had. Values are rounded when they come in, to
multiples of their column's grain (`rounding`), so that a snapshot of them is small; and it is noted which exemplars
were written, so that a log needs no others (`changes`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eml.core.arrays import Array, Array32, Index, Mask

Counts = NDArray[np.int64]


@dataclass(slots=True)
class Memory:
    """At most `capacity` exemplars, about equally many of each class."""

    capacity: int
    refresh: float  # least chance of a sample of a full class to enter: how fast the past fades
    X: Array32  # (n, d) values; estimates where not observed
    observed: Mask  # (n, d)
    y: Index  # (n,) class numbers
    seen: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # (C,) samples offered of each class
    stale: Mask = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))  # (n,) the next to be replaced: a drift
    recent: Mask = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))  # (n,) came since the space last changed
    grain: Array = field(default_factory=lambda: np.zeros(0))  # (d,) values are multiples of it; 0: as they came
    written: Mask = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))  # (n,) since this was last cleared
    relaid: bool = True  # all were written: rows or columns are others than when this was last cleared

    def __post_init__(self) -> None:
        if len(self.grain) != self.X.shape[1]:
            self.grain = np.zeros(self.X.shape[1])
        self.written = np.zeros(len(self.y), dtype=np.bool_)
        if len(self.stale) != len(self.y):
            self.stale = np.zeros(len(self.y), dtype=np.bool_)
        if len(self.recent) != len(self.y):
            self.recent = np.zeros(len(self.y), dtype=np.bool_)

    @classmethod
    def empty(cls, capacity: int, refresh: float, d: int) -> "Memory":
        """A memory without exemplars."""
        X, observed = np.zeros((0, d), dtype=np.float32), np.zeros((0, d), dtype=np.bool_)
        return cls(capacity, refresh, X, observed, np.zeros(0, dtype=np.intp))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def nbytes(self) -> int:
        """What its arrays take in memory."""
        return self.X.nbytes + self.observed.nbytes + self.y.nbytes

    def samples(self, rows: Index, columns: Index) -> Array:
        """Values (n, d) of some exemplars for the learner's arithmetic."""
        return np.asarray(self.X[np.ix_(rows, columns)], dtype=np.float64)

    def add(self, X: Array, present: Mask, y: Index, rng: np.random.Generator, outdated: Mask | None = None) -> Index:
        """Offer a batch; the memory row of each sample, -1 where it did not enter or was replaced again.

        A sample takes the place of an `outdated` exemplar (n,) of its class where there is one; by default a stale one.
        """
        outdated = self.stale if outdated is None else outdated
        classes = max(int(y.max(initial=-1)) + 1, len(self.seen))
        self.seen = np.concatenate([self.seen, np.zeros(classes - len(self.seen), dtype=np.int64)])
        quota = max(1, self.capacity // max(1, len(np.union1d(self.y, y))))
        members = [np.flatnonzero(self.y == c).tolist() for c in range(classes)]
        old = [[row for row in rows if outdated[row]] for rows in members] if outdated.any() else [[]] * classes
        writes: dict[int, tuple[int, int]] = {}  # memory row -> (sample, class)
        used = len(self)
        for sample, (c, chance) in enumerate(zip(y.tolist(), rng.random(len(y)).tolist(), strict=True)):
            self.seen[c] += 1
            row = old[c].pop() if old[c] else self._place(members, used, c, chance, quota)
            if row >= 0:
                writes[row] = (sample, c)
                used = max(used, row + 1)
        self._write(used, writes, X, present)
        rows = np.full(len(y), -1, dtype=np.intp)
        for row, (sample, _) in writes.items():
            rows[sample] = row
        return rows

    def _place(self, members: list[list[int]], used: int, c: int, chance: float, quota: int) -> int:
        """The row for a sample of class c, -1 to turn it away; `chance` in [0, 1) decides and picks."""
        if used < self.capacity:
            members[c].append(used)
            return used
        if len(members[c]) < quota:  # make room in the largest class
            largest = max(members, key=len)
            row = largest.pop(int(chance * len(largest)))
            members[c].append(row)
            return row
        enter = max(self.refresh, len(members[c]) / int(self.seen[c]))
        if chance >= enter:
            return -1
        return members[c][int(chance / enter * len(members[c]))]

    def _write(self, used: int, writes: dict[int, tuple[int, int]], X: Array, present: Mask) -> None:
        grown, d = used - len(self), self.X.shape[1]
        if grown:
            self.X = np.concatenate([self.X, np.zeros((grown, d), dtype=np.float32)])
            self.observed = np.concatenate([self.observed, np.zeros((grown, d), dtype=np.bool_)])
            self.y = np.concatenate([self.y, np.zeros(grown, dtype=np.intp)])
            self.stale = np.concatenate([self.stale, np.zeros(grown, dtype=np.bool_)])
            self.recent = np.concatenate([self.recent, np.zeros(grown, dtype=np.bool_)])
            self.written = np.concatenate([self.written, np.ones(grown, dtype=np.bool_)])
        if writes:
            rows = list(writes)
            samples, labels = zip(*writes.values(), strict=True)
            active = X.shape[1]  # columns beyond are those of vanished features
            self.X[rows, :active] = _rounded(X[list(samples)], self.grain[:active])
            self.observed[rows, :active] = present[list(samples)]
            self.observed[rows, active:] = False
            self.y[rows], self.stale[rows], self.recent[rows], self.written[rows] = labels, False, True, True

    def put(self, columns: Index, values: Array) -> None:
        """Give the exemplars other values (n, c) in some columns."""
        rounded = _rounded(values, self.grain[columns])
        self.written |= (self.X[:, columns] != rounded).any(axis=1)
        self.X[:, columns] = rounded

    def regrain(self, columns: Index, grain: Array) -> None:
        """Give columns other grains (c,); 0: what comes from now on stays as it comes."""
        before = self.X[:, columns]
        self.grain[columns] = grain
        self.X[:, columns] = _rounded(before, grain)
        self.relaid |= not np.array_equal(before, self.X[:, columns])

    def remap(self, columns: Sequence[int | None]) -> None:
        """Lay the columns out anew: a column of now each, or None for one that is all unknown."""
        shape = (len(self), len(columns))
        X, observed = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.bool_)
        new = [i for i, column in enumerate(columns) if column is not None]
        old = [column for column in columns if column is not None]
        X[:, new], observed[:, new] = self.X[:, old], self.observed[:, old]
        grain = np.zeros(len(columns))
        grain[new] = self.grain[old]
        self.replace(X, observed, grain)

    def replace(self, X: Array32, observed: Mask, grain: Array) -> None:
        """Have other columns: values (n, d) that are multiples of their grains (d,), and which of them are observed."""
        self.X, self.observed, self.grain, self.relaid = X, observed, grain, True

    def keep(self, rows: Index) -> None:
        """Forget all exemplars but these."""
        self.X, self.observed, self.y = self.X[rows], self.observed[rows], self.y[rows]
        self.stale, self.recent = self.stale[rows], self.recent[rows]
        self.written, self.relaid = np.zeros(len(rows), dtype=np.bool_), True

    def sample(self, count: int, rng: np.random.Generator, among: Index | None = None) -> Index:
        """At most `count` rows (of those `among`), in ascending order, drawn evenly from the classes."""
        rows = np.arange(len(self)) if among is None else among
        if len(rows) <= count:
            return rows
        shuffled = rows[rng.permutation(len(rows))]
        labels = self.y[shuffled]
        by_class = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[by_class], labels[by_class], side="left")
        turn = np.empty(len(rows), dtype=np.intp)  # how many of its class come before it
        turn[by_class] = np.arange(len(rows)) - starts
        return np.sort(shuffled[np.argsort(turn, kind="stable")[:count]])

    def knowing(self, columns: Index, share: float) -> Mask:
        """Exemplars (n,) that have at least this share of some columns observed, not estimated."""
        if len(columns) == 0:
            return np.zeros(len(self), dtype=np.bool_)
        return np.asarray(self.observed[:, columns].mean(axis=1) >= share)


def _rounded(X: Array | Array32, grain: Array) -> Array32:
    """Values (n, d) as multiples of their grains (d,); single precision keeps a multiple of a power of two one."""
    multiples = np.rint(X / np.where(grain > 0.0, grain, 1.0)) * grain
    return np.asarray(np.where(grain > 0.0, multiples, X) + 0.0, dtype=np.float32)  # + 0: no negative zero
