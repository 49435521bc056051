"""The newest dead letters, as they came, and counts of all.

Kept by `fleet_records`; `dead_letter_detail` decodes one when somebody opens it. Bounded in number and in bytes. Pure.
"""

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from eml.stream.output.dead_letter_reader import ReadDeadLetter, read
from eml.watch.views import DeadLetterRow

MOST = 5_000
BYTES = 33_554_432  # of their keys, values and headers
REASONS = 40  # counted by name; who else may write to the topic could make up any number
OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Arrived:
    """A record of the topic of dead letters."""

    key: str  # the device's name
    value: bytes | None
    headers: Mapping[str, bytes | None]
    time_ms: int
    place: str  # of the dead letter itself: topic/partition/offset


@dataclass(frozen=True, slots=True)
class Kept:
    """A dead letter in the list."""

    number: int
    arrived: Arrived
    read: ReadDeadLetter
    size: int

    def row(self) -> DeadLetterRow:
        """Its line."""
        read = self.read
        return DeadLetterRow(
            self.number, self.arrived.time_ms, self.arrived.key, read.reason, read.message, read.source
        )


class DeadLetters:
    """Dead letters by their numbers, which rise."""

    def __init__(self) -> None:
        self._kept: deque[Kept] = deque()
        self._bytes = 0
        self._next = 1
        self.reasons: Counter[str] = Counter()

    def add(self, arrived: Arrived) -> ReadDeadLetter:
        """One more; what it says of itself."""
        letter = read(arrived.headers)
        known = letter.reason in self.reasons or len(self.reasons) < REASONS
        self.reasons[letter.reason if known else OTHERS] += 1
        size = len(arrived.value or b"") + len(arrived.key)
        size += sum(len(name) + len(value or b"") for name, value in arrived.headers.items())
        self._kept.append(Kept(self._next, arrived, letter, size))
        self._next += 1
        self._bytes += size
        while len(self._kept) > MOST or (self._bytes > BYTES and len(self._kept) > 1):
            self._bytes -= self._kept.popleft().size
        return letter

    def newest_first(self, reason: str) -> Iterator[Kept]:
        """Of one reason, or of all where it is empty."""
        return (kept for kept in reversed(self._kept) if not reason or kept.read.reason == reason)

    def get(self, number: int) -> Kept | None:
        """One that is still kept."""
        at = number - self._kept[0].number if self._kept else -1
        return self._kept[at] if 0 <= at < len(self._kept) else None
