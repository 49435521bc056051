"""The bounded, class-balanced memory of labelled exemplars.

The learner puts every labelled sample in; views embed it to predict, stages draw triplets from it.
It holds feature values, not embeddings, so it outlives every metric. Columns of vanished features are kept behind the
active ones for a while: when a feature returns, its exemplars have their values again. Values are rounded on entry to
multiples of their column's resolution (`quantization`), which makes snapshots small; `dirty` marks the exemplars that
changed since the last snapshot or delta (`deltas`).
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
    resolution: Array = field(default_factory=lambda: np.zeros(0))  # (d,) values are multiples of it; 0: not rounded
    dirty: Mask = field(
        default_factory=lambda: np.zeros(0, dtype=np.bool_)
    )  # (n,) changed since the last snapshot or delta
    all_dirty: bool = True  # rows or columns moved since the last snapshot or delta

    def __post_init__(self) -> None:
        if len(self.resolution) != self.X.shape[1]:
            self.resolution = np.zeros(self.X.shape[1])
        self.dirty = np.zeros(len(self.y), dtype=np.bool_)
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
            self.dirty = np.concatenate([self.dirty, np.ones(grown, dtype=np.bool_)])
        if writes:
            rows = list(writes)
            samples, labels = zip(*writes.values(), strict=True)
            active = X.shape[1]  # columns beyond are those of vanished features
            self.X[rows, :active] = _rounded(X[list(samples)], self.resolution[:active])
            self.observed[rows, :active] = present[list(samples)]
            self.observed[rows, active:] = False
            self.y[rows], self.stale[rows], self.recent[rows], self.dirty[rows] = labels, False, True, True

    def set_values(self, columns: Index, values: Array) -> None:
        """Set the exemplars' values (n, c) in some columns."""
        rounded = _rounded(values, self.resolution[columns])
        self.dirty |= (self.X[:, columns] != rounded).any(axis=1)
        self.X[:, columns] = rounded

    def set_resolution(self, columns: Index, resolution: Array) -> None:
        """Set the resolution (c,) of some columns; 0: new values are not rounded."""
        before = self.X[:, columns]
        self.resolution[columns] = resolution
        self.X[:, columns] = _rounded(before, resolution)
        self.all_dirty |= not np.array_equal(before, self.X[:, columns])

    def move_columns(self, columns: Sequence[int | None]) -> None:
        """Move the columns: for each new one its current place, or None for one without values."""
        shape = (len(self), len(columns))
        X, observed = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.bool_)
        new = [i for i, column in enumerate(columns) if column is not None]
        old = [column for column in columns if column is not None]
        X[:, new], observed[:, new] = self.X[:, old], self.observed[:, old]
        resolution = np.zeros(len(columns))
        resolution[new] = self.resolution[old]
        self.set_columns(X, observed, resolution)

    def set_columns(self, X: Array32, observed: Mask, resolution: Array) -> None:
        """Replace all columns: values (n, d), multiples of their resolutions (d,), and which of them are observed."""
        self.X, self.observed, self.resolution, self.all_dirty = X, observed, resolution, True

    def keep(self, rows: Index) -> None:
        """Drop all exemplars but these."""
        self.X, self.observed, self.y = self.X[rows], self.observed[rows], self.y[rows]
        self.stale, self.recent = self.stale[rows], self.recent[rows]
        self.dirty, self.all_dirty = np.zeros(len(rows), dtype=np.bool_), True

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

    def with_observed(self, columns: Index, share: float) -> Mask:
        """Exemplars (n,) that have at least this share of the columns observed, not estimated."""
        if len(columns) == 0:
            return np.zeros(len(self), dtype=np.bool_)
        return np.asarray(self.observed[:, columns].mean(axis=1) >= share)


def _rounded(X: Array | Array32, resolution: Array) -> Array32:
    """Values (n, d) as multiples of their resolutions (d,); single precision keeps a multiple of a power of two one."""
    multiples = np.rint(X / np.where(resolution > 0.0, resolution, 1.0)) * resolution
    return np.asarray(np.where(resolution > 0.0, multiples, X) + 0.0, dtype=np.float32)  # + 0: no negative zero
