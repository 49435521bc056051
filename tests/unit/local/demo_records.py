"""A small fleet's records and what a job may say of them, for the tests of the demonstration's parts."""

from typing import Any

from eml.local.fleet import VERSIONS
from eml.local.messages import ReadingWriter
from eml.local.sender import Sent, plan
from eml.settings import RecordSettings
from eml.stream.avro.reading_schema import compile_schema
from eml.stream.output.schemas import schema_text
from eml.stream.wire import SchemaId

MACHINES, RECORDS = 2, 300
SCHEMAS = {
    version: compile_schema(
        schema_text(f"readings/v{version}"), SchemaId(version), "readings-value", version, RecordSettings()
    )
    for version in (1, 2, 3)
}


def all_sent(machines: int = MACHINES, records: int = RECORDS) -> list[Sent]:
    """All records of the fleet."""
    writers = {version: ReadingWriter(version, version) for version in SCHEMAS}
    sent = []
    for each in plan(machines, records, 0):
        now = 1_700_000_000_000 + round(1000 * each.due_s)
        sent.append(Sent(each, writers[each.version].write(each.key, each.event_id, now, each.reading), now))
    return sent


def prediction(record: Sent, label: str | None) -> dict[str, Any]:
    planned = record.planned
    named = {"key": planned.key, "event_id": planned.event_id, "schema_version": planned.version}
    return {**named, "label": label, "stage": "steady"}


def evolution(key: str, old: int, at_ms: int) -> dict[str, Any]:
    change = VERSIONS[old - 1].diff(VERSIONS[old])
    names = {"vanished": change.vanished, "augmented": change.augmented, "renamed": change.renamed}
    return {
        **names,
        "kind": "evolution",
        "key": key,
        "old_version": old,
        "new_version": old + 1,
        "source_timestamp": at_ms,
    }
