"""Kafka's client with records that a test makes up; what the tests of capturing share."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from eml.settings import KafkaSettings
from eml.stream.wire import frame

VALUE = frame(7, b"\0" * 8)
KAFKA = KafkaSettings(bootstrap_servers="127.0.0.1:9")  # the discard port: nobody listens


class FakeMessage:
    """One record of Kafka, or an error, as its client gives it."""

    def __init__(self, partition: int, offset: int = -1, key: bytes | None = b"pump", error: object = None) -> None:
        self.topic = lambda: "readings"
        self.partition = lambda: partition
        self.offset = lambda: offset
        self.key = lambda: key
        self.value = lambda: VALUE
        self.timestamp = lambda: (1, 100 + offset)
        self.headers = lambda: [("trace", b"1"), ("empty", None)]
        self.error = lambda: error


class FakeConsumer:
    """Partitions with these bounds, and messages that come one after another."""

    def __init__(self, bounds: dict[int, tuple[int, int]], messages: Iterable[FakeMessage]) -> None:
        self._bounds, self._messages = bounds, iter(messages)
        self.assigned: list[tuple[int, int]] = []

    def list_topics(self, topic: str, _timeout: float) -> Any:
        error = None if topic == "readings" else SimpleNamespace(str=lambda: "Unknown topic", code=lambda: 3)
        described = SimpleNamespace(error=error, partitions=dict.fromkeys(self._bounds))
        return SimpleNamespace(topics={topic: described})

    def get_watermark_offsets(self, partition: Any, _timeout: float) -> tuple[int, int]:
        return self._bounds[partition.partition]

    def assign(self, partitions: Any) -> None:
        self.assigned = [(each.partition, each.offset) for each in partitions]

    def poll(self, timeout: float) -> None:
        """Nothing was found out meanwhile."""

    def consume(self, _count: int, _timeout: float) -> list[FakeMessage]:
        return [next(self._messages)]  # StopIteration where more is asked for than there is

    def close(self) -> None:
        """Nothing to close."""
