"""A micro-batch, column by column: which model each record belongs to, and all records of a schema decoded together.

Made by `flink.rows` from a micro-batch of many models. A fleet of many slow devices has one record per model and
micro-batch: decoding costs far less for a hundred records of a schema than a hundred times for one, and most records
need no object of their own. Decoding together is only an optimisation: a record that was not decoded here, because its
schema is not at hand yet or its bytes are not to be read, is decoded, or refused, by its model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from eml.core.arrays import Array
from eml.settings import LimitsSettings
from eml.stream.avro.decoder import Decoded
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.errors import BadRecordError
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.limits import headers_size, text_problem
from eml.stream.records import NO_HEADERS, REPLAYS, Headers, Position, Raw, ReadingNames
from eml.stream.wire import HEADER_SIZE, VALUE_SCHEMA, Frame, SchemaRef, named_by

Decode = Callable[[ReadingSchema, Sequence[Raw]], Decoded]  # of records that are all of one schema, framed alike
DeviceOf = Callable[[KafkaKey], KeyName]
Cached = Callable[[SchemaRef], ReadingSchema | None]  # the schema of this name, where no look-up is needed


def decode(schema: ReadingSchema, raws: Sequence[Raw]) -> Decoded:
    """Decode records by themselves."""
    return schema.decode([raw.value or b"" for raw in raws], raws[0].start if raws else HEADER_SIZE)


@dataclass(frozen=True, slots=True)
class Columns:
    """A micro-batch as it crosses from the JVM: an entry per record in each."""

    models: list[KafkaKey]  # keys of models
    keys: list[KafkaKey]
    partitions: list[int]
    offsets: list[int]
    timestamps_ms: list[int]
    values: list[bytes | None]
    headers: list[Headers | None]
    are_labels: list[bool]


@dataclass(frozen=True, slots=True)
class _Group:
    """The records of one schema."""

    schema: ReadingSchema
    decoded: Decoded
    bad: dict[int, BadRecordError]  # by the record's place in the group


@dataclass(slots=True)
class ReadingColumns:
    """Good readings of one model and schema, in their order."""

    schema: ReadingSchema
    values: Array  # (n, features)
    names: ReadingNames
    raw: Callable[[int], Raw]  # one of them as it came

    def __len__(self) -> int:
        return len(self.values)


def columns_of(schema: ReadingSchema, decoded: Decoded, raws: Sequence[Raw]) -> ReadingColumns:
    """What was decoded of records that are all good readings."""
    positions = [raw.position for raw in raws]
    names = ReadingNames(
        positions[0].topic,
        [raw.key for raw in raws],
        [raw.device for raw in raws],
        [position.partition for position in positions],
        [position.offset for position in positions],
        [position.timestamp_ms for position in positions],
        decoded.event_ids,
        decoded.event_times,
        decoded.labels,
    )
    return ReadingColumns(schema, decoded.values, names, raws.__getitem__)


@dataclass(slots=True)
class MicroBatch:
    """A micro-batch of many models."""

    columns: Columns
    readings_topic: str
    labels_topic: str
    limits: LimitsSettings
    prefix: int = HEADER_SIZE  # bytes before the payload, where no header names the schema
    models: dict[KafkaKey, list[int]] = field(default_factory=dict)  # the records of each, in their order
    _groups: list[_Group | None] = field(default_factory=list)  # of each record
    _rows: list[int] = field(default_factory=list)  # of each record in what was decoded of its group; -1: a bad one
    _places: list[int] = field(default_factory=list)  # of each record in its group

    def __post_init__(self) -> None:
        for number, model in enumerate(self.columns.models):
            self.models.setdefault(model, []).append(number)

    def decode_together(self, cached: Cached) -> None:
        """Decode what can be decoded without a look-up."""
        count = len(self.columns.keys)
        self._groups, self._rows, self._places = [None] * count, [-1] * count, [-1] * count
        values = self.columns.values
        by_prefix: dict[bytes, list[int]] = {}
        by_header: dict[bytes, list[int]] = {}
        for number, value in enumerate(values):
            if value is not None and len(value) <= self.limits.value_bytes and self._has_small_headers(number):
                headers = self.columns.headers[number]
                name = headers.get(VALUE_SCHEMA) if headers else None
                if name is None:
                    by_prefix.setdefault(value[: self.prefix], []).append(number)
                else:
                    by_header.setdefault(name, []).append(number)
        frames = [(Frame(name, self.prefix), numbers) for name, numbers in by_prefix.items()]
        frames += [(Frame(name, 0), numbers) for name, numbers in by_header.items()]
        for frame, numbers in frames:
            schema = _schema_of(frame, cached)
            if schema is None:
                continue
            decoded = schema.decode([values[number] or b"" for number in numbers], frame.start)
            group = _Group(schema, decoded, dict(decoded.bad))
            for place, number in enumerate(numbers):
                self._groups[number], self._places[number] = group, place
            for row, place in enumerate(decoded.rows):
                self._rows[numbers[place]] = row

    def _has_small_headers(self, number: int) -> bool:
        headers = self.columns.headers[number]
        return not headers or headers_size(headers) <= self.limits.header_bytes

    def replayed(self) -> int:
        """How many of the records `eml dead-letters replay` has sent again."""
        return sum(REPLAYS in headers for headers in self.columns.headers if headers)

    # -- record by record ------------------------------------------------------------------------------------------

    def raws(self, numbers: Sequence[int]) -> list[Raw]:
        """Some of the records, each as an object."""
        columns = self.columns
        return [
            Raw(
                columns.values[number],
                self.position(number),
                columns.headers[number] or NO_HEADERS,
                columns.keys[number],
                number=number,
            )
            for number in numbers
        ]

    def position(self, number: int) -> Position:
        """Where a record stands in Kafka."""
        columns = self.columns
        topic = self.labels_topic if columns.are_labels[number] else self.readings_topic
        return Position(topic, columns.partitions[number], columns.offsets[number], columns.timestamps_ms[number])

    def decode(self, schema: ReadingSchema, raws: Sequence[Raw]) -> Decoded:
        """What was decoded of records of this micro-batch; others are decoded now."""
        numbers = [raw.number for raw in raws]
        groups = [self._groups[number] if number >= 0 else None for number in numbers]
        group = groups[0]
        if group is None or group.schema is not schema or any(other is not group for other in groups):
            return decode(schema, raws)
        rows = [self._rows[number] for number in numbers]
        bad = [(at, group.bad[self._places[numbers[at]]]) for at, row in enumerate(rows) if row < 0]
        return group.decoded.at([row for row in rows if row >= 0], [at for at, row in enumerate(rows) if row >= 0], bad)

    # -- most of what a fleet sends --------------------------------------------------------------------------------

    def readings(self, numbers: Sequence[int], device_of: DeviceOf) -> ReadingColumns | None:
        """A model's records, where all are good readings of one schema, and not too many to be served at once."""
        group = self._groups[numbers[0]]
        if group is None or group.schema.foreign_reading or not group.schema.space.names:
            return None
        rows = self._good_rows(numbers, group)
        if rows is None:
            return None
        columns, decoded = self.columns, group.decoded
        of_call, of_group = _picker(numbers), _picker(rows)
        keys = of_call(columns.keys)
        try:
            devices = list(map(device_of, keys))
        except BadRecordError:
            return None  # its model says what is wrong with it
        names = ReadingNames(
            self.readings_topic,
            keys,
            devices,
            of_call(columns.partitions),
            of_call(columns.offsets),
            of_call(columns.timestamps_ms),
            of_group(decoded.event_ids),
            of_group(decoded.event_times),
            of_group(decoded.labels),
        )
        values = decoded.values[rows[0] : rows[-1] + 1] if _is_range(rows) else decoded.values[rows]
        return ReadingColumns(group.schema, values, names, lambda row: self.raws([numbers[row]])[0])

    def _good_rows(self, numbers: Sequence[int], group: _Group) -> list[int] | None:
        """The rows of what was decoded of a schema that hold these records; None where one is not to be had there."""
        limits, columns, decoded = self.limits, self.columns, group.decoded
        if len(numbers) > limits.batch_records:
            return None
        rows, size = [], 0
        for number in numbers:
            row = self._rows[number]
            if row < 0 or self._groups[number] is not group or columns.are_labels[number]:
                return None
            if text_problem(decoded.event_ids[row], decoded.labels[row], limits) is not None:
                return None
            size += len(columns.values[number] or b"")
            rows.append(row)
        return rows if size <= limits.batch_bytes or len(rows) == 1 else None


def _picker(places: Sequence[int]) -> Callable[[Sequence[Any]], list[Any]]:
    """Takes the entries at these places out of a column; at one place, most often, in no time."""
    if len(places) == 1:
        place = places[0]
        return lambda column: [column[place]]
    picked = itemgetter(*places)
    return lambda column: list(picked(column))


def _is_range(rows: Sequence[int]) -> bool:
    """Whether rows, which ascend, are neighbours: then they need not be copied."""
    return rows[-1] - rows[0] + 1 == len(rows)


def _schema_of(frame: Frame, cached: Cached) -> ReadingSchema | None:
    try:
        return cached(named_by(frame))
    except BadRecordError:
        return None  # its model says what is wrong with it
