"""The benchmark's topics: made before a pipeline starts, removed after it.

Used by `stream`; calls `local.topics`. Their time stamps are those of the append, which is what `measure` reads.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from eml.local import topics

CONFIG = {"message.timestamp.type": "LogAppendTime"}


@contextmanager
def made(bootstrap_servers: str, partitions: int, *names: str) -> Iterator[None]:
    """New topics, for as long as they are needed."""
    topics.create(bootstrap_servers, names, partitions, CONFIG)
    try:
        yield
    finally:
        topics.remove(bootstrap_servers, names)
