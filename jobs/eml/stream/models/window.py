"""The window of a version model: labelled readings that wait to be learnt together, and when the window closes.

`version_model` fills it and learns what it holds; `state_codec` writes it apart from the learner, because it changes
far more often. Time is the records' own (Kafka's timestamps), so a replay closes the same windows at the same records.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from eml.core.arrays import Array

NOT_STARTED = -1


@dataclass(slots=True)
class Window:
    """Labelled readings of one feature space."""

    started_ms: int = NOT_STARTED  # timestamp of the first reading
    labels: list[str] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)  # one (rows, d) array per piece

    def __len__(self) -> int:
        return len(self.labels)

    # -- when it closes --------------------------------------------------------------------------------------------

    def is_due(self, now_ms: int, longest_ms: int) -> bool:
        """Whether it is open for too long."""
        return len(self.labels) > 0 and now_ms - self.started_ms >= longest_ms

    def is_full(self, size: int) -> bool:
        """Whether it holds as many readings as one update takes."""
        return len(self.labels) >= size

    def readings_until_close(self, labelled: Sequence[int], times_ms: Sequence[int], size: int, longest_ms: int) -> int:
        """How many of these readings come before it closes: by time at a reading, or by count after one.

        `labelled` are the rows that have a label. Whoever asks has closed a window that is due at the first of them.
        """
        room = max(1, size - len(self.labels))
        full = labelled[room - 1] + 1 if room <= len(labelled) else len(times_ms)
        if self.labels:
            started, begin = self.started_ms, 1
        elif labelled:
            started, begin = times_ms[labelled[0]], labelled[0] + 1
        else:
            return full
        due = started + longest_ms
        if max(times_ms[begin:full], default=started) < due:
            return full
        return next(row for row in range(begin, full) if times_ms[row] >= due)

    # -- what it holds ---------------------------------------------------------------------------------------------

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

    def dump(self) -> tuple[Sequence[object], bytes]:
        """A plain description, and the values as bytes."""
        values = np.concatenate(self.values) if self.values else np.zeros((0, 0))
        return [self.started_ms, list(values.shape), self.labels], values.astype("<f8").tobytes()

    @classmethod
    def load(cls, description: Sequence[object], content: bytes) -> "Window":
        """The window that was dumped; it takes its values from the start of the content."""
        started_ms, shape, labels = cast("tuple[int, list[int], list[str]]", description)
        values = np.frombuffer(content, "<f8", shape[0] * shape[1]).reshape(shape)
        return cls(started_ms, labels, [values] if labels else [])
