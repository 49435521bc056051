"""A record as it came, and where it stands in Kafka.

Made by `flink.rows` and by `eml.local`, read by everything between Kafka's bytes and the learner. The model's key is
not part of it, because every call is about one model. Times are milliseconds since 1970 UTC, as Kafka counts them.

These are not frozen, though nobody changes them (but for a device's name): that would take four times as long.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from eml.stream.keys import KafkaKey, KeyName

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
    number: int = -1  # in the micro-batch that brought it; -1: it was kept meanwhile
