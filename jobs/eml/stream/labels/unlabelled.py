"""Readings that wait for their label: what is kept of one, and how many of them become bytes.

Made by `models.key_model`, kept by `label_join`. Feature spaces are long and few, readings are many: a space is written
into the log once and has a number from there on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eml.core import FeatureSpace
from eml.core.arrays import Array
from eml.stream.wire import SchemaId


@dataclass(slots=True)
class UnlabelledReading:
    """A reading whose label has not come.

    The predictions are filled in before its micro-batch ends; then it is written and does not change.
    """

    event_id: str
    timestamp_ms: int  # Kafka's
    schema_id: SchemaId
    space: FeatureSpace  # of its values
    values: Array  # (d,) a copy of its own, NaN where one is missing
    predicted: str | None  # what was predicted when it came
    fresh: str | None  # what the fresh start predicted, while the two are compared


Buffered = tuple[str, int, UnlabelledReading]  # event id, since when by the key's clock


class SpaceTable:
    """Spaces by their number in a log, in the order in which its pieces name them."""

    def __init__(self) -> None:
        self._numbers: dict[FeatureSpace, int] = {}
        self._all: list[FeatureSpace] = []

    def describe(self, readings: Sequence[Buffered]) -> tuple[list[Any], list[Any], bytes]:
        """The spaces that are new to the log, a row for each reading, and the values of all."""
        known, rows = len(self._all), []
        last: FeatureSpace | None = None
        number = -1
        for event_id, since, reading in readings:
            if reading.space is not last:  # a hash of many names: most often the space is that of the one before
                last, number = reading.space, self._number(reading.space)
            written = [reading.timestamp_ms, reading.schema_id, number, reading.predicted, reading.fresh]
            rows.append([event_id, since, *written])
        return (
            [_description(space) for space in self._all[known:]],
            rows,
            b"".join(reading.values.astype("<f8").tobytes() for _, _, reading in readings),
        )

    def read(self, new: Iterable[Any], rows: Iterable[Any], values: bytes) -> list[Buffered]:
        """The readings from their descriptions."""
        for names, aliases, *categories in new:
            former = {name: tuple(all_) for name, all_ in aliases.items()}
            self._number(FeatureSpace(tuple(names), former, frozenset(*categories)))
        table, start, readings = np.frombuffer(values, "<f8"), 0, []
        for event_id, since, timestamp_ms, schema_id, number, predicted, fresh in rows:
            space = self._all[number]
            end = start + len(space)
            own = table[start:end].astype(np.float64)  # a copy: a view would keep the whole piece alive
            readings.append(
                (event_id, since, UnlabelledReading(event_id, timestamp_ms, schema_id, space, own, predicted, fresh))
            )
            start = end
        return readings

    def _number(self, space: FeatureSpace) -> int:
        number = self._numbers.setdefault(space, len(self._all))
        if number == len(self._all):
            self._all.append(space)
        return number


def _description(space: FeatureSpace) -> list[Any]:
    """A space in JSON; categories are left out where there are none, as in the first format."""
    categories = [sorted(space.categories)] if space.categories else []
    return [list(space.names), {name: list(former) for name, former in space.aliases.items()}, *categories]
