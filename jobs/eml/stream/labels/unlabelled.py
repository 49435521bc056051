"""Readings that wait for their label: what is kept of one, and how many of them become bytes.

Made by `models.key_model`, kept by `label_join`. Feature spaces are long and few, readings are many: where readings
come from, which says their space, is written into the log once and has a number from there on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eml.core import FeatureSpace
from eml.core.arrays import Array
from eml.stream.records import Position
from eml.stream.wire import SchemaId


class ReadingSource(NamedTuple):
    """What readings of one schema have in common."""

    topic: str
    schema_id: SchemaId
    schema_version: int
    space: FeatureSpace  # of their values


@dataclass(slots=True)
class UnlabelledReading:
    """A reading whose label has not come.

    What was predicted is filled in before its micro-batch ends; then it is written and does not change.
    """

    event_id: str
    event_time: int | None
    partition: int
    offset: int
    timestamp_ms: int  # Kafka's
    source: ReadingSource
    values: Array  # (d,) a copy of its own, NaN where one is missing
    predicted: str | None = None  # what was predicted when it came
    fresh: str | None = None  # what the fresh start predicted, while the two are compared
    compared: bool = False
    revision: int = 0  # batches that the model had learnt by then

    @property
    def position(self) -> Position:
        """Where it stands in Kafka."""
        return Position(self.source.topic, self.partition, self.offset, self.timestamp_ms)


Buffered = tuple[str, int, UnlabelledReading]  # event id, since when by the key's clock


class SourceTable:
    """Sources by their number in a log, in the order in which its pieces name them."""

    def __init__(self) -> None:
        self._numbers: dict[ReadingSource, int] = {}
        self._all: list[ReadingSource] = []

    def describe(self, readings: Sequence[Buffered]) -> tuple[list[Any], list[Any], bytes]:
        """The sources that are new to the log, a row for each reading, and the values of all."""
        known, rows = len(self._all), []
        last: ReadingSource | None = None
        number = -1
        for event_id, since, reading in readings:
            if reading.source is not last:  # a hash of many names: most often the source is that of the one before
                last, number = reading.source, self._number(reading.source)
            rows.append([event_id, since, number, *_row(reading)])
        return (
            [_description(source) for source in self._all[known:]],
            rows,
            b"".join(reading.values.astype("<f8").tobytes() for _, _, reading in readings),
        )

    def read(self, new: Iterable[Any], rows: Iterable[Any], values: bytes) -> list[Buffered]:
        """The readings from their descriptions."""
        for topic, schema_id, version, names, aliases, *categories in new:
            former = {name: tuple(all_) for name, all_ in aliases.items()}
            space = FeatureSpace(tuple(names), former, frozenset(*categories))
            self._number(ReadingSource(topic, schema_id, version, space))
        table, start, readings = np.frombuffer(values, "<f8"), 0, []
        for event_id, since, number, event_time, partition, offset, timestamp_ms, *said in rows:
            source = self._all[number]
            end = start + len(source.space)
            own = table[start:end].astype(np.float64)  # a copy: a view would keep the whole piece alive
            reading = UnlabelledReading(event_id, event_time, partition, offset, timestamp_ms, source, own, *said)
            readings.append((event_id, since, reading))
            start = end
        return readings

    def _number(self, source: ReadingSource) -> int:
        number = self._numbers.setdefault(source, len(self._all))
        if number == len(self._all):
            self._all.append(source)
        return number


def _row(reading: UnlabelledReading) -> list[Any]:
    """A reading in JSON, without its values."""
    place = [reading.event_time, reading.partition, reading.offset, reading.timestamp_ms]
    return [*place, reading.predicted, reading.fresh, reading.compared, reading.revision]


def _description(source: ReadingSource) -> list[Any]:
    """A source in JSON; categories are left out where there are none."""
    space = source.space
    categories = [sorted(space.categories)] if space.categories else []
    former = {name: list(all_) for name, all_ in space.aliases.items()}
    return [source.topic, source.schema_id, source.schema_version, list(space.names), former, *categories]
