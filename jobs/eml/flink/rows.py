"""The rows that cross between the JVM and Python: a micro-batch in, all that is to be written out.

Used by `operator`, which decides nothing about them, and by `pipeline`, which declares the same types in SQL.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyflink.common import Row, Types

from eml.flink.model_store import BYTES
from eml.settings import Settings
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.models.micro_batch import Results
from eml.stream.output import dead_letters
from eml.stream.output.encoder import Encoder
from eml.stream.records import Position, Raw

HEADERS = Types.MAP(Types.STRING(), BYTES)
# A micro-batch has a column for each of model, key, partition, offset, timestamp, value, headers and whether it is a
# label: a row for each record would take five times as long to read.
COLUMNS = (
    Types.STRING(),
    Types.STRING(),
    Types.INT(),
    Types.LONG(),
    Types.LONG(),
    BYTES,
    HEADERS,
    Types.BOOLEAN(),
)
INPUT = Types.ROW([Types.STRING(), Types.ROW([Types.OBJECT_ARRAY(column) for column in COLUMNS])])  # bucket, columns
RECORD = Types.ROW_NAMED(["kafka_key", "content"], [BYTES, BYTES])
LETTER = Types.ROW_NAMED(["kafka_key", "content", "headers"], [BYTES, BYTES, HEADERS])
KINDS = ("predictions", "evolutions", "dead_letters")
OUTPUT = Types.ROW_NAMED(list(KINDS), [Types.OBJECT_ARRAY(kind) for kind in (RECORD, RECORD, LETTER)])
NO_HEADERS: dict[str, bytes | None] = {}


@dataclass(slots=True)
class Written:
    """Results as they will be written: rows of key and content, dead letters also with headers."""

    predictions: list[Row] = field(default_factory=list)
    evolutions: list[Row] = field(default_factory=list)
    dead_letters: list[Row] = field(default_factory=list)

    def add(self, later: "Written") -> None:
        """Append what another model gave."""
        self.predictions += later.predictions
        self.evolutions += later.evolutions
        self.dead_letters += later.dead_letters


class Rows:
    """Reads micro-batches and writes results, under the ids that the registry gave the schemas of what we write."""

    def __init__(self, settings: Settings, prediction_schema_id: int, evolution_schema_id: int) -> None:
        self._kafka, self._limits = settings.kafka, settings.limits
        self._by_key = settings.model.by == "key"
        self._encoder = Encoder(prediction_schema_id, evolution_schema_id, settings.limits.event_bytes)

    def records(self, columns: Sequence[Sequence[Any]]) -> dict[KafkaKey, list[Raw]]:
        """The records of a micro-batch by the key of their model, in their order."""
        readings, labels = self._kafka.readings_topic, self._kafka.labels_topic
        found: dict[KafkaKey, list[Raw]] = {}
        models, keys, *rest = columns
        for model, key, partition, offset, timestamp, value, headers, is_label in zip(
            keys if self._by_key else models, keys, *rest, strict=True
        ):
            position = Position(labels if is_label else readings, partition, offset, timestamp)
            found.setdefault(model, []).append(Raw(value, position, headers or NO_HEADERS, key))
        return found

    def written(self, key: KafkaKey, name: KeyName, results: Results) -> Written:
        """What became of a model's records; its `name` stands in predictions and events."""
        encoder, kafka_key = self._encoder, key.encode("latin-1")
        written = Written()
        for scored in results.predictions:
            own = scored.kafka_key.encode("latin-1") or None
            written.predictions.append(Row(own, encoder.prediction(name, scored)))
        for evolved in results.evolutions:
            written.evolutions.append(Row(kafka_key or None, encoder.evolution(name, evolved)))
        for dead in results.dead_letters:
            letter = dead_letters.encode(dead.raw.key.encode("latin-1") or None, dead, self._limits)
            written.dead_letters.append(Row(letter.key, letter.value, letter.headers))
        return written

    def rows(self, written: Written) -> Iterator[Row]:
        """All that a call gave, in rows of bounded size."""
        pieces = [list(self._pieces(getattr(written, kind))) for kind in KINDS]
        for number in range(max(map(len, pieces))):
            yield Row(
                **{
                    kind: parts[number] if number < len(parts) else []
                    for kind, parts in zip(KINDS, pieces, strict=True)
                }
            )

    def _pieces(self, records: list[Row]) -> Iterator[list[Row]]:
        """Rows in pieces of at most `batch_records` and, but for single ones, `batch_bytes`."""
        start, size = 0, 0
        for number, record in enumerate(records):
            more = len(record[1] or b"")
            full = number - start >= self._limits.batch_records or size + more > self._limits.batch_bytes
            if number > start and full:
                yield records[start:number]
                start, size = number, 0
            size += more
        if start < len(records):
            yield records[start:]
