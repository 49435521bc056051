"""Which subjects hold the schemas of a topic's records: a record of any other schema does not belong there.

Used by `client`, `field_report`, `local.schema_book` in the client's place, and `eml capture`. Knows how Confluent's
clients name subjects, not who asks.

    TopicNameStrategy          <topic>-value
    TopicRecordNameStrategy    <topic>-<full name of the record>
    RecordNameStrategy         <full name of the record>
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from eml.settings import Settings
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.avro.types import shown

CONTEXT = re.compile(r":\.[^:]*:")  # before a subject's name in a registry with several contexts
SHOWN = 3  # subjects in a message

SubjectVersion = tuple[str, int]  # subject and version


@dataclass(frozen=True, slots=True)
class SubjectRule:
    """The subjects of one topic."""

    topic: str
    listed: tuple[str, ...]  # empty: by the naming strategies
    setting: str

    def own(self, name: str, places: Sequence[SubjectVersion]) -> str | None:
        """The topic's own subject among those of a schema whose record has this name."""
        wanted = self.listed or (f"{self.topic}-value", f"{self.topic}-{name}", name)
        found = [subject for subject, _ in places]
        for each in wanted:
            if each in found:
                return each
        bare = {CONTEXT.sub("", subject, count=1): subject for subject in reversed(found) if CONTEXT.match(subject)}
        return next((bare[each] for each in wanted if each in bare), None)

    def problem(self, schema: ReadingSchema, places: Sequence[SubjectVersion], what: str) -> str:
        """The message for records whose schema does not belong in the topic."""
        subjects = list(dict.fromkeys(subject for subject, _ in places))
        more = f" and {len(subjects) - SHOWN} more" if len(subjects) > SHOWN else ""
        named = ", ".join(shown(subject) for subject in subjects[:SHOWN]) + more
        return (
            f"schema {schema.id} ({shown(schema.name)}) is registered under {named}, which is no subject of the {what} "
            f"in topic {self.topic}: if its records are {what}, add the subject to {self.setting}"
        )


@dataclass(frozen=True, slots=True)
class Subjects:
    """The subjects of readings, and of labels on a topic of their own."""

    readings: SubjectRule
    labels: SubjectRule

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """From the settings."""
        kafka, record = settings.kafka, settings.record
        return cls(
            SubjectRule(kafka.readings_topic, record.subjects, "record.subjects"),
            SubjectRule(kafka.labels_topic, record.label_subjects, "record.label_subjects"),
        )

    def resolve(self, schema: ReadingSchema, places: Sequence[SubjectVersion]) -> ReadingSchema:
        """A schema with its subject and version, and with what is wrong where they are not the topics' own.

        Of several subjects the readings' own is preferred. A schema without any (its subject was deleted) may be used,
        and a label may have a schema of readings: it does not change the current version.
        """
        if not places:
            return schema
        reading, label = self.readings.own(schema.name, places), self.labels.own(schema.name, places)
        subject, version = newest_version(reading or label, places)
        return replace(
            schema,
            subject=subject,
            version=version,
            foreign_reading="" if reading else self.readings.problem(schema, places, "readings"),
            foreign_label="" if reading or label else self.labels.problem(schema, places, "labels"),
        )


def newest_version(subject: str | None, places: Sequence[SubjectVersion]) -> SubjectVersion:
    """A subject, the first if none is preferred, with the schema's newest version in it."""
    chosen = subject or places[0][0]
    return chosen, max(version for name, version in places if name == chosen)
