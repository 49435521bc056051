"""A key's time, from the timestamps of its records, some of which may be wrong.

Used by `models.key_state` for windows and for how long former models are kept, and by `labels.label_join` for how long
items wait. It depends on the records alone, so a replay shows the same time at the same records. It never goes back.

    up to an hour ahead     accepted at once
    further ahead           accepted when `CONFIRMED` records in a row are that far: one wrong timestamp changes nothing
    behind                  does not count. After `CONFIRMED` in a row the device's clock was set back: time goes on
                            from where it was, by the records' differences, until they are back where they were
"""

from collections.abc import Sequence

LEAP_MS = 3_600_000  # 1 hour: shorter than anything that is kept by time should be
CONFIRMED = 8  # records: more than a device sends before its clock is set, few enough to be there soon


class KeyClock:
    """The largest timestamp so far, without outliers."""

    __slots__ = ("_recent", "_shift_ms", "now_ms")

    def __init__(self, now_ms: int = 0, shift_ms: int = 0, recent: Sequence[int] = ()) -> None:
        self.now_ms = now_ms
        self._shift_ms = shift_ms  # added to timestamps since a clock was set back
        self._recent = list(recent)  # the last timestamps, as they came

    def advance(self, timestamp_ms: int) -> int:
        """A record came: the time at it."""
        if timestamp_ms < 0:  # Kafka's value for none
            return self.now_ms
        if not self._recent:
            self.now_ms = timestamp_ms
        if self._is_back(timestamp_ms):
            self._shift_ms = 0
        self._recent = [*self._recent[1 - CONFIRMED :], timestamp_ms]
        ahead = timestamp_ms + self._shift_ms - self.now_ms
        confirmed = ahead if ahead <= LEAP_MS else min(self._recent) + self._shift_ms - self.now_ms
        self.now_ms += max(0, confirmed)
        newest = max(self._recent)
        if len(self._recent) == CONFIRMED and newest + self._shift_ms < self.now_ms:
            self._shift_ms = self.now_ms - newest
        return self.now_ms

    def at(self, timestamp_ms: int) -> int | None:
        """The time at a record whose timestamp is as expected, without `advance`; None where it is not."""
        ahead = timestamp_ms + self._shift_ms - self.now_ms
        expected = 0 <= ahead <= LEAP_MS and bool(self._recent) and not self._is_back(timestamp_ms)
        return self.now_ms + ahead if expected else None

    def _is_back(self, timestamp_ms: int) -> bool:
        """Whether a clock that was set back shows the former time again."""
        return abs(timestamp_ms - self.now_ms) < abs(timestamp_ms + self._shift_ms - self.now_ms)

    def dump(self) -> list[int]:
        """As plain numbers, relative to the first where that makes them short."""
        return [self.now_ms, self._shift_ms, *(self.now_ms - each for each in self._recent)]

    @classmethod
    def load(cls, values: Sequence[int]) -> "KeyClock":
        """The clock that was dumped."""
        now_ms, shift_ms, *before = values
        return cls(now_ms, shift_ms, [now_ms - each for each in before])
