"""Records to Kafka and results back: which record stands where, and what became of it.

Used by the tests of this folder. Sends with confluent-kafka, compressed, so that a record may be larger than what the
broker takes; every record is known by its place in its topic.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer

from eml.stream.output.encoder import read_prediction
from tests.hostile.expected import PREDICTION
from tests.hostile.site import LABELS, Hostile
from tests.integration import harness
from tests.integration.harness import Said, Topics

Place = tuple[str, int, int]  # topic, partition, offset
Record = harness.Message | Hostile
LARGEST = 100_000_000
CONFIG = {  # of topics: any timestamp is taken, and nothing is dropped for its age
    "message.timestamp.after.max.ms": str(2**63 - 1),
    "retention.ms": "-1",
}
PRODUCER = {
    "enable.idempotence": True,
    "linger.ms": 20,
    "compression.type": "gzip",
    "message.max.bytes": LARGEST,
    "message.timeout.ms": 60_000,
    "log_level": 0,
}


@dataclass
class Sent:
    """Where each record stands."""

    topics: Topics
    labels_topic: str
    places: dict[Place, Record] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)  # by the broker

    def send(self, bootstrap_servers: str, records: Iterable[Record], per_second: float = 0.0) -> None:
        """Send them in this order, so many per second, and wait until all are there."""
        producer = Producer({**PRODUCER, "bootstrap.servers": bootstrap_servers})
        begin = time.monotonic()
        for number, record in enumerate(records):
            if per_second:
                time.sleep(max(0.0, begin + number / per_second - time.monotonic()))
            producer.produce(
                self._topic(record),
                record.value,
                record.key,
                timestamp=record.timestamp_ms,
                headers=list(record.headers),
                on_delivery=self._delivered(record),
            )
            producer.poll(0)
        producer.flush()
        assert not self.refused, self.refused[:5]

    def _topic(self, record: Record) -> str:
        of_labels = isinstance(record, Hostile) and record.topic == LABELS
        return self.labels_topic if of_labels else self.topics.readings

    def _delivered(self, record: Record) -> Callable[[KafkaError | None, Message], None]:
        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                name = record.case if isinstance(record, Hostile) else "good"
                self.refused.append(f"{name}: {error.str()}")
            else:
                self.places[str(message.topic()), int(message.partition() or 0), int(message.offset() or 0)] = record

        return delivered


@dataclass
class Letter:
    """A dead letter."""

    value: bytes | None
    headers: list[tuple[str, bytes | None]]

    def header(self, name: str) -> str:
        """The text of one of our headers; empty where it is not there."""
        return next(((value or b"").decode() for found, value in self.headers if found == name), "")


@dataclass
class Results:
    """What the job wrote, by the place of the record it is about."""

    ends: dict[Place, list[str]] = field(default_factory=dict)
    said: dict[Place, Said] = field(default_factory=dict)
    letters: dict[Place, Letter] = field(default_factory=dict)

    def read(
        self, job: harness.Job, done: Callable[["Results"], bool], check: Callable[[], None], wait_s: float
    ) -> None:
        """Take in what is committed until `done`, and a moment more to see whether something comes twice."""
        consumer = Consumer(
            {
                "bootstrap.servers": job.stack.bootstrap_servers,
                "group.id": f"{job.topics.predictions}-{time.monotonic_ns()}",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )
        self.ends, self.said, self.letters = {}, {}, {}  # everything is read from the beginning
        end = time.monotonic() + wait_s
        with closing(consumer):
            consumer.subscribe([job.topics.predictions, job.topics.dead_letters])
            while time.monotonic() < end:
                for message in consumer.consume(500, 0.5):
                    assert message.error() is None, message.error()
                    self._take(message, is_letter=message.topic() == job.topics.dead_letters)
                if done(self):
                    end = min(end, time.monotonic() + 3.0)
                check()

    def _take(self, message: Message, *, is_letter: bool) -> None:
        if is_letter:
            headers: Any = message.headers() or []
            letter = Letter(message.value(), list(headers))
            numbers = [int(letter.header(f"__connect.errors.{name}")) for name in ("partition", "offset")]
            place = letter.header("__connect.errors.topic"), numbers[0], numbers[1]
            self.letters[place] = letter
            self.ends.setdefault(place, []).append(letter.header("eml.errors.reason"))
            return
        fields: Any = read_prediction(message.value() or b"")
        place = fields["source_topic"], fields["source_partition"], fields["source_offset"]
        self.said[place] = fields["label"], fields["scores"], fields["margin"]
        self.ends.setdefault(place, []).append(PREDICTION)
