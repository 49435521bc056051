"""Whether Kafka lets the job's user do what the job does: topics, the consumer group, transactional ids.

Called by `topics` with an admin client, before the job is submitted: without these rights a job fails at its first
record or its first checkpoint, with Java's names for what is missing. Changes nothing on the brokers.
"""

from typing import Any

from eml.flink.client import cause_class, java_class
from eml.flink.rows import KINDS
from eml.settings import KafkaSettings

# A commit for a topic that cannot be (no topic's name begins with a blank) is refused in any case; by which error
# tells whether the group may be written to.
NO_TOPIC = " no topic"
UNKNOWN = "UnknownTopicOrPartitionException"


def topic_problems(admin: Any, kafka: KafkaSettings) -> list[str]:  # noqa: ANN401  a Java object
    """What is wrong with each topic: it does not exist, or may not be read or written."""
    wanted = _wanted(kafka)
    options = java_class("clients.admin.DescribeTopicsOptions")().includeAuthorizedOperations(True)  # noqa: FBT003  of Java
    described = admin.describeTopics([topic for topic, _ in wanted.values()], options).topicNameValues()
    found = [_topic_problem(described, name, *wanted[name]) for name in wanted]
    return [problem for problem in found if problem]


def _wanted(kafka: KafkaSettings) -> dict[str, tuple[str, str]]:
    """Topic and operation, by setting."""
    readings = {"readings_topic": kafka.readings_topic, "labels_topic": kafka.labels_topic}
    results = {f"{kind}_topic": getattr(kafka, f"{kind}_topic") for kind in KINDS}
    return {
        **{key: (topic, "READ") for key, topic in readings.items() if topic},
        **{key: (topic, "WRITE") for key, topic in results.items() if topic},
    }


def _topic_problem(described: Any, setting: str, topic: str, operation: str) -> str | None:  # noqa: ANN401
    allow = _allow(operation, f"--topic {topic}")
    try:
        allowed = described.get(topic).get().authorizedOperations()
    except Exception as error:
        kind = cause_class(error)
        if kind == UNKNOWN:
            return f"topic {topic!r} (kafka.{setting}) does not exist: create it (`eml topics create`), or name another"
        if kind == "TopicAuthorizationException":
            return f"topic {topic!r} (kafka.{setting}) is not shown to this user, if it exists: {allow}"
        raise
    if allowed is None or operation in {each.name() for each in allowed}:  # None: an old broker that cannot tell
        return None
    return f"topic {topic!r} (kafka.{setting}): this user has no right to {operation} it: {allow}"


def group_problems(admin: Any, kafka: KafkaSettings) -> list[str]:  # noqa: ANN401
    """Whether offsets may be committed for the consumer group."""
    partition = java_class("common.TopicPartition")(NO_TOPIC, 0)
    offset = java_class("clients.consumer.OffsetAndMetadata")(0)
    try:
        admin.alterConsumerGroupOffsets(kafka.group_id, {partition: offset}).all().get()
    except Exception as error:  # noqa: BLE001  py4j has one type for all of Java's
        if cause_class(error) == "GroupAuthorizationException":
            allow = _allow("READ", f"--group {kafka.group_id}")
            return [f"group {kafka.group_id!r} (kafka.group_id): this user has no right to READ it: {allow}"]
    return []


def transaction_problems(admin: Any, kafka: KafkaSettings) -> list[str]:  # noqa: ANN401
    """Whether transactions under the job's prefix are ours to see; the right to write them includes that."""
    if kafka.delivery != "exactly-once":
        return []
    prefix = kafka.transactional_id_prefix
    try:
        admin.describeTransactions([f"{prefix}-predictions-0-1"]).all().get()
    except Exception as error:  # noqa: BLE001
        if cause_class(error) == "TransactionalIdAuthorizationException":
            allow = _allow("WRITE", f"--transactional-id {prefix}- --resource-pattern-type prefixed")
            what = f"transactional ids that begin with {prefix + '-'!r} (kafka.transactional_id_prefix)"
            return [f"{what}: this user has no right to WRITE them: {allow}"]
    return []


def _allow(operation: str, resource: str) -> str:
    return f"allow it (kafka-acls --add --allow-principal User:... --operation {operation.capitalize()} {resource})"
