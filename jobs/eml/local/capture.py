"""Records and their schemas from Kafka and the registry into a record file, for `eml replay`.

Called by `eml capture`; calls `topic_reader` for the records, `registered` for the schemas and `record_file` for the
form. Knows no model. When a schema was registered, no registry tells: a schema is written before its first record.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from eml.stream.wire import unframe

ALL = Wanted()


class Schemas(Protocol):
    """Whoever knows schemas by their ids."""

    def schema(self, schema_id: int) -> Registered | None:
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
        entries = list(with_schemas(islice(in_time(partitions), wanted.most), schemas))
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


def with_schemas(records: Iterable[Arrived], schemas: Schemas) -> Iterator[Entry]:
    """The records, each schema before the first that it wrote; a record whose schema cannot be had stands alone."""
    asked: set[int] = set()
    for arrived in records:
        try:
            schema_id = unframe(arrived.raw.value)
        except BadRecordError:
            schema_id = None  # the job's business: a dead letter
        if schema_id is not None and schema_id not in asked:
            asked.add(schema_id)
            found = schemas.schema(schema_id)
            if found is not None:
                yield found
        yield arrived
