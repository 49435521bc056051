"""The last records that the job wrote to one of its topics, and those to come.

Called by `eml tail`; calls `newest` to find them, `lines` to say them. A record that is not ours, or of a release that
writes more than this one knows, is told as what it is: nothing on a topic is trusted to be readable.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from confluent_kafka import Message

from eml.local.topic_reader import TopicConsumer, as_raw
from eml.operations import lines
from eml.operations.newest import newest
from eml.operations.text import key_text, plain, time_of
from eml.settings import Settings
from eml.stream.output import dead_letter_reader, schemas
from eml.stream.records import Raw
from eml.stream.state_format import text_of
from eml.terminal import USAGE, CommandError, progress, write_json

DEAD_LETTERS = "dead-letters"
OF_SCHEMA = {  # a kind of record -> its schema and its line
    "predictions": ("prediction", lines.prediction_line),
    "scores": ("score", lines.score_line),
    "evolutions": ("evolution", lines.evolution_line),
}


@dataclass(frozen=True, slots=True)
class Said:
    """A record as it is printed."""

    fields: Mapping[str, object]
    line: Callable[[], str]
    keys: frozenset[object]  # the names that `--key` may have for it


def tail(settings: Settings, kind: str, count: int, keys: frozenset[str], *, follow: bool, as_json: bool) -> None:
    """Print the last records of a kind, of some keys or of all; then those that come, where they are followed."""
    topic = topic_of(settings, kind)
    read = _wanted(_reader(settings, kind), keys)

    def put(said: Said) -> None:
        if as_json:
            write_json(said.fields, line=True)
        else:
            sys.stdout.write(f"{said.line()}\n")
            sys.stdout.flush()

    def take(message: Message) -> bool:
        said = read(as_raw(message))
        if said is not None:
            put(said)
        return False

    with TopicConsumer(settings.kafka) as consumer:
        with progress(f"reading {topic}"):
            last = newest(consumer, topic, count, read)
        for said in last.found:
            put(said)
        if follow:
            consumer.follow(last.offsets, take)


def topic_of(settings: Settings, kind: str) -> str:
    """The topic of a kind of record."""
    setting = f"{kind.replace('-', '_')}_topic"
    topic: str = getattr(settings.kafka, setting)
    if not topic:
        raise CommandError(f"there is no topic of {kind}: kafka.{setting} is empty", USAGE)
    return topic


def _wanted(read: Callable[[Raw], Said], keys: frozenset[str]) -> Callable[[Raw], Said | None]:
    def wanted(raw: Raw) -> Said | None:
        said = read(raw)
        return said if not keys or keys & said.keys else None

    return wanted


def _reader(settings: Settings, kind: str) -> Callable[[Raw], Said]:
    key_format = settings.record.key_format
    if kind == DEAD_LETTERS:
        return lambda raw: _dead_letter(raw, key_text(raw.key, key_format))
    schema, line = OF_SCHEMA[kind]

    def read(raw: Raw) -> Said:
        try:
            fields = schemas.read(schema, raw.value or b"")
        except Exception as error:  # noqa: BLE001  fastavro raises of all kinds on bytes that are not ours
            return _unreadable(raw, kind, key_text(raw.key, key_format), error)
        return Said(fields, lambda: line(fields), frozenset((fields["key"], fields.get("model"))))

    return read


def _dead_letter(raw: Raw, key: str) -> Said:
    letter, place = dead_letter_reader.read(raw.headers), raw.position
    fields = {
        "key": key,
        **asdict(letter),
        "value": text_of(raw.value),
        "dead_letter_partition": place.partition,
        "dead_letter_offset": place.offset,
    }
    where = f"{place.partition}/{place.offset}"
    return Said(fields, lambda: lines.dead_letter_line(where, key, letter), frozenset((key,)))


def _unreadable(raw: Raw, kind: str, key: str, error: Exception) -> Said:
    place = raw.position
    where = f"{place.topic}/{place.partition}/{place.offset}"
    what = f"{where} is none of this release's {kind} ({type(error).__name__}: {error})"
    fields = {"key": key, "unreadable": what, "value": text_of(raw.value)}
    return Said(fields, lambda: f"{time_of(place.timestamp_ms)}  {plain(key)}  {plain(what)}", frozenset((key,)))
