"""From the records of a micro-batch to decoded readings and labels of one schema each.

Called by `key_model`, once per micro-batch. Every record that cannot be read becomes a dead letter; from the first
record on whose schema cannot be had now, all wait, to keep their order. Changes no model.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from eml.settings import Settings
from eml.stream.avro.micro_batch import Decode, ReadingColumns, columns_of
from eml.stream.avro.reading_schema import Decoded, ReadingSchema
from eml.stream.errors import BadRecordError, RegistryUnavailableError
from eml.stream.keys import KafkaKey, KeyName, ReadKey, names_of
from eml.stream.limits import check_size, text_problem
from eml.stream.models.reading_batch import LookUp, Results
from eml.stream.output.dead_letters import DeadLetter
from eml.stream.records import NO_KEY_NAME, Raw
from eml.stream.wire import PREFIXES, SchemaId, schema_of


class LabelGroup(NamedTuple):
    """Good labels in a row, of one schema."""

    schema: ReadingSchema
    decoded: Decoded
    raws: list[Raw]


class _Readable(NamedTuple):
    """A record whose schema is at hand."""

    schema: ReadingSchema
    raw: Raw
    is_label: bool


class RecordReader:
    """Reads the records of one model."""

    def __init__(self, settings: Settings) -> None:
        self._labels_topic = settings.kafka.labels_topic
        self._limits = settings.limits
        self._prefix = PREFIXES[settings.record.schema_id_format]
        self._counts_tombstones = settings.record.tombstones == "count"
        many = settings.model.by != "key"
        self._device_of = names_of(settings.record.key_format, settings.limits, _no_avro_keys) if many else None

    def read(
        self, records: Sequence[Raw], look_up: LookUp, decode: Decode, results: Results
    ) -> Iterator[ReadingColumns | LabelGroup]:
        """The good records; the others are in `results`."""
        readable = self._readable(records, look_up, results)
        for _, group in groupby(readable, key=lambda one: (one.schema.id, one.is_label, one.raw.start)):
            ones = list(group)
            schema, raws = ones[0].schema, [one.raw for one in ones]
            decoded = decode(schema, raws)
            for row, error in decoded.bad:
                results.dead_letters.append(dead_letter(raws[row], error, schema.id))
            good = [raws[row] for row in decoded.rows]
            decoded, good = self._of_bounded_texts(schema, decoded, good, results)
            if good:
                yield LabelGroup(schema, decoded, good) if ones[0].is_label else columns_of(schema, decoded, good)

    def device_of(self, kafka_key: KafkaKey) -> KeyName:
        """The name of a record's device, where the model has many; empty: that of the model."""
        return NO_KEY_NAME if self._device_of is None else self._device_of(kafka_key)

    def _readable(self, records: Sequence[Raw], look_up: LookUp, results: Results) -> list[_Readable]:
        """The records that can be decoded now; one that must wait makes all behind it wait."""
        found = []
        for number, raw in enumerate(records):
            if raw.value is None and self._counts_tombstones:
                results.tombstones += 1
                continue
            try:
                found.append(self._look_up(raw, look_up, results))
            except RegistryUnavailableError as error:
                results.waiting = list(records[number:])
                results.retry_after_ms = error.retry_after_ms
                results.wait_reason = error.reason
                break
        return [one for one in found if one is not None]

    def _look_up(self, raw: Raw, look_up: LookUp, results: Results) -> _Readable | None:
        """A record with its schema; None where it is a bad one."""
        ref = None
        is_label = bool(self._labels_topic) and raw.position.topic == self._labels_topic
        named = self._device_of is None
        try:
            raw.device = self.device_of(raw.key)
            named = True
            check_size(raw, self._limits)
            ref, raw.start = schema_of(raw.value, raw.headers, self._prefix)
            schema = look_up(ref)
            ref = schema.id
            if is_label:
                schema.check_label()
            else:
                schema.check_reading()
        except BadRecordError as error:
            schema_id = ref if isinstance(ref, int) else None  # a GUID that the registry has not told the id of
            results.dead_letters.append(dead_letter(raw, error, schema_id, of_key=not named))
            return None
        return _Readable(schema, raw, is_label)

    def _of_bounded_texts(
        self, schema: ReadingSchema, decoded: Decoded, raws: list[Raw], results: Results
    ) -> tuple[Decoded, list[Raw]]:
        """What was decoded, without the records whose event id or label is too long."""
        texts = zip(decoded.event_ids, decoded.labels, strict=True)
        problems = [text_problem(event_id, label, self._limits) for event_id, label in texts]
        if not any(problems):
            return decoded, raws
        for raw, error in zip(raws, problems, strict=True):
            if error is not None:
                results.dead_letters.append(dead_letter(raw, error, schema.id))
        good = [row for row, error in enumerate(problems) if error is None]
        return decoded.only(good), [raws[row] for row in good]


def schema_wait_ms(raw: Raw, look_up: LookUp, prefix: int) -> int:
    """How long a record must wait for its schema; 0: it is there, or the record is a bad one."""
    try:
        look_up(schema_of(raw.value, raw.headers, prefix)[0])
    except BadRecordError:
        return 0
    except RegistryUnavailableError as error:
        return error.retry_after_ms
    return 0


def dead_letter(raw: Raw, error: BadRecordError, schema_id: SchemaId | None, *, of_key: bool = False) -> DeadLetter:
    """A record that cannot be used, with what is wrong; `of_key`: with its key, not its value."""
    return DeadLetter(raw, error.reason, type(error).__name__, str(error), schema_id, of_key=of_key)


def _no_avro_keys(schema_id: SchemaId) -> ReadKey:
    raise RuntimeError(f"settings with Avro keys (schema {schema_id}) and several keys to a model are refused")
