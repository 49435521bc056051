"""Reads what Kafka's topics hold at one moment: committed records, from the first to the last there is.

`TopicReader` keeps records by partition, for `capture`. `TopicConsumer` below it hands every message to whoever reads,
from any offset on: the commands of `eml.operations` use it. Calls `connection` for the properties, since its client is
librdkafka, not Java's. Knows nothing of the records' bytes.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self, cast

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin._metadata import TopicMetadata

from eml.local.connection import librdkafka_properties
from eml.local.errors import CaptureError, UnreachableError
from eml.local.listeners import check, mismatch
from eml.local.record_lines import Arrived
from eml.settings import KafkaSettings
from eml.stream.keys import KafkaKey
from eml.stream.records import Position, Raw

AT_ONCE = 2_000  # records per poll
ANSWER_S = 15.0  # for a question to the broker
REFUSED_S = 1.0  # until we look whether there is a connection at all
FOLLOW_S = 0.5  # until what has come is handed over
LEADER_S = 0.2  # between two looks for a partition's leader
NO_LEADER = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE)
SILENCE_S = 30.0  # without a record although there must be more
JAVA_ONLY = (
    "This command reads with librdkafka, not with Java's client as the job does: give it settings of its own"
    " (--settings) without this property, or with librdkafka's instead"
)
MISSING = "Make it (`eml topics create`), or correct its name in the settings."
Partition = tuple[str, int]
Span = tuple[int, int]  # first offset and the one behind the last
Take = Callable[[Message], bool]  # whether its partition needs no more


class TopicConsumer:
    """A consumer that belongs to no group and stops at the end."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self._trouble = "it is silent"
        self._connecting = ""  # why there is no connection
        self._kafka = kafka
        try:
            self._consumer = Consumer({**client_properties(kafka), "error_cb": self._on_error})
        except KafkaException as error:
            what = error.args[0].str()
            raise CaptureError(f"[kafka.properties] cannot be used here: {what}. {JAVA_ONLY}.") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def spans(self, topics: Sequence[str]) -> dict[Partition, Span]:
        """First offset and the one behind the last, by partition."""
        with self._errors_named():
            return {place: span for topic in topics for place, span in self._spans(topic)}

    def read(self, spans: Mapping[Partition, Span], take: Take) -> None:
        """Hand over the records between these offsets, until `take` says that a partition needs no more."""
        with self._errors_named():
            self._read(spans, take)

    def follow(self, offsets: Mapping[Partition, int], take: Take) -> None:
        """Hand over all records from these offsets on, those to come, too, until somebody stops it."""
        with self._errors_named():
            self._assign(offsets)
            while True:
                for message in self._consumer.consume(AT_ONCE, FOLLOW_S):
                    error = message.error()
                    if error is None:
                        take(message)
                    else:
                        self._is_end(error)  # else the client tries again by itself

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except KafkaException as error:
            self._consumer.poll(0)  # hands over what the client found out meanwhile
            if self._connecting:
                check(self._kafka)  # says more, where nobody answers
            raise UnreachableError(self._unreadable(error.args[0].str())) from None

    def _unreadable(self, what: str) -> str:
        why = mismatch(self._kafka) or self._connecting
        return (
            f"Kafka at {self._kafka.bootstrap_servers} cannot be read: {what}{f' ({why})' if why else ''}."
            " Look at kafka.bootstrap_servers and [kafka.properties]."
        )

    def _on_error(self, error: KafkaError) -> None:
        """Called by the client with what goes wrong in its background: why there is no connection, for one."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001  it follows the reason, and says less
            self._connecting = error.str()

    def _spans(self, topic: str) -> Iterator[tuple[Partition, Span]]:
        described = self._described(topic)
        if described.error is not None:
            denied = described.error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
            advice = "Allow this user to READ it (kafka-acls)." if denied else MISSING
            raise CaptureError(f"The topic {topic!r} cannot be read: {described.error.str()}. {advice}")
        for number in sorted(described.partitions):
            yield (topic, number), self._span(TopicPartition(topic, number))

    def _span(self, place: TopicPartition) -> Span:
        """First offset and the one behind the last; a topic that was just made has no leader for a moment."""
        end = time.monotonic() + ANSWER_S
        while True:
            try:
                return self._consumer.get_watermark_offsets(place, ANSWER_S)
            except KafkaException as error:
                if error.args[0].code() not in NO_LEADER or time.monotonic() >= end:
                    raise
                time.sleep(LEADER_S)

    def _described(self, topic: str) -> TopicMetadata:
        """What the broker says of a topic; no long wait where nobody listens."""
        end = time.monotonic() + ANSWER_S
        while True:
            try:
                found: TopicMetadata = self._consumer.list_topics(topic, min(REFUSED_S, ANSWER_S)).topics[topic]
            except KafkaException:
                self._consumer.poll(0)  # hands over what the client found out meanwhile
                if self._connecting or time.monotonic() >= end:
                    raise
            else:
                return found

    def _assign(self, offsets: Mapping[Partition, int]) -> None:
        self._consumer.assign([TopicPartition(*partition, offset) for partition, offset in offsets.items()])

    def _read(self, spans: Mapping[Partition, Span], take: Take) -> None:
        open_ = {partition: end for partition, (first, end) in spans.items() if first < end}
        self._assign({partition: spans[partition][0] for partition in open_})
        last = time.monotonic()
        while open_:
            messages = self._consumer.consume(AT_ONCE, 1.0)
            for message in messages:
                partition = message.topic(), message.partition()
                if partition in open_ and self._is_last(message, open_[partition], take):
                    del open_[partition]
            if any(message.error() is None for message in messages):
                last = time.monotonic()
            elif open_ and time.monotonic() - last > SILENCE_S:
                raise UnreachableError(
                    f"Kafka at {self._kafka.bootstrap_servers} gives no more ({self._trouble}): try again later."
                )

    def _is_last(self, message: Message, end: int, take: Take) -> bool:
        """Hand over a message; whether its partition needs no more."""
        error = message.error()
        if error is not None:
            return self._is_end(error)
        offset = place_of(message).offset
        if offset >= end:
            return True
        return take(message) or offset == end - 1

    def _is_end(self, error: KafkaError) -> bool:
        """Whether a partition has no more: its last offsets may hold no record, only ends of transactions."""
        if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  librdkafka's own codes are spelt so
            return True
        if error.fatal():
            raise KafkaException(error)
        self._trouble = error.str()  # the client tries again by itself
        return False


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records."""

    keys: frozenset[str] = frozenset()  # empty: all
    most: int | None = None  # the oldest of them
    from_ms: int | None = None  # by Kafka's timestamps, both ends with them
    to_ms: int | None = None

    def covers(self, timestamp_ms: int) -> bool:
        """Whether a time is one of them."""
        after = self.from_ms is None or self.from_ms <= timestamp_ms
        return after and (self.to_ms is None or timestamp_ms <= self.to_ms)

    @property
    def covers_all_times(self) -> bool:
        """Whether no time is left out."""
        return self.from_ms is None and self.to_ms is None


