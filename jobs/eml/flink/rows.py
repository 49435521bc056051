"""The rows that cross between the JVM and Python: a micro-batch in, all that is to be written out.

Used by `operator`, which decides nothing about them, and by `pipeline`, which declares the same types in SQL.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyflink.common import Row, Types

from eml.flink.model_store import BYTES
from eml.settings import Settings
from eml.stream import dead_letters
from eml.stream.outputs import Encoder
from eml.stream.records import Position, Raw
from eml.stream.runs import Results

HEADERS = Types.MAP(Types.STRING(), BYTES)
# A micro-batch has a column for each of partition, offset, timestamp, value, headers and whether it is a label: a row
# for each record would take five times as long to read.
COLUMNS = (Types.INT(), Types.LONG(), Types.LONG(), BYTES, HEADERS, Types.BOOLEAN())
INPUT = Types.ROW([Types.STRING(), Types.ROW([Types.OBJECT_ARRAY(column) for column in COLUMNS])])  # key, micro-batch
OUTPUT = Types.ROW_NAMED(
    ["kafka_key", "predictions", "evolutions", "dead_letters"],
    [
        BYTES,
        Types.OBJECT_ARRAY(BYTES),
        Types.OBJECT_ARRAY(BYTES),
        Types.OBJECT_ARRAY(Types.ROW_NAMED(["content", "headers"], [BYTES, HEADERS])),
    ],
)
NO_HEADERS: Mapping[str, bytes | None] = {}


class Rows:
    """Reads micro-batches and writes results, under the ids that the registry gave the schemas of what we write."""

    def __init__(self, settings: Settings, prediction_schema_id: int, evolution_schema_id: int) -> None:
        self._kafka, self._limits = settings.kafka, settings.limits
        self._encoder = Encoder(prediction_schema_id, evolution_schema_id, settings.limits.event_bytes)

    def records(self, columns: Iterable[Sequence[Any]]) -> list[Raw]:
        """The records of a micro-batch."""
        readings, labels = self._kafka.readings_topic, self._kafka.labels_topic
        return [
            Raw(value, Position(labels if is_label else readings, partition, offset, timestamp), headers or NO_HEADERS)
            for partition, offset, timestamp, value, headers, is_label in zip(*columns, strict=True)
        ]

    def row(self, key: str, name: str, results: Results) -> Row:
        """What became of a micro-batch of a key; its `name` stands in predictions and events."""
        encoder, kafka_key = self._encoder, key.encode("latin-1") or None
        letters = [dead_letters.encode(kafka_key, letter, self._limits) for letter in results.dead_letters]
        return Row(
            kafka_key=letters[0].key if letters else kafka_key,  # shortened, where it is too long for any prediction
            predictions=[encoder.prediction(name, scored) for scored in results.predictions],
            evolutions=[encoder.evolution(name, evolved) for evolved in results.evolutions],
            dead_letters=[Row(letter.value, letter.headers) for letter in letters],
        )
