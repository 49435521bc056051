"""Records per second, from what a pipeline wrote: Kafka says when each record was appended to the output topic.

Called by `stream`. The topic keeps append times (`topics.create`), and everything is read after the pipeline is done:
reading along would take the time that is measured. A pipeline's start does not count, nor does its warm-up.
"""

import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Message, TopicPartition

from eml.local.errors import LocalError

WARM_UP = 0.2  # share of the records that does not count: processes warm up, and models are made
POLL_S = 0.5  # so seldom that asking costs nothing
AT_ONCE = 10_000  # records per call
PATIENCE_S = 120.0  # without a new record, until a pipeline is given up


def rate(times_ms: Sequence[int], warm_up: float = WARM_UP, least_ms: int = 0) -> float:
    """Records per second between the end of the warm-up and the last record; `times_ms` are their append times.

    Records come in bursts with one time. Those appended with the last one of the warm-up belong to it.

    A Python operator hands its records on in bundles: of fewer than a bundle's time (`least_ms`) the append times tell
    how fast they were written, not how long they took to make. Such a rate is many times too high, and refused.
    """
    ordered = sorted(times_ms)
    start = ordered[int(warm_up * len(ordered))]
    counted = len(ordered) - bisect_right(ordered, start)
    if not counted:
        raise LocalError("All records came at the same moment: measure more of them.")
    span_ms = ordered[-1] - start
    if span_ms < least_ms:
        raise LocalError(
            f"The records that count were written within {span_ms} ms, and {least_ms} ms are needed for a rate: measure"
            " more --records, or set a shorter --checkpoint-ms."
        )
    return 1000.0 * counted / span_ms


class Output:
    """The topic that a pipeline writes to."""

    def __init__(self, bootstrap_servers: str, topic: str, partitions: int) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._topic = topic
        self._partitions = range(partitions)

    def wait(self, count: int, check: Callable[[], None]) -> None:
        """Wait until `count` records are appended; `check` raises where no more can come."""
        appended, heard = 0, time.monotonic()
        with closing(self._consumer("read_uncommitted")) as consumer:
            while (now := self._appended(consumer)) < count:
                if now > appended:
                    appended, heard = now, time.monotonic()
                if time.monotonic() - heard > PATIENCE_S:
                    raise LocalError(f"Only {appended} of {count} records came, and no more for {PATIENCE_S:.0f} s.")
                check()
                time.sleep(POLL_S)

    def _appended(self, consumer: Consumer) -> int:
        """How far the topic has grown; under exactly-once a little more than its records, by the marks of commits."""
        ends = (consumer.get_watermark_offsets(TopicPartition(self._topic, p), timeout=10) for p in self._partitions)
        try:
            return sum(high for _, high in ends)
        except KafkaException:  # a new topic's broker may not know yet that it leads it
            return 0

    def times_ms(self, count: int) -> "array[int]":
        """When the first `count` records were appended."""
        return array("q", (message.timestamp()[1] for message in self.read(count, "read_uncommitted")))

    def read(self, count: int, isolation: str = "read_committed", timeout_s: float = 60.0) -> Iterator[Message]:
        """The topic's records from the beginning, up to `count`; an error where there are fewer after a while."""
        end, found = time.monotonic() + timeout_s, 0
        with closing(self._consumer(isolation)) as consumer:
            consumer.assign([TopicPartition(self._topic, p, OFFSET_BEGINNING) for p in self._partitions])
            while found < count:
                messages = [m for m in consumer.consume(min(AT_ONCE, count - found), POLL_S) if m.error() is None]
                yield from messages
                found += len(messages)
                if time.monotonic() > end:
                    raise LocalError(f"Only {found} of {count} records can be read from {self._topic}.")

    def _consumer(self, isolation: str) -> Consumer:
        return Consumer(
            {
                "bootstrap.servers": self._bootstrap_servers,
                "group.id": f"{self._topic}-measure",  # asked for, though nothing is committed
                "enable.auto.commit": False,
                "isolation.level": isolation,
                "log_level": 0,
            }
        )
