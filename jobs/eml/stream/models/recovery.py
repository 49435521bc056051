"""How a key's model recovers from an evolution: accuracy of the first scored readings, beside a fresh start's.

`scoring` gives it every score of a reading under the new version, in the order in which labels come, and logs the
figures as an event at the end. Plain counting: it knows no model and no record.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from eml.stream.output.events import RecoveryFigures

FIRST = 0.2  # share of the horizon that counts as right after the switch
MOVING = 50  # scores in the moving accuracy that decides whether it has recovered
TOLERANCE = 0.02  # recovered means within this of the accuracy before the switch
FEWEST = 20  # scores before the switch that make an accuracy to recover to


@dataclass(slots=True)
class Recovery:
    """Scores since the last evolution, until there are `horizon` of them."""

    horizon: int
    before: float | None
    compared: bool  # with a fresh start
    right: str = ""  # one digit for each score: at most `horizon`
    cold: str = ""
    back_after: int | None = None

    @property
    def first(self) -> int:
        """Scores that count as right after the switch."""
        return max(1, round(FIRST * self.horizon))

    def add(self, *, right: bool, cold: bool) -> bool:
        """Count a score; True where it was the last one wanted."""
        self.right += "01"[right]
        self.cold += "01"[cold]
        if self.back_after is None and self.before is not None and self._moving() >= self.before - TOLERANCE:
            self.back_after = len(self.right)
        return len(self.right) >= self.horizon

    def _moving(self) -> float:
        size = min(MOVING, self.first)
        return self.right[-size:].count("1") / size if len(self.right) >= size else -1.0

    def figures(self) -> RecoveryFigures:
        """What is known so far; at least one score is needed."""
        count, first = len(self.right), min(self.first, len(self.right))
        return RecoveryFigures(
            scored=count,
            accuracy_before=self.before,
            first_records=first,
            accuracy_first=self.right[:first].count("1") / first,
            accuracy=self.right.count("1") / count,
            back_after=self.back_after,
            cold_accuracy_first=self.cold[:first].count("1") / first if self.compared else None,
            regret=self.cold.count("1") - self.right.count("1") if self.compared else None,
        )

    def dump(self) -> Sequence[object]:
        """As plain values."""
        return [self.horizon, self.before, self.compared, self.right, self.cold, self.back_after]

    @classmethod
    def load(cls, values: Sequence[object]) -> "Recovery":
        """What was dumped."""
        return cls(*values)  # type: ignore[arg-type]  # a list that `dump` made


@dataclass(slots=True)
class Scores:
    """The prequential score of a key: what was predicted against the labels, as they come."""

    horizon: int  # of a recovery
    recent: str = ""  # one digit each, the latest last
    recovery: Recovery | None = None

    def add(self, *, right: bool, cold: bool, of_newest: bool) -> RecoveryFigures | None:
        """Count a score; figures where it ends a recovery, which only scores of the newest version count for."""
        self.recent = (self.recent + "01"[right])[-self._kept() :]
        if self.recovery is None or not of_newest or not self.recovery.add(right=right, cold=cold):
            return None
        return self.end()

    def begin(self, *, compared: bool) -> None:
        """An evolution happened."""
        self.recovery = Recovery(self.horizon, self.accuracy(), compared) if self.horizon else None
        self.recent = ""

    def end(self) -> RecoveryFigures | None:
        """Figures of the recovery that is under way, if there is anything to tell; it is over."""
        recovery, self.recovery = self.recovery, None
        return recovery.figures() if recovery is not None and recovery.right else None

    def accuracy(self) -> float | None:
        """Of the latest scores, where there are enough to tell."""
        return self.recent.count("1") / len(self.recent) if len(self.recent) >= FEWEST else None

    def _kept(self) -> int:
        return max(FEWEST, round(FIRST * self.horizon))

    def dump(self) -> Sequence[object]:
        """As plain values."""
        return [self.recent, self.recovery.dump() if self.recovery is not None else None]

    @classmethod
    def load(cls, horizon: int, values: Sequence[object]) -> "Scores":
        """What was dumped."""
        recent, recovery = values
        return cls(horizon, str(recent), Recovery.load(recovery) if isinstance(recovery, list) else None)
