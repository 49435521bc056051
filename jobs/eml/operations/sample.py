"""A look at the records of a topic: their keys, their frames, and how many there are.

Made by `init` of the newest records; refuses what the job could not read, in a line that says what to change. Knows
frames and keys, no schema.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from eml.local.topic_reader import TopicConsumer
from eml.operations.newest import newest
from eml.settings import Settings
from eml.stream.errors import BadRecordError
from eml.stream.keys import CONTROLS, KafkaKey
from eml.stream.records import Raw
from eml.stream.wire import HEADER_SIZE, MAGIC, PREFIXES, VALUE_SCHEMA, SchemaRef, schema_of
from eml.terminal import CommandError

FRAMES = "(Confluent's wire format: a zero byte, the schema's id, the record)"


@dataclass(frozen=True, slots=True)
class Named:
    """A record that names its schema."""

    schema: SchemaRef
    payload: bytes
    raw: Raw


@dataclass(frozen=True, slots=True)
class Sample:
    """The newest records of a topic, and how many it holds in all."""

    topic: str
    records: Sequence[Raw]
    in_all: int

    @classmethod
    def of(cls, settings: Settings, count: int) -> "Sample":
        """Read it."""
        topic = settings.kafka.readings_topic
        with TopicConsumer(settings.kafka) as consumer:
            spans = consumer.spans([topic])
            found = newest(consumer, topic, count, lambda raw: raw).found
        return cls(topic, found, sum(end - first for first, end in spans.values()))

    def schema_id_format(self) -> str:
        """record.schema_id_format: no registry has an id 0, so four zero bytes are the half of a longer id."""
        fronts = [raw.value[:HEADER_SIZE] for raw in self.records if raw.value and VALUE_SCHEMA not in raw.headers]
        return "apicurio-8" if fronts and set(fronts) == {bytes(HEADER_SIZE)} else "confluent"

    def named(self) -> list[Named]:
        """The records that name their schema; raises where there are records and none does."""
        prefix = PREFIXES[self.schema_id_format()]
        found = [each for raw in self.records if (each := _named(raw, prefix)) is not None]
        values = [raw.value for raw in self.records if raw.value is not None]
        if found or not values:
            return found
        raise CommandError(
            f"the records of {self.topic!r} are {_form(values)}: the job reads Avro with the id of a registered schema"
            f" in front {FRAMES}. Have the producers write with an Avro serializer and the schema registry"
        )

    def key_format(self) -> tuple[str, str]:
        """record.key_format, and why; raises where no record has a key."""
        keys = [raw.key for raw in self.records if raw.key]
        if not self.records:
            return "text", "there are no records yet to look at"
        if not keys:
            raise CommandError(
                f"the records of {self.topic!r} have no key: the key is the device, whose model learns and answers."
                " Have the producers send each record with its device's name as key"
            )
        kinds = Counter(map(_kind, keys))
        kind, count = kinds.most_common(1)[0]
        if kind == "":
            raise CommandError(
                f"the keys of {self.topic!r} are no text, number or Avro: send the device's name in UTF-8"
            )
        return kind, f"what {count} of {len(self.records)} records looked at have"


def _named(raw: Raw, prefix: int) -> Named | None:
    try:
        schema, start = schema_of(raw.value, raw.headers, prefix)
    except BadRecordError:
        return None
    return Named(schema, (raw.value or b"")[start:], raw)


def _form(values: Sequence[bytes]) -> str:
    try:
        json.loads(values[-1])
    except (ValueError, RecursionError):
        return "no framed Avro"
    return "JSON, not Avro"


def _kind(key: KafkaKey) -> str:
    found = key.encode("latin-1")
    try:
        found.decode()
        if CONTROLS.isdisjoint(found):
            return "text"
    except UnicodeDecodeError:
        pass
    framed = len(found) > HEADER_SIZE and found[0] == MAGIC
    if framed and found[HEADER_SIZE] == 2 * (len(found) - HEADER_SIZE - 1):  # a string's length, as Avro writes it
        return "avro"
    return {4: "int", 8: "long"}.get(len(found), "avro" if framed else "")
