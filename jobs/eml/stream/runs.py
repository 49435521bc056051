"""What `fleet` works on and what comes of it: readings of one schema in a row, and the results of a micro-batch."""

from dataclasses import dataclass, field

from eml.stream.records import DeadLetter, Evolved, Position, Raw, Scored
from eml.stream.schema import Decoded, ReadingSchema


@dataclass(slots=True)
class Results:
    """What became of a micro-batch: each record is in exactly one of predictions, dead letters and waiting."""

    predictions: list[Scored] = field(default_factory=list)
    evolutions: list[Evolved] = field(default_factory=list)
    dead_letters: list[DeadLetter] = field(default_factory=list)
    waiting: list[Raw] = field(default_factory=list)  # from the first record on whose schema cannot be had now
    retry_after_ms: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """Good readings of one schema, in their order."""

    schema: ReadingSchema
    decoded: Decoded
    positions: list[Position]

    def __len__(self) -> int:
        return len(self.positions)

    def time(self, row: int) -> int:
        """Kafka's timestamp of a reading."""
        return self.positions[row].timestamp_ms

    def labelled(self, piece: slice) -> list[tuple[int, str]]:
        """Rows of a piece that carry their label."""
        labels = enumerate(self.decoded.labels[piece], piece.start)
        return [(row, label) for row, label in labels if label is not None]
