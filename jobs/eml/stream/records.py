"""A record as it came, and where it stands in Kafka.

Made by `flink.rows` and by `eml.local`, read by everything between Kafka's bytes and the learner. The model's key is
not part of it, because every call is about one model. Times are milliseconds since 1970 UTC, as Kafka counts them.

These are not frozen, though nobody changes them (but for a device's name): that would take four times as long.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from eml.stream.keys import KafkaKey, KeyName
from eml.stream.wire import HEADER_SIZE

Headers = Mapping[str, bytes | None]
NO_HEADERS: Headers = {}
REPLAYS = "eml.replays"  # a header: how often `eml dead-letters replay` has sent the record again
NO_KAFKA_KEY = KafkaKey("")
NO_KEY_NAME = KeyName("")


@dataclass(slots=True)
class Position:
    """Where a record stands in Kafka."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int


@dataclass(slots=True)
class RecordReference:
    """The record at which something happened to a key, and when that was measured, if the record says so."""

    position: Position
    event_time: int | None


@dataclass(slots=True)
class Raw:
    """One record as it came."""

    value: bytes | None
    position: Position
    headers: Headers
    key: KafkaKey = NO_KAFKA_KEY
    device: KeyName = NO_KEY_NAME  # whose record it is, where a model has many devices; empty: the model's
    start: int = HEADER_SIZE  # of the payload in the value; `models.record_reader` knows it from the frame
    number: int = -1  # in the micro-batch that brought it; -1: it was kept meanwhile


@dataclass(slots=True)
class ReadingNames:
    """What names some readings of one model and topic: an entry for each in every column."""

    topic: str
    keys: list[KafkaKey]
    devices: list[KeyName]  # empty where the model has only one
    partitions: list[int]
    offsets: list[int]
    timestamps_ms: list[int]
    event_ids: list[str | None]
    event_times: list[int | None]
    labels: list[str | None]  # that came inside them

    def __len__(self) -> int:
        return len(self.offsets)

    def position(self, row: int) -> Position:
        """Where one of them stands in Kafka."""
        return Position(self.topic, self.partitions[row], self.offsets[row], self.timestamps_ms[row])

    def reference(self, row: int) -> RecordReference:
        """One of them as the record at which something happened."""
        return RecordReference(self.position(row), self.event_times[row])

    def at(self, rows: slice) -> "ReadingNames":
        """Some of them, in a row."""
        if rows.start == 0 and rows.stop == len(self):
            return self
        return ReadingNames(
            self.topic,
            self.keys[rows],
            self.devices[rows],
            self.partitions[rows],
            self.offsets[rows],
            self.timestamps_ms[rows],
            self.event_ids[rows],
            self.event_times[rows],
            self.labels[rows],
        )
