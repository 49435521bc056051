"""The benchmark's input: readings of 64 values, as Kafka keys and framed Avro.

Called by `stream` and `paced`, and by `beforehand`, which has models learn the same classes; knows the readings'
schema, and nothing of Kafka or the pipelines.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO

import fastavro
import numpy as np

from eml.core.arrays import Array, Index
from eml.settings import LearningSettings
from eml.stream.wire import frame

FEATURES = 64
CLASSES = 4
SEPARATION = 0.5  # of the classes' centres, in standard deviations: neither hopeless nor trivial
PIECE = 10_000  # records whose values are drawn together
WINDOW_MS = LearningSettings().window_ms
IS_NULL, IS_DOUBLE = 0, 2  # the branches of the union, as Avro writes their numbers

RESERVED: list[dict[str, object]] = [
    {"name": "sensor_id", "type": "string"},
    {"name": "event_id", "type": "string"},
    {"name": "event_time", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "label", "type": ["null", "string"], "default": None},
]
NAMES = tuple(f"f{i}" for i in range(FEATURES))
HEAD = fastavro.parse_schema({"type": "record", "name": "Head", "fields": RESERVED})


def schema(*, nullable: bool) -> str:
    """The readings' schema."""
    kind: object = ["null", "double"] if nullable else "double"
    measured: list[dict[str, object]] = [{"name": name, "type": kind} for name in NAMES]
    return json.dumps({"type": "record", "name": "BenchReading", "fields": RESERVED + measured})


@dataclass(frozen=True, slots=True)
class Load:
    """What is sent: `records` readings of `keys` devices, which take turns."""

    keys: int
    records: int
    labelled: float  # share of the records with a label
    nulls: float = 0.0  # share of the values that are missing
    seed: int = 0
    taught: bool = False  # every device's first reading has a label, and the second comes when that is to be learnt
    started_ms: int = field(default_factory=lambda: int(time.time() * 1000))

    @property
    def schema(self) -> str:
        """Of these readings."""
        return schema(nullable=self.nulls > 0.0)

    def readings(self, schema_id: int) -> Iterator[tuple[bytes, bytes]]:
        """Kafka key and value of each record."""
        rng = np.random.default_rng(self.seed + 1)
        for start in range(0, self.records, PIECE):
            count = min(PIECE, self.records - start)
            values, classes = self.draw(rng, count)
            labelled = rng.random(count) < self.labelled
            if self.taught:
                labelled[: max(0, self.keys - start)] = True
            contents = _with_nulls(values) if self.nulls else [row.tobytes() for row in values.astype("<f8")]
            for i, content in enumerate(contents):
                key = f"device-{(start + i) % self.keys}"
                label = name_of(classes[i]) if labelled[i] else None
                yield key.encode(), _value(schema_id, key, start + i, self.started_ms, label, content)

    def timestamp_ms(self, number: int) -> int:
        """Kafka's of a reading: those of a device which is taught leave time for a window between the first two."""
        return self.started_ms + (WINDOW_MS if self.taught and number >= self.keys else 0)

    def draw(self, rng: np.random.Generator, count: int) -> tuple[Array, Index]:
        """Values (count, features) and their classes; NaN where a value is missing."""
        centres = np.random.default_rng(self.seed).normal(size=(CLASSES, FEATURES)) * SEPARATION
        classes = rng.integers(CLASSES, size=count)
        values = rng.normal(size=(count, FEATURES)) + centres[classes]
        if self.nulls:
            values[rng.random(values.shape) < self.nulls] = np.nan
        return values, classes


def name_of(number: int) -> str:
    """A class, as the records have it."""
    return f"state-{number}"


def _value(schema_id: int, key: str, number: int, now_ms: int, label: str | None, content: bytes) -> bytes:
    """A record's framed Avro: the reserved fields by fastavro, and the values behind them."""
    payload = BytesIO()
    head = {"sensor_id": key, "event_id": f"event-{number}", "event_time": now_ms, "label": label}
    fastavro.schemaless_writer(payload, HEAD, head)
    payload.write(content)
    return frame(schema_id, payload.getvalue())


def _with_nulls(values: Array) -> list[bytes]:
    """Each row as Avro has unions of null and double: a branch, and behind that of doubles what they are in memory."""
    missing = np.isnan(values)
    written = np.zeros((*values.shape, 9), dtype=np.uint8)
    written[..., 0] = np.where(missing, IS_NULL, IS_DOUBLE)
    written[..., 1:] = values.astype("<f8").view(np.uint8).reshape(*values.shape, 8)
    kept = np.ones_like(written, dtype=np.bool_)
    kept[..., 1:] = ~missing[..., None]
    return [row[mask].tobytes() for row, mask in zip(written, kept, strict=True)]
