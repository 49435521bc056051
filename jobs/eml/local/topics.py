"""The topics of one job: their names, and how they are made and removed.

Made by `demo`, `bench` and tests on the broker that they have, and by `topics_command` for a job; `sender`, `observer`
and the demo's settings take the names from here.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic  # `admin` does not name it as its own

from eml.local.errors import LocalError, UnreachableError

PARTITIONS = 2
TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class Topics:
    """Names."""

    readings: str
    predictions: str
    scores: str
    evolutions: str
    dead_letters: str

    @classmethod
    def named(cls, prefix: str) -> "Topics":
        """The usual names behind a prefix."""
        return cls(*(f"{prefix}{name}" for name in ("readings", "predictions", "scores", "evolutions", "dead-letters")))


def create(
    bootstrap_servers: str, names: Iterable[str], partitions: int = PARTITIONS, config: Mapping[str, str] = {}
) -> None:
    """Make topics, each with one copy."""
    wanted = [NewTopic(name, partitions, 1, config=dict(config)) for name in names]
    admin = _admin(bootstrap_servers)  # in a variable: with it gone, nobody would wait for the answers
    _wait(admin.create_topics(wanted, request_timeout=TIMEOUT_S), f"made on {bootstrap_servers}")


def ensure(
    bootstrap_servers: str, names: Sequence[str], partitions: int, replicas: int, properties: Mapping[str, str]
) -> list[str]:
    """Make those topics that do not exist, with the client's properties of a secured broker; returns their names."""
    there = partitions_of(bootstrap_servers, properties)
    missing = [name for name in names if name not in there]
    if missing:
        admin = _admin(bootstrap_servers, properties)
        wanted = [NewTopic(name, partitions, replicas) for name in missing]
        _wait(admin.create_topics(wanted, request_timeout=TIMEOUT_S), f"made on {bootstrap_servers}")
    return missing


def partitions_of(bootstrap_servers: str, properties: Mapping[str, str]) -> dict[str, int]:
    """All topics, with the number of their partitions."""
    admin = _admin(bootstrap_servers, properties)
    try:
        found = admin.list_topics(timeout=TIMEOUT_S).topics
    except KafkaException as error:
        raise UnreachableError(
            f"Kafka at {bootstrap_servers} does not answer: {error.args[0].str()}. Look at kafka.bootstrap_servers and"
            " [kafka.properties]."
        ) from None
    return {name: len(topic.partitions) for name, topic in found.items()}


def remove(bootstrap_servers: str, names: Iterable[str]) -> None:
    """Remove topics with all that is in them."""
    admin, unwanted = _admin(bootstrap_servers), list(names)
    if unwanted:  # librdkafka refuses to remove none
        _wait(admin.delete_topics(unwanted, request_timeout=TIMEOUT_S), f"removed from {bootstrap_servers}")


def names(bootstrap_servers: str) -> list[str]:
    """The names of all topics."""
    try:
        return list(_admin(bootstrap_servers).list_topics(timeout=TIMEOUT_S).topics)
    except KafkaException as error:
        raise LocalError(f"The topics of {bootstrap_servers} cannot be listed: {error}") from error


def _admin(bootstrap_servers: str, properties: Mapping[str, str] = {}) -> AdminClient:
    return AdminClient({**properties, "bootstrap.servers": bootstrap_servers, "log_level": 0})


def _wait(answers: dict[str, "Future[None]"], done: str) -> None:
    for name, answer in answers.items():
        try:
            answer.result(TIMEOUT_S)
        except (KafkaException, TimeoutError) as error:
            raise LocalError(f"The topic {name} cannot be {done}: {error}") from error
