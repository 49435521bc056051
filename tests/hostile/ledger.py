"""Every record of a topic and its one end, in little memory: what the soak compares at its end.

A partition is a window of marks, one byte per offset, from the first record that has not ended; the sender and the
reader of results tell it what they see, in any order. Knows no Kafka.
"""

from dataclasses import dataclass, field

SENT, SILENT, ENDED = 1, 2, 4
DONE = {SENT | ENDED, SENT | SILENT}
TRIM = 10_000  # marks that are looked at together


@dataclass
class Partition:
    """Marks by offset, from `base` on; all before it have ended."""

    base: int = 0
    marks: bytearray = field(default_factory=bytearray)

    def add(self, offset: int, mark: int) -> int:
        """Set marks; those that were there before, or -1 where all before `base` is done."""
        place = offset - self.base
        if place < 0:
            return -1
        if place >= len(self.marks):
            self.marks.extend(bytes(place + 1 - len(self.marks)))
        before = self.marks[place]
        self.marks[place] = before | mark
        if len(self.marks) > TRIM:
            self._trim()
        return before

    def _trim(self) -> None:
        count = next((n for n, mark in enumerate(self.marks) if mark not in DONE), len(self.marks))
        if count > len(self.marks) // 2:  # else it would be copied too often
            del self.marks[:count]
            self.base += count


@dataclass
class Ledger:
    """Counts of what was sent and what became of it."""

    sent: int = 0
    silent: int = 0  # of those sent: need no result
    ended: int = 0
    twice: int = 0
    unexpected: int = 0  # results of records that need none, or that nobody sent
    partitions: dict[int, Partition] = field(default_factory=dict)

    def _add(self, partition: int, offset: int, mark: int) -> int:
        return self.partitions.setdefault(partition, Partition()).add(offset, mark)

    def was_sent(self, partition: int, offset: int, *, silent: bool) -> None:
        """A record stands there."""
        self.sent += 1
        self.silent += silent
        before = self._add(partition, offset, SENT | (SILENT if silent else 0))
        self.unexpected += silent and before == ENDED

    def has_ended(self, partition: int, offset: int) -> None:
        """A result of the record there."""
        before = self._add(partition, offset, ENDED)
        if before == -1 or before & ENDED:
            self.twice += 1
        else:
            self.ended += 1
            self.unexpected += bool(before & SILENT)

    @property
    def open(self) -> int:
        """Records without the result they need."""
        return sum(mark == SENT for each in self.partitions.values() for mark in each.marks)

    @property
    def under_way(self) -> int:
        """About as many, without a look at each."""
        return self.sent - self.silent - self.ended
