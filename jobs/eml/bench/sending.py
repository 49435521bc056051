"""Sends the benchmark's readings to Kafka: all at once before a pipeline starts, or at a pace.

Called by `stream` and `paced`, with what `load` makes.
"""

import time
from collections.abc import Callable, Iterable, Sequence

from confluent_kafka import KafkaError, Message, Producer

from eml.local.errors import LocalError

PRODUCER = {
    "enable.idempotence": True,  # nothing twice, and in order
    "linger.ms": 50,
    "batch.size": 500_000,
    "message.timeout.ms": 60_000,
    "log_level": 0,  # what matters comes as an error
}
PACED = {**PRODUCER, "linger.ms": 1}
NOW = 0  # Kafka's value for the time of sending
TICK_S = 0.01  # between two handfuls of a paced load

Reading = tuple[bytes, bytes]
TimestampOf = Callable[[int], int]  # Kafka's time of a reading in milliseconds, by its number


class Sender:
    """A producer that tells what could not be sent."""

    def __init__(self, bootstrap_servers: str, topic: str, *, paced: bool = False) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap_servers, **(PACED if paced else PRODUCER)})
        self._topic = topic
        self._failed: list[KafkaError] = []

    def send(self, readings: Iterable[Reading], timestamp_ms: TimestampOf = lambda _: NOW) -> None:
        """Hand readings over; `timestamp_ms` says from the number of one when it was sent."""
        for number, (key, value) in enumerate(readings):
            at = timestamp_ms(number)
            try:
                self._producer.produce(self._topic, value, key, on_delivery=self._delivered, timestamp=at)
            except BufferError:  # its queue is full
                self._producer.flush()
                self._producer.produce(self._topic, value, key, on_delivery=self._delivered, timestamp=at)
            self._producer.poll(0)

    def pace(self, readings: Sequence[Reading], rate: int) -> None:
        """Hand them over, `rate` in every second; late ones are caught up with."""
        started, sent = time.monotonic(), 0
        while sent < len(readings):
            due = min(len(readings), 1 + int(rate * (time.monotonic() - started)))
            self.send(readings[sent:due])
            sent = due
            time.sleep(TICK_S)
        self._producer.poll(0)

    def finish(self) -> None:
        """Wait until everything is there."""
        self._producer.flush()
        if self._failed:
            first = self._failed[0].str()
            raise LocalError(f"{len(self._failed)} records could not be sent: {first}. Is the broker still there?")

    def _delivered(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._failed.append(error)


def send(
    bootstrap_servers: str, topic: str, readings: Iterable[Reading], timestamp_ms: TimestampOf = lambda _: NOW
) -> None:
    """Send everything, and wait until it is there."""
    sender = Sender(bootstrap_servers, topic)
    sender.send(readings, timestamp_ms)
    sender.finish()
