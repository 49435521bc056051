"""Reads what the job writes, as any reader of committed records does, into the scoreboard.

Polled by `demo`; calls `stream.output.encoder` to read the records' bytes. Keeps nothing itself.
"""

from collections.abc import Sequence

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, TopicPartition

from eml.local.errors import LocalError
from eml.local.scoreboard import Scoreboard
from eml.local.topics import PARTITIONS, Topics
from eml.stream.output.dead_letters import OWN
from eml.stream.output.encoder import read_evolution, read_prediction

AT_ONCE = 2_000  # records per poll


class Observer:
    """A consumer of predictions, evolutions and dead letters."""

    def __init__(self, bootstrap_servers: str, topics: Topics) -> None:
        self._topics = topics
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": f"{topics.predictions}-observer",  # asked for, though nothing is committed
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 100,
                "log_level": 0,
            }
        )
        outputs = (topics.predictions, topics.evolutions, topics.dead_letters)
        # Assigned, not subscribed: no group has to come together first.
        self._consumer.assign([TopicPartition(t, p, OFFSET_BEGINNING) for t in outputs for p in range(PARTITIONS)])

    def poll(self, board: Scoreboard, timeout_s: float) -> int:
        """Take what has come, waiting for it up to `timeout_s`; return how many records it was."""
        messages: Sequence[Message] = self._consumer.consume(AT_ONCE, timeout_s)
        for message in messages:
            self._take(message, board)
        return len(messages)

    def _take(self, message: Message, board: Scoreboard) -> None:
        error = message.error()
        if error is not None:
            if error.fatal():
                raise LocalError(f"Predictions cannot be read: {error.str()}.")
            return  # the client tries again by itself
        topic, value = message.topic(), message.value() or b""
        if topic == self._topics.predictions:
            board.add_prediction(read_prediction(value))
        elif topic == self._topics.evolutions:
            board.add_evolution(read_evolution(value))
        else:
            board.add_dead_letter(_reason(message))

    def close(self) -> None:
        """Close the connection."""
        self._consumer.close()


def _reason(message: Message) -> str:
    headers = dict(message.headers() or [])
    reason = headers.get(f"{OWN}reason") or b"unknown"
    return reason if isinstance(reason, str) else reason.decode()
