"""Incremental snapshots: a full snapshot of a learner, then a log of small deltas.

Called by the learner. A window of labels changes a few exemplars, the statistics and the weights, and sometimes the
metric; most of a snapshot is exemplars that stay the same. `DeltaLog` keeps digests of what was last written; a delta
holds only the exemplars, arrays and header values that differ. Each delta names the checksum of the piece before it,
so a log with a gap is refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.core.config import LearnerConfig
from eml.core.errors import SnapshotDamagedError
from eml.core.serialization import Arrays, Json, ReportsDamage, checksum, decode, encode, to_json
from eml.core.snapshot import EXEMPLARS, parts
from eml.core.state import State

MAGIC = b"EMLD"
VERSION = 1
MOST_CHANGED = 0.5  # share of the exemplars; above it a full snapshot is as small
TABLES = tuple(f"memory.{name}" for name in EXEMPLARS)
ROWS = "rows"  # the array with the memory rows of the exemplars in a delta


@dataclass(slots=True)
class DeltaLog:
    """Digests of the last snapshot with all deltas after it; empty before the first snapshot."""

    last: int = 0  # checksum of what was written last
    values: dict[str, bytes] = field(default_factory=dict)  # digests of the header's values, by name
    arrays: dict[str, bytes] = field(default_factory=dict)  # of all arrays but those of exemplars

    def start(self, state: State, config: LearnerConfig, written: bytes) -> None:
        """A full snapshot was written: deltas start from it."""
        self.last = checksum(written)
        self.resume(state, config)

    def resume(self, state: State, config: LearnerConfig) -> None:
        """The learner equals what was written: deltas continue from here."""
        header, arrays = parts(state, config)
        self._mark_written(state, _digests_of_values(header), _digests_of_arrays(arrays))

    def delta(self, state: State, config: LearnerConfig) -> bytes | None:
        """The next delta; None if a full snapshot is needed: none was written yet, or most of it has changed."""
        memory = state.memory
        rows = np.flatnonzero(memory.dirty)
        if not self.values or memory.all_dirty or len(rows) > MOST_CHANGED * len(memory):
            return None
        header, arrays = parts(state, config)
        values, digests = _digests_of_values(header), _digests_of_arrays(arrays)
        if digests.keys() != self.arrays.keys():
            return None
        changed = {name: header[name] for name, digest in values.items() if digest != self.values[name]}
        news = {name: arrays[name] for name, digest in digests.items() if digest != self.arrays[name]}
        exemplars = {ROWS: rows} | {name: arrays[name][rows] for name in TABLES} if len(rows) else {}
        piece = encode(MAGIC, VERSION, {"follows": self.last, "values": changed}, news | exemplars)
        self.last = checksum(piece)
        self._mark_written(state, values, digests)
        return piece

    def _mark_written(self, state: State, values: dict[str, bytes], arrays: dict[str, bytes]) -> None:
        self.values, self.arrays = values, arrays
        state.memory.dirty[:], state.memory.all_dirty = False, False


def apply(header: Json, arrays: Arrays, last: int, pieces: Iterable[bytes]) -> int:
    """Apply the deltas to the parts of a snapshot with checksum `last`; returns the checksum of the last delta."""
    for piece in pieces:
        changes, news = decode(MAGIC, VERSION, piece)
        with ReportsDamage():
            if changes["follows"] != last:
                raise SnapshotDamagedError("a delta of the learner's log is missing: restore an older checkpoint")
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
    return {name: _digest(to_json(value)) for name, value in header.items()}


def _digests_of_arrays(arrays: Arrays) -> dict[str, bytes]:
    named = ((name, array) for name, array in arrays.items() if name not in TABLES)
    return {name: _digest(to_json(array.shape) + array.tobytes()) for name, array in named}


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
