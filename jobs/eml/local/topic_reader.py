"""Reads what Kafka's topics hold at one moment: committed records, from the first to the last there is.

Called by `capture`; calls `connection` for the properties, since its client is librdkafka, not Java's. Keeps records by
partition; knows nothing of their bytes.
"""

import time
from collections.abc import Sequence
from typing import Self, cast

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from eml.local.connection import librdkafka_properties
from eml.local.errors import CaptureError
from eml.local.listeners import mismatch
from eml.local.record_lines import Arrived
from eml.settings import KafkaSettings
from eml.stream.records import Position, Raw

AT_ONCE = 2_000  # records per poll
ANSWER_S = 15.0  # for a question to the broker
SILENCE_S = 30.0  # without a record although there must be more
JAVA_ONLY = (
    "This command reads with librdkafka, not with Java's client as the job does: give it settings of its own"
    " (--settings) without this property, or with librdkafka's instead"
)
Partition = tuple[str, int]


class TopicReader:
    """A consumer that belongs to no group and stops at the end."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self.unusable = 0  # records without a key, or with one that is no text
        self._trouble = "it is silent"
        self._connecting = ""  # why there is no connection
        self._kafka = kafka
        try:
            self._consumer = Consumer({**client_properties(kafka), "error_cb": self._heard})
        except KafkaException as error:
            what = error.args[0].str()
            raise CaptureError(f"[kafka.properties] cannot be used here: {what}. {JAVA_ONLY}.") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def read(self, topics: Sequence[str], keys: frozenset[str], most: int | None) -> list[list[Arrived]]:
        """The records of each partition: of some keys or, where none is named, of all; the first `most` of each."""
        try:
            ends = self._ends(topics)
            kept: dict[Partition, list[Arrived]] = {partition: [] for partition in ends}
            self._read(ends, kept, keys, most)
        except KafkaException as error:
            self._consumer.poll(0)  # hands over what the client found out meanwhile
            raise CaptureError(self._unreadable(error.args[0].str())) from None
        return list(kept.values())

    def _unreadable(self, what: str) -> str:
        why = mismatch(self._kafka) or self._connecting
        return (
            f"Kafka at {self._kafka.bootstrap_servers} cannot be read: {what}{f' ({why})' if why else ''}."
            " Look at kafka.bootstrap_servers and [kafka.properties]."
        )

    def _heard(self, error: KafkaError) -> None:
        """Called by the client with what goes wrong in its background: why there is no connection, for one."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001  it follows the reason, and says less
            self._connecting = error.str()

    def _ends(self, topics: Sequence[str]) -> dict[Partition, tuple[int, int]]:
        """First offset and the one behind the last, by partition."""
        ends = {}
        for topic in topics:
            described = self._consumer.list_topics(topic, ANSWER_S).topics[topic]
            if described.error is not None:
                denied = described.error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
                advice = "Allow this user to READ it (kafka-acls)." if denied else "Is its name right?"
                raise CaptureError(f"The topic {topic!r} cannot be read: {described.error.str()}. {advice}")
            for number in sorted(described.partitions):
                ends[topic, number] = self._consumer.get_watermark_offsets(TopicPartition(topic, number), ANSWER_S)
        return ends

    def _read(
        self,
        ends: dict[Partition, tuple[int, int]],
        kept: dict[Partition, list[Arrived]],
        keys: frozenset[str],
        most: int | None,
    ) -> None:
        open_ = {partition: end for partition, (first, end) in ends.items() if first < end}
        self._consumer.assign([TopicPartition(*partition, ends[partition][0]) for partition in open_])
        heard = time.monotonic()
        while open_:
            messages = self._consumer.consume(AT_ONCE, 1.0)
            for message in messages:
                partition = message.topic(), message.partition()
                if partition in open_ and self._is_last(message, open_[partition], kept[partition], keys, most):
                    del open_[partition]
            if any(message.error() is None for message in messages):
                heard = time.monotonic()
            elif open_ and time.monotonic() - heard > SILENCE_S:
                raise CaptureError(
                    f"Kafka at {self._kafka.bootstrap_servers} gives no more ({self._trouble}): try again later."
                )

    def _is_last(self, message: Message, end: int, kept: list[Arrived], keys: frozenset[str], most: int | None) -> bool:
        """Take a message; whether its partition needs no more."""
        error = message.error()
        if error is not None:
            return self._is_end(error)
        offset = place_of(message).offset
        if offset >= end:
            return True
        arrived = as_arrived(message)
        if arrived is None:
            self.unusable += 1
        elif not keys or arrived.key in keys:
            kept.append(arrived)
        return offset == end - 1 or len(kept) == most

    def _is_end(self, error: KafkaError) -> bool:
        """Whether a partition has no more: its last offsets may hold no record, only ends of transactions."""
        if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  librdkafka's own codes are spelt so
            return True
        if error.fatal():
            raise KafkaException(error)
        self._trouble = error.str()  # the client tries again by itself
        return False


def client_properties(kafka: KafkaSettings) -> dict[str, object]:
    """The properties of a consumer that commits nothing and sees only what is committed."""
    return {
        **librdkafka_properties(kafka.properties),
        "bootstrap.servers": kafka.bootstrap_servers,
        "group.id": f"{kafka.group_id}-capture",  # asked for, though no group is joined
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",  # what retention removes while we read is gone
        "log_level": 0,
    }


def as_arrived(message: Message) -> Arrived | None:
    """The record of a message; None where its key cannot be a model's."""
    try:
        key = (message.key() or b"").decode()
    except UnicodeDecodeError:
        return None
    if not key:
        return None
    headers = dict(cast("list[tuple[str, bytes | None]]", message.headers() or []))
    return Arrived(0, key, Raw(message.value(), place_of(message), headers))


def place_of(message: Message) -> Position:
    """Where a message stands; one that was received has all of it, whatever the client's types say."""
    place = message.topic(), message.partition(), message.offset(), message.timestamp()[1]
    return Position(*cast("tuple[str, int, int, int]", place))
