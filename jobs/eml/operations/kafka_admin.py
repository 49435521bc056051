"""What a broker says of topics, offsets and its own limits, for the commands that look at a job from outside.

Called by `doctor`, `status` and `init`; its client is librdkafka's, with the job's properties. Every question has a
timeout. Changes nothing on the brokers.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public names all the same
    AdminClient,
    ConfigResource,
    OffsetSpec,
)
from confluent_kafka.admin._metadata import ClusterMetadata

from eml.local import listeners
from eml.local.connection import librdkafka_properties
from eml.local.errors import LocalError, UnreachableError
from eml.settings import KafkaSettings

TIMEOUT_S = 5.0
MAX_TRANSACTION = "transaction.max.timeout.ms"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a consumer group is behind a topic's end."""

    records: int  # end offsets less committed ones; of partitions without a commit all that is there
    committed: int  # partitions with a committed offset
    partitions: int


class KafkaAdmin:
    """An admin client for one cluster; UnreachableError where nobody answers."""

    def __init__(self, kafka: KafkaSettings) -> None:
        listeners.check(kafka)
        self._kafka = kafka
        properties = librdkafka_properties(kafka.properties)
        self._client = AdminClient({**properties, "bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})

    def brokers(self) -> int:
        """How many there are."""
        return len(self._metadata().brokers)

    def topics(self) -> dict[str, int]:
        """Partitions of each topic that is shown to this user."""
        return {name: len(topic.partitions) for name, topic in self._metadata().topics.items()}

    def longest_transaction_ms(self) -> int | None:
        """The brokers' limit; None where this user may not ask."""
        broker = str(next(iter(self._metadata().brokers)))
        resource = ConfigResource(ConfigResource.Type.BROKER, broker)
        try:
            config = self._client.describe_configs([resource], request_timeout=TIMEOUT_S)[resource].result(TIMEOUT_S)
            return int(config[MAX_TRANSACTION].value)
        except (KafkaException, TimeoutError, KeyError, ValueError, TypeError):
            return None

    def newest_ms(self, topic: str, partitions: int) -> int | None:
        """The latest timestamp in a topic; None where it is empty or this user may not ask."""
        newest = OffsetSpec.max_timestamp()  # type: ignore[no-untyped-call]
        wanted = {TopicPartition(topic, number): newest for number in range(partitions)}
        answers = self._client.list_offsets(wanted, request_timeout=TIMEOUT_S)
        try:
            return max((answer.result(TIMEOUT_S).timestamp for answer in answers.values()), default=0) or None
        except (KafkaException, TimeoutError):
            return None

    def lag(self, group: str, topic: str, partitions: int) -> Lag:
        """What a group has not read of a topic."""
        places = [TopicPartition(topic, number) for number in range(partitions)]
        asked = self._client.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, places)], request_timeout=TIMEOUT_S
        )
        found = self._answered(asked[group].result, f"offsets of consumer group {group!r} (kafka.group_id)")
        committed = {each.partition: each.offset for each in found.topic_partitions or [] if each.offset >= 0}
        first = self._offsets(places, OffsetSpec.earliest())  # type: ignore[no-untyped-call]
        end = self._offsets(places, OffsetSpec.latest())  # type: ignore[no-untyped-call]
        behind = sum(max(0, end[number] - max(committed.get(number, 0), first[number])) for number in end)
        return Lag(behind, len(committed), len(end))

    def _offsets(self, places: Iterable[TopicPartition], spec: OffsetSpec) -> dict[int, int]:
        answers = self._client.list_offsets(dict.fromkeys(places, spec), request_timeout=TIMEOUT_S)
        return {
            place.partition: self._answered(answer.result, f"offsets of topic {place.topic!r}").offset
            for place, answer in answers.items()
        }

    def _metadata(self) -> ClusterMetadata:
        try:
            return self._client.list_topics(timeout=TIMEOUT_S)
        except KafkaException as error:
            raise UnreachableError(
                f"Kafka at {self._kafka.bootstrap_servers} does not answer ({error.args[0].str()}): look at"
                " kafka.bootstrap_servers and [kafka.properties]"
            ) from None

    def _answered(self, result: Callable[[float], T], what: str) -> T:
        try:
            return result(TIMEOUT_S)
        except (KafkaException, TimeoutError) as error:
            raise LocalError(
                f"the {what} cannot be read ({error}): allow this user to READ them (kafka-acls)"
            ) from None
