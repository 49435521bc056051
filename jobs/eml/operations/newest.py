"""The newest committed records of a topic: read back from its end as far as it takes to find them.

Called by `eml tail` and `eml dead-letters`; calls `local.topic_reader`. What a record says is for the caller to read:
a function that gives None where the record is not wanted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from confluent_kafka import Message

from eml.local.topic_reader import Partition, Span, Take, as_raw
from eml.stream.records import Raw

FIRST_WINDOW = 200  # offsets of a partition that are looked at first; some of them are ends of transactions
GROWTH = 8  # how many times as many the next time
T = TypeVar("T")
Read = Callable[[Raw], T | None]  # what a record says; None: it is not wanted


class Consumer(Protocol):
    """`local.topic_reader.TopicConsumer`, as far as it is needed."""

    def spans(self, topics: Sequence[str]) -> dict[Partition, Span]:
        """First offset and the one behind the last, by partition."""

    def read(self, spans: Mapping[Partition, Span], take: Take) -> None:
        """Hand over the records between these offsets."""


@dataclass(slots=True)
class Newest(Generic[T]):
    """What was found, in the order of time, and where a reader goes on."""

    found: list[T] = field(default_factory=list)
    offsets: dict[Partition, int] = field(default_factory=dict)


def newest(consumer: Consumer, topic: str, count: int, read: Read[T]) -> Newest[T]:
    """The last `count` wanted records of a topic."""
    spans = consumer.spans([topic])
    begins = {place: end for place, (_, end) in spans.items()}
    offsets, window = dict(begins), max(FIRST_WINDOW, 2 * count)
    found: list[tuple[int, Partition, int, T]] = []
    while len(found) < count and any(begins[place] > spans[place][0] for place in spans):
        wanted = {place: (max(first, end - window), begins[place]) for place, (first, end) in spans.items()}
        last = _read(consumer, wanted, read, found)
        for place, (begin, end) in wanted.items():
            if end == spans[place][1]:  # what is not committed yet is read again later
                offsets[place] = last.get(place, begin - 1) + 1
            begins[place] = begin
        window *= GROWTH
    found.sort(key=lambda one: one[:3])
    return Newest([said for *_, said in found[-count:]], offsets)


def _read(
    consumer: Consumer, spans: dict[Partition, Span], read: Read[T], found: list[tuple[int, Partition, int, T]]
) -> dict[Partition, int]:
    """Add what is wanted; the last offset that was seen of each partition."""
    last: dict[Partition, int] = {}

    def take(message: Message) -> bool:
        raw = as_raw(message)
        place = raw.position
        last[place.topic, place.partition] = place.offset
        said = read(raw)
        if said is not None:
            found.append((place.timestamp_ms, (place.topic, place.partition), place.offset, said))
        return False

    consumer.read(spans, take)
    return last


def every(consumer: Consumer, topic: str, take: Callable[[Raw], None]) -> None:
    """Hand over all records that a topic holds now."""

    def hand_over(message: Message) -> bool:
        take(as_raw(message))
        return False

    consumer.read(consumer.spans([topic]), hand_over)


def one(consumer: Consumer, topic: str, partition: int, offset: int) -> Raw | None:
    """The record at a place, if it still stands there."""
    span = consumer.spans([topic]).get((topic, partition))
    if span is None or not span[0] <= offset < span[1]:
        return None
    found: list[Raw] = []

    def take(message: Message) -> bool:
        found.append(as_raw(message))
        return True

    consumer.read({(topic, partition): (offset, offset + 1)}, take)
    return next((raw for raw in found if raw.position.offset == offset), None)
