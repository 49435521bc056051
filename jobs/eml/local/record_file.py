"""A file of Kafka records and schemas, in the order in which they came: JSON Lines, written by a tool or by hand.

Written by `capture`, read for `replay`; `record_lines` says what a line may hold. Reads the whole file before anything
is done with it, and refuses what cannot have happened. Knows no model and no broker.

    {"schema": {...}, "id": 7, "subject": "readings-value", "version": 2}    from here on the registry has it
    {"key": "pump-1", "value": "AAAAAAcC...", "topic": "readings", "partition": 0, "offset": 12,
     "timestamp": 1731750000000, "headers": {"trace": "MQ=="}}               bytes in base64, as they are in Kafka
    {"key": "pump-1", "record": {"temperature": 61.5}, "schema_id": 7}       the same by hand: encoded when it is read

A schema needs only `schema` and `id` (and `guid`, where records name it by that), a record only its key and `value` or
`record`. What is left out: the subject of the readings topic and its next version; the readings topic, partition 0, the
line's number as offset, and 1000 times that as timestamp. Empty lines and lines that begin with # are skipped.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from eml.local.errors import RecordFileError
from eml.local.record_lines import Arrived, Entry, LineError, Registered, arrived, read_object, registered
from eml.stream import state_format
from eml.stream.errors import BadRecordError
from eml.stream.wire import VALUE_SCHEMA, unframe

__all__ = ["Arrived", "Entry", "Registered", "read", "text_of", "write"]


def read(path: Path, readings_topic: str = "readings", labels_topic: str = "") -> list[Entry]:
    """All that a file says, in its order."""
    reader = _Reader(readings_topic, labels_topic)
    entries: list[Entry] = []
    for number, line in _lines(path):
        try:
            entries.append(reader.entry(read_object(line), number))
        except LineError as error:
            raise RecordFileError(f"{path}, line {number}: {error}") from None
    if not any(isinstance(entry, Arrived) for entry in entries):
        raise RecordFileError(f"{path}: holds no record: write one with a key and a value, or let `eml capture` do it")
    return entries


def text_of(entry: Entry) -> str:
    """The line that says it."""
    return json.dumps(_schema_fields(entry) if isinstance(entry, Registered) else _record_fields(entry))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise RecordFileError(f"{path}: cannot be read ({error.strerror}): is the path right?") from None
    except UnicodeDecodeError:
        raise RecordFileError(f"{path}: is not UTF-8: save it as such") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


class _Reader:
    """Reads line after line, and remembers what later ones must agree with."""

    def __init__(self, readings_topic: str, labels_topic: str) -> None:
        self._topics = [topic for topic in (readings_topic, labels_topic) if topic]
        self._schemas: dict[int, Registered] = {}
        self._unknown: dict[int, int] = {}  # schema id -> the first line that used it while it was not there
        self._offsets: dict[tuple[str, int], int] = {}  # topic and partition -> the last offset

    def entry(self, said: dict[str, Any], line: int) -> Entry:
        if "schema" in said:
            return self._schema(said, line)
        return self._record(said, line)

    def _schema(self, said: dict[str, Any], line: int) -> Registered:
        subject = said.setdefault("subject", f"{self._topics[0]}-value")
        versions = [schema.version for schema in self._schemas.values() if schema.subject == subject]
        said.setdefault("version", max(versions, default=0) + 1)
        made = registered(said, line)
        if made.id in self._schemas:
            raise LineError(f"schema {made.id} stands in line {self._schemas[made.id].line} already: take one out")
        if made.version in versions:
            raise LineError(f"version {made.version} of {made.subject!r} stands further up already: give it another")
        if made.id in self._unknown:
            where = self._unknown[made.id]
            raise LineError(f"schema {made.id} is used in line {where} already: move this line before it")
        self._schemas[made.id] = made
        return made

    def _record(self, said: dict[str, Any], line: int) -> Arrived:
        said.setdefault("topic", self._topics[0])
        made = arrived(said, line, self._schemas)
        place = made.raw.position
        if place.topic not in self._topics:
            raise LineError(
                f"topic {place.topic!r} is neither kafka.readings_topic nor kafka.labels_topic "
                f"({' and '.join(map(repr, self._topics))}): name it in the settings (--settings)"
            )
        last = self._offsets.get((place.topic, place.partition), -1)
        if place.offset <= last:
            raise LineError(
                f"offset {place.offset} follows {last} in partition {place.partition} of {place.topic!r}: "
                "offsets rise; put the lines in order, or leave all offsets out"
            )
        self._offsets[place.topic, place.partition] = place.offset
        if VALUE_SCHEMA not in made.raw.headers:
            self._remember_unknown(made.raw.value, line)
        return made

    def _remember_unknown(self, value: bytes | None, line: int) -> None:
        try:
            schema_id = unframe(value)
        except BadRecordError:
            return  # the job's business: a dead letter
        if schema_id not in self._schemas:
            self._unknown.setdefault(schema_id, line)


def _schema_fields(entry: Registered) -> dict[str, object]:
    fields: dict[str, object] = {
        "schema": json.loads(entry.text),
        "id": entry.id,
        "subject": entry.subject,
        "version": entry.version,
    }
    return {**fields, "guid": entry.guid} if entry.guid else fields


def _record_fields(entry: Arrived) -> dict[str, object]:
    raw, place = entry.raw, entry.raw.position
    fields: dict[str, object] = {
        "key": entry.key,
        "value": state_format.text_of(raw.value),
        "topic": place.topic,
        "partition": place.partition,
        "offset": place.offset,
        "timestamp": place.timestamp_ms,
    }
    if raw.headers:
        fields["headers"] = {name: state_format.text_of(value) for name, value in raw.headers.items()}
    return fields


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Write a file; one that was there before stays until the new one is whole."""
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            file.writelines(f"{text_of(entry)}\n" for entry in entries)
        unfinished.replace(path)
    except OSError as error:
        raise RecordFileError(f"{path}: cannot be written ({error.strerror}): choose another place") from None
    finally:
        unfinished.unlink(missing_ok=True)