class TopicReader(TopicConsumer):
    """Reads the records that a model can have."""

    def __init__(self, kafka: KafkaSettings) -> None:
        super().__init__(kafka)
        self.unusable = 0  # records without a key, or with one that is no text

    def records(self, topics: Sequence[str], wanted: Wanted) -> list[list[Arrived]]:
        """The wanted records of each partition; where no more than some are wanted, so many of each."""
        spans = self.spans(topics)
        kept: dict[Partition, list[Arrived]] = {partition: [] for partition in spans}

        def take(message: Message) -> bool:
            arrived, place = as_arrived(message), place_of(message)
            here = kept[place.topic, place.partition]
            if not wanted.covers(place.timestamp_ms):
                return False  # times need not rise with offsets
            if arrived is None:
                self.unusable += 1
            elif not wanted.keys or arrived.key in wanted.keys:
                here.append(arrived)
            return len(here) == wanted.most

        self.read(spans, take)
        return list(kept.values())


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
    return Arrived(0, key, Raw(message.value(), place_of(message), _headers(message)))


def as_raw(message: Message) -> Raw:
    """The record of a message with its key, whatever that is."""
    return Raw(
        message.value(), place_of(message), _headers(message), KafkaKey((message.key() or b"").decode("latin-1"))
    )


def _headers(message: Message) -> dict[str, bytes | None]:
    return dict(cast("list[tuple[str, bytes | None]]", message.headers() or []))


def place_of(message: Message) -> Position:
    """Where a message stands; one that was received has all of it, whatever the client's types say."""
    place = message.topic(), message.partition(), message.offset(), message.timestamp()[1]
    return Position(*cast("tuple[str, int, int, int]", place))
