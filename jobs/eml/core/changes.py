"""What changed in a learner since it was last written: a log of small pieces behind a snapshot.

A window of labels changes a few exemplars, the statistics and the weights, and now and then the metric; most of a
snapshot is exemplars that stay. `Log` remembers what was written, as digests, and says what is new: exemplars that were
written since, arrays and plain values that are others now. Each piece names the checksum of the one before it, so a log
with a gap is never read.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.core.config import LearnerConfig
from eml.core.errors import SnapshotDamagedError
from eml.core.sealed import Arrays, Json, Understood, checksum, plain, seal, unseal
from eml.core.snapshot import EXEMPLARS, parts
from eml.core.state import State

MAGIC = b"EMLD"
VERSION = 1
MOST = 0.5  # of the exemplars; where more of them changed a snapshot is as small
TABLES = tuple(f"memory.{name}" for name in EXEMPLARS)
ROWS = "rows"  # the array with the numbers of the exemplars that a piece has


@dataclass(slots=True)
class Log:
    """What the last snapshot and the pieces after it hold; nothing was written where it is empty."""

    last: int = 0  # checksum of what was written last
    values: dict[str, bytes] = field(default_factory=dict)  # digests of the header's values, by name
    arrays: dict[str, bytes] = field(default_factory=dict)  # of all arrays but those of exemplars

    def start(self, state: State, config: LearnerConfig, written: bytes) -> None:
        """All of a learner was written: go on from there."""
        self.last = checksum(written)
        self.go_on(state, config)

    def go_on(self, state: State, config: LearnerConfig) -> None:
        """A learner is what was written, up to now."""
        header, arrays = parts(state, config)
        self._keep(state, _digests_of_values(header), _digests_of_arrays(arrays))

    def take(self, state: State, config: LearnerConfig) -> bytes | None:
        """The next piece; None where a snapshot is needed: nothing was written yet, or most of it is no more."""
        memory = state.memory
        rows = np.flatnonzero(memory.written)
        if not self.values or memory.relaid or len(rows) > MOST * len(memory):
            return None
        header, arrays = parts(state, config)
        values, digests = _digests_of_values(header), _digests_of_arrays(arrays)
        if digests.keys() != self.arrays.keys():
            return None
        changed = {name: header[name] for name, digest in values.items() if digest != self.values[name]}
        news = {name: arrays[name] for name, digest in digests.items() if digest != self.arrays[name]}
        exemplars = {ROWS: rows} | {name: arrays[name][rows] for name in TABLES} if len(rows) else {}
        piece = seal(MAGIC, VERSION, {"follows": self.last, "values": changed}, news | exemplars)
        self.last = checksum(piece)
        self._keep(state, values, digests)
        return piece

    def _keep(self, state: State, values: dict[str, bytes], arrays: dict[str, bytes]) -> None:
        self.values, self.arrays = values, arrays
        state.memory.written[:], state.memory.relaid = False, False


def apply(header: Json, arrays: Arrays, last: int, pieces: Iterable[bytes]) -> int:
    """Change the parts of a snapshot with checksum `last` to what they were after the pieces; the last one's."""
    for piece in pieces:
        changes, news = unseal(MAGIC, VERSION, piece)
        with Understood():
            if changes["follows"] != last:
                raise SnapshotDamagedError("a part of a learner's log is missing: restore an older checkpoint")
            header.update(changes["values"])
            rows = news.pop(ROWS, None)
            if rows is not None:
                arrays.update({name: _with_rows(arrays[name], rows, news.pop(name)) for name in TABLES})
            arrays.update(news)
        last = checksum(piece)
    return last


def _with_rows(table: NDArray[Any], rows: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """A table with some rows replaced, and those behind its end added."""
    grown = np.zeros((max(len(table), int(rows.max()) + 1), *table.shape[1:]), dtype=table.dtype)
    grown[: len(table)] = table
    grown[rows] = values
    return grown


def _digests_of_values(header: Json) -> dict[str, bytes]:
    return {name: _digest(plain(value)) for name, value in header.items()}


def _digests_of_arrays(arrays: Arrays) -> dict[str, bytes]:
    named = ((name, array) for name, array in arrays.items() if name not in TABLES)
    return {name: _digest(plain(array.shape) + array.tobytes()) for name, array in named}


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
