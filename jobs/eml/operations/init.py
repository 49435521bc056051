"""From a topic and a registry to a settings file: looks, chooses, writes.

Called by `eml init`; calls `kafka_admin` and the registry to look, `sample` and `choices` to judge. Refuses what cannot
work in a line that says what to change, and then writes nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from eml.local.registered import RegisteredSchemas
from eml.local.settings_file import Setting
from eml.operations import choices
from eml.operations.kafka_admin import KafkaAdmin
from eml.operations.sample import Named, Sample
from eml.operations.text import key_text
from eml.settings import RecordSettings, Settings
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.registry.client import SchemaRegistry
from eml.stream.registry.field_report import describe_fields
from eml.stream.registry.subjects import Subjects
from eml.stream.wire import SchemaId
from eml.terminal import CommandError


@dataclass(slots=True)
class Draft:
    """The settings that were chosen, and what is worth a word."""

    settings: list[Setting]
    schema: ReadingSchema
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Registered:
    """A schema and where it stands."""

    id: SchemaId
    subject: str
    version: int
    text: str


def topics(settings: Settings) -> list[str]:
    """Those that are there and are not Kafka's own."""
    return sorted(name for name in KafkaAdmin(settings.kafka).topics() if not name.startswith("_"))


def draft(settings: Settings, given: Mapping[str, str | None], subject: str | None, records: int) -> Draft:
    """Look at the topic of these settings and choose the others; `given` are fields by their role."""
    _check_topic(settings)
    sample = Sample.of(settings, records)
    named = sample.named() if subject is None else []
    registered = _of_record(settings, named[-1]) if named else _of_subject(settings, subject)
    key_format, why = sample.key_format()
    fields = choices.fields(registered.text, given, settings.record)
    record = choices.with_fields(settings.record, fields)
    schema = choices.compiled(registered.text, registered.id, registered.subject, registered.version, record)
    keys = [key_text(raw.key, key_format) for raw in sample.records]
    wanted = named[-1].schema if named else schema.id
    ours = [each for each in sample.named() if each.schema == wanted]
    labels = choices.count(
        schema, [each.payload for each in ours], [key_text(each.raw.key, key_format) for each in ours]
    )
    chosen = [
        *_addresses(settings),
        *_id_format(sample),
        Setting("record.key_format", key_format, why),
        *fields,
        *_subjects(settings, registered, schema),
        *choices.model(labels, keys, sample.in_all, key_format),
    ]
    return Draft(chosen, schema, choices.remarks(labels))


def _check_topic(settings: Settings) -> None:
    topic, there = settings.kafka.readings_topic, topics(settings)
    if topic not in there:
        near = get_close_matches(topic, there, 1)
        meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(there[:20]) or 'none'}"
        raise CommandError(f"there is no topic {topic!r} at {settings.kafka.bootstrap_servers}: {meant} (--topic)")


def _of_record(settings: Settings, record: Named) -> Registered:
    """The schema that a record names."""
    schemas = RegisteredSchemas(settings)
    try:
        found = schemas.schema(record.schema)
    finally:
        schemas.close()
    if found is None:
        raise CommandError(
            f"the registry at {settings.registry.url} has no Avro schema with id {record.schema}, which the newest"
            f" record of {record.raw.position.topic!r} names: is it the registry of the producers, and do they write"
            " Avro?"
        )
    return Registered(SchemaId(found.id), found.subject, found.version, found.text)


def _of_subject(settings: Settings, subject: str | None) -> Registered:
    """The newest schema of a subject, else of the topic's usual one."""
    name = subject or f"{settings.kafka.readings_topic}-value"
    client = SchemaRegistry(settings.registry, settings.record)
    try:
        newest, there = client.newest(name), client.subjects()
    finally:
        client.close()
    if newest is None:
        near = get_close_matches(name, there, 1)
        meant = f"did you mean {near[0]!r}?" if near else "send a record first, or name another with --subject"
        raise CommandError(f"the registry at {settings.registry.url} has no subject {name!r}: {meant}")
    schema_id, version, text = newest
    return Registered(schema_id, name, version, text)


def _id_format(sample: Sample) -> Iterator[Setting]:
    found = sample.schema_id_format()
    if found != RecordSettings().schema_id_format:
        yield Setting(
            "record.schema_id_format", found, "the records have an id of 8 bytes in front, as Apicurio writes"
        )


def _addresses(settings: Settings) -> Iterator[Setting]:
    kafka = settings.kafka
    yield Setting("kafka.bootstrap_servers", kafka.bootstrap_servers)
    yield Setting("kafka.readings_topic", kafka.readings_topic, "the job reads readings here")
    if kafka.labels_topic:
        yield Setting("kafka.labels_topic", kafka.labels_topic, "and here labels that come after their readings")
    for name in ("predictions", "scores", "evolutions", "dead_letters"):
        yield Setting(f"kafka.{name}_topic", getattr(kafka, f"{name}_topic"), "made by `eml topics create`")
    yield Setting("registry.url", settings.registry.url)


def _subjects(settings: Settings, registered: Registered, schema: ReadingSchema) -> Iterator[Setting]:
    places = [(registered.subject, registered.version)]
    own = Subjects.of(replace(settings, record=replace(settings.record, subjects=()))).readings
    if registered.subject and own.own(schema.name, places) is None:
        reason = "where the newest record's schema is registered; no naming strategy gives it to the topic"
        yield Setting("record.subjects", (registered.subject,), reason)


def describe(found: ReadingSchema) -> str:
    """The schema and what its fields are to the model, in one line."""
    return f"{found.subject or 'no subject'}, version {found.version} (schema {found.id}): {describe_fields(found)}"
