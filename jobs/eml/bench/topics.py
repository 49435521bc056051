"""The benchmark's topics: made before a pipeline starts, removed after it.

Used by `stream`. Their time stamps are those of the append, which is what `measure` reads.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic  # `admin` does not name it as its own

from eml.local.errors import LocalError

TIMEOUT_S = 20.0
CONFIG = {"message.timestamp.type": "LogAppendTime"}


class Topics:
    """Makes and removes topics with as many partitions as the pipelines have tasks."""

    def __init__(self, bootstrap_servers: str, partitions: int) -> None:
        self._admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
        self._partitions = partitions

    @contextmanager
    def made(self, *names: str) -> Iterator[None]:
        """New topics, for as long as they are needed."""
        wanted = [NewTopic(name, self._partitions, 1, config=CONFIG) for name in names]
        _wait(self._admin.create_topics(wanted, request_timeout=TIMEOUT_S), "made")
        try:
            yield
        finally:
            _wait(self._admin.delete_topics(list(names), request_timeout=TIMEOUT_S), "removed")


def _wait(answers: dict[str, "Future[None]"], done: str) -> None:
    for name, answer in answers.items():
        try:
            answer.result(TIMEOUT_S)
        except (KafkaException, TimeoutError) as error:
            raise LocalError(f"The topic {name} cannot be {done}: {error}") from error
