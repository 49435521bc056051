"""The join of readings with labels that come on a topic of their own: of one key, in any order, bounded.

Called by `models.key_model` for every reading and every label. Knows no Flink, no topic and no learner. A label may
come after its reading, before it, inside it, twice, or never:

    unlabelled   readings without a label      dropped: counted as unlabelled
    early        labels without a reading      dropped: counted as unmatched
    known        ids whose label is known      dropped: what comes again then counts as new

The first label of an id stands; one inside a reading replaces an early one. An id is in one of these buffers at most.

Time is a clock that the Kafka timestamps of readings and labels set, so that the records alone decide; a single one
that is far in the future does not move it (`key_clock`). An item waits from the clock's time when it came, not from its
own timestamp: a late one waits as long as any other.

State is a log of pieces, because a key may wait for a thousand readings and each micro-batch changes a few:
`take_changes` is the next piece, `take_all` one that replaces all, due when the log `is_outgrown`.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass

from eml.stream.key_clock import KeyClock
from eml.stream.labels.bounded_buffer import BoundedBuffer
from eml.stream.labels.unlabelled import SourceTable, UnlabelledReading
from eml.stream.state_format import pack, unpack

MAGIC = b"EMLJ"
VERSION = 1
SMALL_LOG = 16_384  # bytes that may be appended before a log is rewritten, even where little of it is current


@dataclass(slots=True)
class LabelCounts:
    """What became of readings and labels."""

    joined: int = 0  # readings whose label came as a record of its own
    early: int = 0  # labels that came before their reading
    duplicates: int = 0  # labels that repeat the known one
    contradictions: int = 0  # labels that contradict the known one
    unmatched: int = 0  # early labels dropped without a reading
    unlabelled: int = 0  # readings dropped without a label
    repeated: int = 0  # readings that came again

    def plus(self, later: "LabelCounts") -> "LabelCounts":
        """The sums of both."""
        return LabelCounts(*(mine + other for mine, other in zip(astuple(self), astuple(later), strict=True)))


class LabelJoin:
    """Readings that wait for labels and labels that wait for readings, of one key.

    `limit` bounds each buffer, `wait_ms` how long an item stays there.
    """

    def __init__(self, limit: int, wait_ms: int) -> None:
        self.counts = LabelCounts()
        self._wait_ms = wait_ms
        self._clock = KeyClock()
        self._due = 0  # nothing can be dropped for its age until the clock is beyond
        self._unlabelled: BoundedBuffer[UnlabelledReading] = BoundedBuffer(limit)
        self._early: BoundedBuffer[str] = BoundedBuffer(limit)
        self._known: BoundedBuffer[str] = BoundedBuffer(limit)
        self._sources = SourceTable()
        self._written_clock = self._clock.dump()
        self._first, self._later = 0, 0  # bytes of the log's first piece, and of those after it

    def __len__(self) -> int:
        return len(self._unlabelled)

    def take_counts(self) -> LabelCounts:
        """What happened since the last call; not part of the state."""
        counts, self.counts = self.counts, LabelCounts()
        return counts

    # -- readings and labels ---------------------------------------------------------------------------------------

    def add_reading(self, reading: UnlabelledReading) -> str | None:
        """A reading came without a label: its label if that came early; otherwise it is kept, once."""
        event_id = reading.event_id
        self._advance(reading.timestamp_ms)
        if self._unlabelled.get(event_id) is not None or self._known.get(event_id) is not None:
            self.counts.repeated += 1
            return None
        label = self._early.pop(event_id)
        if label is None:
            self.counts.unlabelled += self._unlabelled.put(event_id, self._clock.now_ms, reading)
            return None
        self.counts.joined += 1
        self._known.put(event_id, self._clock.now_ms, label)
        return label

    def add_labelled(self, event_id: str, label: str, timestamp_ms: int) -> bool:
        """A reading came with its label inside: whether to learn it, which is not the case the second time.

        One that waited for its label is learnt as it is now, and no longer waits.
        """
        self._advance(timestamp_ms)
        known = self._known.get(event_id)
        if known is not None:
            self.counts.repeated += 1
            self.counts.contradictions += known != label
            return False
        if self._unlabelled.pop(event_id) is not None:
            self.counts.repeated += 1
        else:
            early = self._early.pop(event_id)
            if early is not None:
                self._count_again(early, label)
        self._known.put(event_id, self._clock.now_ms, label)
        return True

    def add_label(self, event_id: str, label: str, timestamp_ms: int) -> UnlabelledReading | None:
        """A label came: the reading it belongs to; None where that is still to come, or its label is known."""
        self._advance(timestamp_ms)
        reading = self._unlabelled.pop(event_id)
        if reading is not None:
            self.counts.joined += 1
            self._known.put(event_id, self._clock.now_ms, label)
            return reading
        known = self._known.get(event_id)
        if known is None:
            known = self._early.get(event_id)
        if known is not None:
            self._count_again(known, label)
        else:
            self.counts.early += 1
            self.counts.unmatched += self._early.put(event_id, self._clock.now_ms, label)
        return None

    def _count_again(self, known: str, label: str) -> None:
        if known == label:
            self.counts.duplicates += 1
        else:
            self.counts.contradictions += 1

    def _advance(self, timestamp_ms: int) -> None:
        if self._clock.advance(timestamp_ms) > self._due:
            self._drop_old()

    def _drop_old(self) -> None:
        start = self._clock.now_ms - self._wait_ms
        self.counts.unlabelled += self._unlabelled.drop_before(start)
        self.counts.unmatched += self._early.drop_before(start)
        self._known.drop_before(start)
        oldest = min(buffer.oldest_ms(self._clock.now_ms) for buffer in (self._unlabelled, self._early, self._known))
        self._due = oldest + self._wait_ms

    # -- state -----------------------------------------------------------------------------------------------------

    def take_changes(self) -> bytes | None:
        """The next piece of the log: what happened since the last one; None where nothing did."""
        buffers = (self._unlabelled, self._early, self._known)
        if self._clock.dump() == self._written_clock and not any(buffer.has_changed for buffer in buffers):
            return None
        sources, rows, values = self._sources.describe(self._unlabelled.added())
        labels = [self._early.added(), self._known.added()]
        piece = self._write(
            [self._clock.dump(), [buffer.removed() for buffer in buffers], sources, rows, *labels], values
        )
        self._count(piece)
        return piece

    def take_all(self) -> bytes:
        """One piece that replaces all before it."""
        self._sources, self._first, self._later = SourceTable(), 0, 0
        sources, rows, values = self._sources.describe(self._unlabelled.items())
        labels = [self._early.items(), self._known.items()]
        piece = self._write([self._clock.dump(), [([], 0)] * 3, sources, rows, *labels], values)
        self._count(piece)
        return piece

    @property
    def is_outgrown(self) -> bool:
        """Whether more was appended to the log than `take_all` would cost: rewriting doubles the writing at most."""
        return self._later > self._first + SMALL_LOG

    def _write(self, description: list[object], values: bytes) -> bytes:
        for buffer in (self._unlabelled, self._early, self._known):
            buffer.mark_written()
        self._written_clock = self._clock.dump()
        return pack(MAGIC, VERSION, description, values)

    def _count(self, piece: bytes) -> None:
        if self._first:
            self._later += len(piece)
        else:
            self._first = len(piece)

    @classmethod
    def load(cls, limit: int, wait_ms: int, pieces: Iterable[bytes]) -> "LabelJoin":
        """The join from the pieces of its log."""
        loaded = cls(limit, wait_ms)
        for piece in pieces:
            loaded._replay(piece)
            loaded._count(piece)
        return loaded

    def _replay(self, piece: bytes) -> None:
        description, values = unpack(MAGIC, VERSION, piece, "a key's labels")
        clock, removed, sources, rows, early, known = description
        self._clock, self._written_clock = KeyClock.load(clock), clock
        self._unlabelled.apply(removed[0], self._sources.read(sources, rows, values))
        self._early.apply(removed[1], early)
        self._known.apply(removed[2], known)
