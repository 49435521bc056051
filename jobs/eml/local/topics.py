"""The topics of one demonstration.

Made by `demo` on the broker that it has; `sender`, `observer` and the job's settings take the names from here.
"""

from dataclasses import astuple, dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic  # `admin` does not name it as its own

from eml.local.errors import LocalError

PARTITIONS = 2
TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class Topics:
    """Names."""

    readings: str
    predictions: str
    evolutions: str
    dead_letters: str

    @classmethod
    def named(cls, prefix: str) -> "Topics":
        """The usual names behind a prefix."""
        return cls(*(f"{prefix}{name}" for name in ("readings", "predictions", "evolutions", "dead-letters")))


def create(bootstrap_servers: str, topics: Topics) -> None:
    """Make the topics, each with one copy."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
    wanted = [NewTopic(name, PARTITIONS, 1) for name in astuple(topics)]
    for name, made in admin.create_topics(wanted, request_timeout=TIMEOUT_S).items():
        try:
            made.result(TIMEOUT_S)
        except (KafkaException, TimeoutError) as error:
            raise LocalError(f"The topic {name} cannot be made on {bootstrap_servers}: {error}") from error
