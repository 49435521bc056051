"""The batch window of a key: labelled readings that wait to be learnt together.

Filled and emptied by `fleet`; kept in its own small state, because it changes far more often than the learner.
Time is the records' own (Kafka timestamps), so a replay closes the same windows at the same records.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from eml.core.arrays import Array
from eml.stream.packing import pack, unpack

MAGIC = b"EMLW"
VERSION = 1
NOT_STARTED = -1


@dataclass(slots=True)
class Window:
    """Labelled readings of one feature space, and how many records of an older version came in a row."""

    started_ms: int = NOT_STARTED  # timestamp of the first reading
    late: int = 0
    labels: list[str] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)  # one (rows, d) array per piece

    def __len__(self) -> int:
        return len(self.labels)

    def add(self, values: Array, labels: Sequence[str], started_ms: int) -> None:
        """Append labelled readings; `started_ms` counts where they are the first."""
        if not self.labels:
            self.started_ms = started_ms
        self.values.append(np.array(values))  # a copy: a view would keep its whole micro-batch alive
        self.labels.extend(labels)

    def take(self) -> tuple[Array, list[str]]:
        """Empty the window and return what it held."""
        held = np.concatenate(self.values), self.labels
        self.values, self.labels, self.started_ms = [], [], NOT_STARTED
        return held

    def dump(self) -> bytes:
        """The window as versioned plain bytes."""
        values = np.concatenate(self.values) if self.values else np.zeros((0, 0))
        description = [self.started_ms, self.late, values.shape, self.labels]
        return pack(MAGIC, VERSION, description, values.astype("<f8").tobytes())

    @classmethod
    def load(cls, data: bytes) -> "Window":
        """The window that was dumped."""
        (started_ms, late, shape, labels), values = unpack(MAGIC, VERSION, data, "a key's window")
        return cls(started_ms, late, labels, [np.frombuffer(values, "<f8").reshape(shape)] if labels else [])
