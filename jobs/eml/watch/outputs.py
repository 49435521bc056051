"""The job's topics as one stream of messages: topics that come later, brokers that go and come back.

Polled by `reader`, in its thread; calls Kafka's client and knows nothing of what is in a record. Partitions are
assigned, so no group is joined and nothing is committed; only committed records are seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, Message, TopicPartition

from eml.local.errors import CaptureError
from eml.local.topic_reader import JAVA_ONLY, client_properties
from eml.settings import KafkaSettings

ANSWER_S = 5.0  # for a question to the broker
AT_ONCE = 1_000  # messages
WAIT_S = 0.2  # for them
FETCHED_KB = 16_384  # ahead of us
NOT_THERE = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)  # noqa: SLF001
Partition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Found:
    """What there is of the topics now."""

    missing: Sequence[str] = ()
    refused: Sequence[str] = ()  # we may not read them
    unreachable: str = ""  # why nothing could be found out


@dataclass(slots=True)
class Outputs:
    """A consumer of some topics from their beginning, or from a time on."""

    kafka: KafkaSettings
    topics: Sequence[str]
    since_ms: int | None
    whole: frozenset[str] = frozenset()  # topics that are read from the beginning all the same
    _assigned: set[Partition] = field(default_factory=set)
    _behind: set[Partition] = field(default_factory=set)
    _seen: bool = False  # what there is
    _trouble: str = ""
    _consumer: Consumer = field(init=False)

    def __post_init__(self) -> None:
        properties = {**client_properties(self.kafka), "queued.max.messages.kbytes": FETCHED_KB}
        try:
            self._consumer = Consumer({**properties, "error_cb": self._on_error})
        except KafkaException as error:
            what = error.args[0].str()
            raise CaptureError(f"[kafka.properties] cannot be used here: {what}. {JAVA_ONLY}.") from None

    def close(self) -> None:
        """Close the connection."""
        self._consumer.close()

    @property
    def reading_back(self) -> bool:
        """Whether there is more than was read, or may be."""
        return bool(self._behind) or not self._seen

    def look(self) -> Found:
        """Look which topics and partitions there are, and read the new ones, too."""
        missing, refused = [], []
        try:
            for topic in self.topics:
                described = self._consumer.list_topics(topic, ANSWER_S).topics[topic]
                if described.error is None:
                    self._assign([(topic, number) for number in described.partitions])
                elif described.error.code() in NOT_THERE:
                    missing.append(topic)
                elif described.error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                    refused.append(topic)
        except KafkaException as error:
            self._consumer.poll(0)  # hands over what the client found out meanwhile
            return Found(unreachable=self._trouble or error.args[0].str())
        self._trouble, self._seen = "", True
        return Found(missing, refused)

    def poll(self) -> list[Message]:
        """The records that have come."""
        messages = self._consumer.consume(AT_ONCE, WAIT_S)
        records = []
        for message in messages:
            error = message.error()
            if error is None:
                records.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  librdkafka's own codes are spelt so
                self._behind.discard((cast("str", message.topic()), cast("int", message.partition())))
            elif error.code() in NOT_THERE:  # the topic was removed; it is looked for again
                self._forget(cast("str", message.topic()))
            elif error.fatal():
                raise KafkaException(error)
        return records

    def ends(self, topic: str) -> dict[int, tuple[int, int]]:
        """Where what is read of a topic begins and ends, by partition; none where that cannot be had."""
        try:
            described = self._consumer.list_topics(topic, ANSWER_S).topics[topic]
            if described.error is not None:
                return {}
            starts = self._starts([(topic, number) for number in described.partitions])
            found = {}
            for start in starts:
                first, end = self._consumer.get_watermark_offsets(start, ANSWER_S)
                later = end if start.offset == OFFSET_END else start.offset
                found[start.partition] = max(first, later), end
        except KafkaException:
            return {}
        return found

    def _assign(self, partitions: Sequence[Partition]) -> None:
        new = [partition for partition in partitions if partition not in self._assigned]
        if not new:
            return
        self._consumer.incremental_assign(self._starts(new))
        self._assigned.update(new)
        self._behind.update(new)

    def _starts(self, partitions: Sequence[Partition]) -> list[TopicPartition]:
        """Where each is read from."""
        if self.since_ms is None or partitions[0][0] in self.whole:
            return [TopicPartition(*partition, OFFSET_BEGINNING) for partition in partitions]
        asked = [TopicPartition(*partition, self.since_ms) for partition in partitions]
        return self._consumer.offsets_for_times(asked, ANSWER_S)

    def _forget(self, topic: str) -> None:
        gone = {partition for partition in self._assigned if partition[0] == topic}
        if gone:
            self._consumer.incremental_unassign([TopicPartition(*partition) for partition in gone])
        self._assigned -= gone
        self._behind -= gone

    def _on_error(self, error: KafkaError) -> None:
        """Called by the client with what goes wrong in its background."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001  it follows the reason, and says less
            self._trouble = error.str()
