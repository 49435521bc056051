"""Records and their schemas from Kafka and the registry into a record file, for `eml replay`.

Called by `eml capture`; calls `topic_reader` for the records, `registered` for the schemas and `record_file` for the
form. Knows no model. When a schema was registered, no registry tells: a schema is written before its first record.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Protocol

from eml.local import record_file
from eml.local.errors import CaptureError
from eml.local.record_lines import Arrived, Entry, Registered
from eml.local.registered import RegisteredSchemas
from eml.local.topic_reader import TopicReader, Wanted
from eml.settings import Settings
from eml.stream.errors import BadRecordError
from eml.stream.wire import HEADER_SIZE, PREFIXES, SchemaRef, schema_of

ALL = Wanted()


class Schemas(Protocol):
    """Whoever knows schemas by their ids and GUIDs."""

    def schema(self, name: SchemaRef) -> Registered | None:
        """The schema, if there is one."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What is in the file."""

    records: Mapping[str, int]  # by key
    schemas: int
    unusable: int  # records without a key, or with one that is no text: the job's dead letters, not in the file


def capture(settings: Settings, path: Path, wanted: Wanted = ALL) -> Captured:
    """Write what the topics hold at this moment, as far as it is wanted."""
    kafka = settings.kafka
    topics = [topic for topic in (kafka.readings_topic, kafka.labels_topic) if topic]
    with TopicReader(kafka) as reader:
        partitions = reader.records(topics, wanted)
    schemas = RegisteredSchemas(settings)
    try:
        prefix = PREFIXES[settings.record.schema_id_format]
        entries = list(with_schemas(islice(in_time(partitions), wanted.most), schemas, prefix))
    finally:
        schemas.close()
    counts = Counter(entry.key for entry in entries if isinstance(entry, Arrived))
    if not counts:
        of_keys = f" of key {', '.join(sorted(wanted.keys))}" if wanted.keys else ""
        then, look = ("", "") if wanted.covers_all_times else (" of that time", "--from, --to and ")
        where = f"in {' and '.join(topics)}: look at {look}kafka.readings_topic."
        raise CaptureError(f"There is no record{of_keys}{then} {where}")
    record_file.write(path, entries)
    return Captured(counts, len(entries) - counts.total(), reader.unusable)


def in_time(partitions: Iterable[Sequence[Arrived]]) -> Iterator[Arrived]:
    """The records of all partitions by their timestamps; those of one partition stay in their order."""
    return merge(*partitions, key=lambda arrived: arrived.raw.position.timestamp_ms)


def with_schemas(records: Iterable[Arrived], schemas: Schemas, prefix: int = HEADER_SIZE) -> Iterator[Entry]:
    """The records, each schema before the first that it wrote; a record whose schema cannot be had stands alone."""
    named = [(arrived, _schema_of(arrived, prefix)) for arrived in records]
    names = dict.fromkeys(name for _, name in named if name is not None)
    found = {name: schema for name in names if (schema := schemas.schema(name)) is not None}
    guids = {schema.id: name for name, schema in found.items() if isinstance(name, str)}
    written: set[int] = set()
    for arrived, name in named:
        schema = found.get(name) if name is not None else None
        if schema is not None and schema.id not in written:
            written.add(schema.id)
            yield replace(schema, guid=guids.get(schema.id, ""))
        yield arrived


def _schema_of(arrived: Arrived, prefix: int) -> SchemaRef | None:
    try:
        return schema_of(arrived.raw.value, arrived.raw.headers, prefix)[0]
    except BadRecordError:
        return None  # the job's business: a dead letter
