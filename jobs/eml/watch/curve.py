"""Right answers over time in few bytes: bins that double their width when there would be too many.

Kept by `fleet_accuracy` for the fleet and by `device` for each device; `dips` reads it. Pure.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

WIDTH_MS = 1_000  # of a bin at first
SCORED, RIGHT, COLD_SCORED, COLD_RIGHT = range(4)
NUMBERS = 4  # of a bin


@dataclass(frozen=True, slots=True)
class Bin:
    """What was scored in a stretch of time."""

    first_ms: int
    last_ms: int
    scored: int
    right: int
    cold_scored: int  # those on which a cold restart is compared
    cold_right: int

    @property
    def accuracy(self) -> float | None:
        """Share of right answers; None where nothing was scored."""
        return self.right / self.scored if self.scored else None

    @property
    def cold_accuracy(self) -> float | None:
        """The same of the cold restart."""
        return self.cold_right / self.cold_scored if self.cold_scored else None


class Curve:
    """At most `most` bins, side by side, and no more than `window_ms` in all, the newest; times come in any order."""

    __slots__ = ("_first", "_most", "_numbers", "_width", "_window")

    def __init__(self, most: int, window_ms: int | None = None) -> None:
        self._most = most
        self._window = window_ms
        self._width = WIDTH_MS
        self._first = 0  # index of the first bin: its time divided by the width
        self._numbers = array("I")

    def add(self, time_ms: int, *, right: bool, cold_right: bool | None = None) -> None:
        """Count an answer; `cold_right` is the cold restart's, where one is compared."""
        self._forget(time_ms)
        at = self._place(time_ms)
        if at < 0:
            return  # too old
        numbers = self._numbers
        numbers[at + SCORED] += 1
        numbers[at + RIGHT] += right
        if cold_right is not None:
            numbers[at + COLD_SCORED] += 1
            numbers[at + COLD_RIGHT] += cold_right

    def bins(self) -> Iterator[Bin]:
        """All of them, the oldest first, also those in which nothing was scored."""
        for at in range(0, len(self._numbers), NUMBERS):
            first_ms = (self._first + at // NUMBERS) * self._width
            yield Bin(first_ms, first_ms + self._width - 1, *self._numbers[at : at + NUMBERS])

    def _place(self, time_ms: int) -> int:
        """Where the numbers of a time's bin begin; there is room for it afterwards. Below 0: it is too old."""
        index = time_ms // self._width
        if not self._numbers:
            self._first = index
        elif self._window is not None and index < self._last - self._window // self._width:
            return -1
        while not self._first <= index < self._first + len(self._numbers) // NUMBERS:
            end = self._first + len(self._numbers) // NUMBERS
            if max(end, index + 1) - min(self._first, index) > self._most:
                self._coarsen()
                index = time_ms // self._width
            elif index < self._first:
                self._numbers = array("I", [0]) * (NUMBERS * (self._first - index)) + self._numbers
                self._first = index
            else:
                self._numbers.extend([0] * (NUMBERS * (index + 1 - end)))
        return (index - self._first) * NUMBERS

    @property
    def _last(self) -> int:
        return self._first + len(self._numbers) // NUMBERS - 1

    def _forget(self, newest_ms: int) -> None:
        """Leave out the bins that are too old beside this time."""
        if self._window is not None and self._numbers:
            old = (newest_ms - self._window) // self._width - self._first
            if old > 0:
                del self._numbers[: NUMBERS * old]
                self._first += old

    def _coarsen(self) -> None:
        """Make two bins one."""
        old, first = self._numbers, self._first
        count = len(old) // NUMBERS
        self._first = first // 2
        self._width *= 2
        self._numbers = array("I", [0]) * (NUMBERS * ((first + count - 1) // 2 - self._first + 1))
        for number in range(count):
            at = ((first + number) // 2 - self._first) * NUMBERS
            for kind in range(NUMBERS):
                self._numbers[at + kind] += old[number * NUMBERS + kind]
