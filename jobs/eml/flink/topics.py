"""Checks of Kafka before a job is submitted: a missing topic would fail it only at its first checkpoint.

Called by `job`, also for what Kafka knows of the job's earlier runs. Asks
with the connector's own admin client in Flink's JVM, so that the settings, security included,
mean exactly what they will mean to the job.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pyflink.java_gateway import get_gateway

from eml.core.errors import EmlError
from eml.flink import rights
from eml.flink.client import cause, cause_class, java_class, properties
from eml.local.listeners import mismatch
from eml.settings import KafkaSettings

TIMEOUT_MS = 10_000
T = TypeVar("T")


class KafkaCheckError(EmlError):
    """Kafka is not as the job needs it; the message lists all that is wrong and what to do."""


class KafkaRefusedError(KafkaCheckError):
    """The brokers do not answer, or do not let us in."""

    exit_status = 3  # eml.terminal.UNREACHABLE


def check(admin: Any, kafka: KafkaSettings, parallelism: int) -> None:  # noqa: ANN401  a Java object
    """Raise unless the brokers answer, the topics are there and ours to use, and transactions may last long enough."""
    _answered(admin, kafka)
    problems = rights.topic_problems(admin, kafka) or _partition_problems(admin, kafka, parallelism)
    problems += rights.group_problems(admin, kafka) + rights.transaction_problems(admin, kafka)
    problems += _transaction_problems(admin, kafka)
    if problems:
        listed = f" {problems[0]}" if len(problems) == 1 else "".join(f"\n  - {line}" for line in problems)
        raise KafkaCheckError(f"Kafka is not ready for this job:{listed}")


def topic_id(admin: Any, topic: str) -> str:  # noqa: ANN401
    """Kafka's own id of a topic, which no other topic ever has, also of the same name."""
    return str(admin.describeTopics([topic]).allTopicNames().get().get(topic).topicId().toString())


def committed(admin: Any, kafka: KafkaSettings) -> str | None:  # noqa: ANN401
    """What the job's consumer group has committed of the readings, for a message; None: nothing."""
    try:
        offsets = admin.listConsumerGroupOffsets(kafka.group_id).partitionsToOffsetAndMetadata().get()
    except Exception as error:  # noqa: BLE001
        raise KafkaCheckError(
            f"the committed offsets of consumer group {kafka.group_id!r} (kafka.group_id) cannot be read"
            f" ({cause(error)}): allow the job READ on the group"
        ) from None
    partitions = [one for one in offsets if one.topic() == kafka.readings_topic and offsets[one] is not None]
    if not partitions:
        return None
    records = sum(int(offsets[one].offset()) for one in partitions)
    return (
        f"consumer group {kafka.group_id!r} has committed offsets of {kafka.readings_topic!r}, {records} in all over"
        f" {len(partitions)} partitions"
    )


def option_of(ask: Callable[[], T]) -> T | None:
    """An answer of Kafka's that is good to have; None where the broker or its rules deny it."""
    try:
        return ask()
    except Exception:  # noqa: BLE001
        return None


@contextmanager
def admin_client(kafka: KafkaSettings) -> Iterator[Any]:
    """The connector's admin client with the job's settings."""
    wrong = mismatch(kafka)
    if wrong:
        raise KafkaRefusedError(wrong)
    admin = _admin(kafka)
    try:
        yield admin
    finally:
        admin.close()


def _admin(kafka: KafkaSettings) -> Any:  # noqa: ANN401  a Java object
    java_properties = get_gateway().jvm.java.util.Properties()
    wanted = {
        **properties(kafka),
        "default.api.timeout.ms": str(TIMEOUT_MS),
        "request.timeout.ms": str(TIMEOUT_MS // 2),
    }
    for name, value in wanted.items():
        java_properties.setProperty(name, value)
    try:
        return java_class("clients.admin.AdminClient").create(java_properties)
    except Exception as error:  # noqa: BLE001  py4j has one type for all of Java's
        raise KafkaRefusedError(f"no client for {kafka.bootstrap_servers}: {cause(error)}") from None


def _answered(admin: Any, kafka: KafkaSettings) -> None:  # noqa: ANN401
    """Raise unless the brokers answer and let us in."""
    try:
        admin.describeCluster().nodes().get()
    except Exception as error:  # noqa: BLE001
        raise KafkaRefusedError(
            f"no answer from the brokers at {kafka.bootstrap_servers} ({cause(error)}): {_advice(cause_class(error))}"
        ) from None


def _advice(kind: str) -> str:
    """What to look at, by the class of Java's exception."""
    if kind == "SaslAuthenticationException":
        return "the user or its password is wrong: look at sasl.jaas.config in [kafka.properties]"
    if kind in {"UnsupportedSaslMechanismException", "IllegalSaslStateException"}:
        return "look at sasl.mechanism in [kafka.properties]"
    if "CertPath" in kind or "Certificate" in kind or "SSL" in kind.upper():
        return "the brokers' certificate is not trusted: look at ssl.truststore.* in [kafka.properties]"
    return (
        "look at kafka.bootstrap_servers and [kafka.properties]; a listener that wants users to log in (SASL) hangs up"
        " on clients without security.protocol, sasl.mechanism and sasl.jaas.config"
    )


def _transaction_problems(admin: Any, kafka: KafkaSettings) -> list[str]:  # noqa: ANN401
    if kafka.delivery != "exactly-once":
        return []
    longest = _longest_transaction_ms(admin)
    if longest is None or kafka.transaction_timeout_ms <= longest:
        return []
    return [
        (
            f"kafka.transaction_timeout_ms is {kafka.transaction_timeout_ms}, the brokers allow {longest}:"
            " lower it, or raise the brokers' transaction.max.timeout.ms"
        )
    ]


def _longest_transaction_ms(admin: Any) -> int | None:  # noqa: ANN401
    """The brokers' limit; None where we may not ask (the job will be told at its first transaction)."""
    resource_type = java_class("common.config.ConfigResource").Type.BROKER
    try:
        node = admin.describeCluster().nodes().get().iterator().next()
        resource = java_class("common.config.ConfigResource")(resource_type, node.idString())
        config = admin.describeConfigs([resource]).all().get().get(resource)
        return int(config.get("transaction.max.timeout.ms").value())
    except Exception:  # noqa: BLE001  most often the right to describe a cluster is missing
        return None


def _partition_problems(admin: Any, kafka: KafkaSettings, parallelism: int) -> list[str]:  # noqa: ANN401
    described = admin.describeTopics([kafka.readings_topic]).allTopicNames().get()
    count = int(described.get(kafka.readings_topic).partitions().size())
    if count >= parallelism:
        return []
    return [
        (
            f"topic {kafka.readings_topic!r} has {count} partitions, fewer than job.parallelism {parallelism}:"
            " add partitions, or lower the parallelism"
        )
    ]
