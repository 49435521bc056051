"""What two rivals remember of an evolution: exemplars of the stage that is over, and of the one that goes on.

Used by `firf` and `tca`; keeps exemplars with `controls`.
"""

from collections.abc import Sequence

from eml.evaluate.controls import Exemplars, Label
from eml.evaluate.datasets import Floats

_SOURCE_SHARE = 0.75  # of the memory after an evolution: the old stage is over and cannot be sampled again


class TwoStages:
    """At most `memory` exemplars of both stages together."""

    def __init__(self, memory: int, seed: int) -> None:
        self._memory, self._seed = memory, seed
        self.source = Exemplars(memory, seed)
        self.target = Exemplars(memory, seed)

    def add(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Remember a batch as one of the current stage."""
        _fill(self.target, rows, labels)

    def move(self, old: Sequence[int], new: Sequence[int], width: int) -> None:
        """Make a source of all that is remembered, moved to the new columns; the new stage begins without rows."""
        share = int(_SOURCE_SHARE * self._memory)
        source = Exemplars(share, self._seed)
        for former in (self.source, self.target):
            former.move(old, new, width)
            _fill(source, *former.arrays())
        self.source, self.target = source, Exemplars(self._memory - share, self._seed)


def _fill(exemplars: Exemplars, rows: Floats, labels: Sequence[Label]) -> None:
    for row, label in zip(rows, labels, strict=True):
        exemplars.add(row, label)
