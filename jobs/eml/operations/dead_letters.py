"""Dead letters as they are found: by place, by reason, by key; their list.

Called by `eml dead-letters`; calls `newest` to read the topic and `stream.output.dead_letter_reader` for the headers. A
dead letter is named by where it stands (`PARTITION/OFFSET`), by where its record stands (`TOPIC/PARTITION/OFFSET`, as
headers and log lines say it), or by its number in the list, 1 for the newest.
"""

import re
import sys
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

from eml.local.topic_reader import TopicConsumer
from eml.operations import lines, newest
from eml.operations.text import key_text, plain
from eml.settings import Settings
from eml.stream.output import dead_letter_reader
from eml.stream.output.dead_letter_reader import ReadDeadLetter
from eml.stream.records import Raw
from eml.stream.state_format import text_of
from eml.terminal import USAGE, CommandError, progress, write_json

PLACE = re.compile(r"(?:([A-Za-z0-9._-]+)/)?([0-9]{1,10})/([0-9]{1,19})")
NUMBER = re.compile(r"[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Found:
    """A dead letter in its topic."""

    raw: Raw
    letter: ReadDeadLetter
    key: str  # in words

    @property
    def place(self) -> str:
        """Where it stands in the topic of dead letters."""
        return f"{self.raw.position.partition}/{self.raw.position.offset}"

    def fields(self) -> dict[str, object]:
        """For programs."""
        return {"place": self.place, "key": self.key, **asdict(self.letter), "value": text_of(self.raw.value)}


@dataclass(frozen=True, slots=True)
class Filter:
    """Which dead letters are meant."""

    reasons: frozenset[str] = frozenset()  # empty: all
    keys: frozenset[str] = frozenset()

    def takes(self, found: Found) -> bool:
        """Whether it is one of them."""
        of_reason = not self.reasons or found.letter.reason in self.reasons
        return of_reason and (not self.keys or found.key in self.keys)


@dataclass(slots=True)
class Overview:
    """What is in the topic."""

    newest: "deque[Found]"
    reasons: Counter[str] = field(default_factory=Counter)


def overview(consumer: TopicConsumer, settings: Settings, wanted: Filter, count: int) -> Overview:
    """How many there are of each reason, and the newest of them, the newest first."""
    topic = settings.kafka.dead_letters_topic
    seen: dict[int, deque[Found]] = {}
    reasons: Counter[str] = Counter()

    def take(raw: Raw) -> None:
        found = read(raw, settings)
        if wanted.takes(found):
            reasons[found.letter.reason] += 1
            seen.setdefault(raw.position.partition, deque(maxlen=count)).append(found)

    with progress(f"reading {topic}"):
        newest.every(consumer, topic, take)
    merged = sorted((found for each in seen.values() for found in each), key=_age, reverse=True)
    return Overview(deque(merged[:count]), reasons)


def _age(found: Found) -> tuple[int, int, int]:
    place = found.raw.position
    return place.timestamp_ms, place.partition, place.offset


def read(raw: Raw, settings: Settings) -> Found:
    """A record of the topic."""
    return Found(raw, dead_letter_reader.read(raw.headers), key_text(raw.key, settings.record.key_format))


# -- by name -----------------------------------------------------------------------------------------------------------


def named(consumer: TopicConsumer, settings: Settings, names: Sequence[str]) -> list[Found]:
    """The dead letters with these names, in their order."""
    numbers = [int(name) for name in names if NUMBER.fullmatch(name)]
    latest = _latest(consumer, settings, max(numbers)) if numbers else []
    return [_named(consumer, settings, name, latest) for name in names]


def _latest(consumer: TopicConsumer, settings: Settings, count: int) -> list[Found]:
    found = newest.newest(consumer, settings.kafka.dead_letters_topic, count, lambda raw: read(raw, settings)).found
    return sorted(found, key=_age, reverse=True)


def _named(consumer: TopicConsumer, settings: Settings, name: str, latest: list[Found]) -> Found:
    if NUMBER.fullmatch(name):
        if int(name) > len(latest):
            raise CommandError(f"there is no dead letter number {name}: there are {len(latest)}")
        return latest[int(name) - 1]
    place = PLACE.fullmatch(name)
    if place is None:
        what = "is no dead letter: name one by PARTITION/OFFSET, TOPIC/PARTITION/OFFSET or its number in the list"
        raise CommandError(f"{plain(name)} {what}", USAGE)
    topic, partition, offset = place[1] or settings.kafka.dead_letters_topic, int(place[2]), int(place[3])
    if topic != settings.kafka.dead_letters_topic:
        return _of_source(consumer, settings, (topic, partition, offset))
    raw = newest.one(consumer, topic, partition, offset)
    if raw is None:
        raise CommandError(f"no dead letter stands at {name} of {topic} (`eml dead-letters list` shows the newest)")
    return read(raw, settings)


def _of_source(consumer: TopicConsumer, settings: Settings, source: tuple[str, int, int]) -> Found:
    """The newest dead letter of a record."""

    def wanted(raw: Raw) -> Found | None:
        found = read(raw, settings)
        letter = found.letter
        return found if (letter.topic, letter.partition, letter.offset) == source else None

    with progress("looking for its dead letter"):
        found = newest.newest(consumer, settings.kafka.dead_letters_topic, 1, wanted).found
    if not found:
        where = "/".join(map(str, source))
        raise CommandError(f"the record at {where} has no dead letter in {settings.kafka.dead_letters_topic}")
    return found[0]


# -- the list ----------------------------------------------------------------------------------------------------------


def print_list(settings: Settings, wanted: Filter, count: int, *, as_json: bool) -> None:
    """Counts by reason, and the newest with their numbers."""
    with TopicConsumer(settings.kafka) as consumer:
        seen = overview(consumer, settings, wanted, count)
    if as_json:
        letters = [found.fields() for found in seen.newest]
        write_json({"reasons": dict(seen.reasons.most_common()), "dead_letters": letters})
        return
    sys.stdout.write(f"{_counted(seen.reasons, settings.kafka.dead_letters_topic)}\n")
    for number, found in enumerate(seen.newest, start=1):
        line = lines.dead_letter_line(found.place, found.key, found.letter)
        sys.stdout.write(f"{number:>4}  {line}\n" if not wanted.reasons and not wanted.keys else f"{line}\n")


def _counted(reasons: Counter[str], topic: str) -> str:
    if not reasons:
        return f"no such dead letter in {topic}"
    return f"{reasons.total()} in {topic}: {by_reason(reasons.elements())}"


def by_reason(reasons: Iterable[str]) -> str:
    """How many there are of each, the most first."""
    return ", ".join(f"{count} {plain(reason)}" for reason, count in Counter(reasons).most_common())
