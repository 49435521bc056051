"""The benchmark's topics: made before a pipeline starts, removed after it.

Used by `stream`; calls `local.topics`. Their time stamps are those of the append, which is what `measure` reads.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from eml.local import topics
from eml.settings import KafkaSettings

CHANGELOG = "changelog__"  # how Quix Streams names the topic that holds a copy of its state: this, the group, more
CONFIG = {"message.timestamp.type": "LogAppendTime"}


def written(kafka: KafkaSettings) -> list[str]:
    """The topics that the job writes."""
    names = (kafka.predictions_topic, kafka.scores_topic, kafka.evolutions_topic, kafka.dead_letters_topic)
    return [name for name in names if name]


@contextmanager
def made(bootstrap_servers: str, partitions: int, *names: str, append_times: bool = True) -> Iterator[None]:
    """New topics, for as long as they are needed; with the times of the append, or as records say."""
    topics.create(bootstrap_servers, names, partitions, CONFIG if append_times else {})
    try:
        yield
    finally:
        topics.remove(bootstrap_servers, names)


@contextmanager
def changelogs_removed(bootstrap_servers: str, group_id: str) -> Iterator[None]:
    """Remove what Quix Streams makes for a consumer group, at the end."""
    try:
        yield
    finally:
        start = f"{CHANGELOG}{group_id}--"
        topics.remove(bootstrap_servers, [name for name in topics.names(bootstrap_servers) if name.startswith(start)])
