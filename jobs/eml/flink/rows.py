"""The rows that cross between the JVM and Python: a micro-batch in, all that is to be written out.

Used by `operator`, which decides nothing about them, and by `pipeline`, which declares the same types in SQL.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyflink.common import Row, Types

from eml.flink.types import BYTES
from eml.settings import Settings
from eml.stream.avro.micro_batch import Columns, MicroBatch
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.models.reading_batch import Results
from eml.stream.output import dead_letters
from eml.stream.output.encoder import Encoder, OutputIds
from eml.stream.wire import PREFIXES

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
KINDS = ("predictions", "scores", "evolutions", "dead_letters")
# Predictions are as many as readings, and scores may be: two columns of bytes take a quarter of the time of a row for
# each.
OUTPUT = Types.ROW_NAMED(
    ["prediction_keys", "score_keys", *KINDS],
    [Types.OBJECT_ARRAY(kind) for kind in (BYTES, BYTES, BYTES, BYTES, RECORD, LETTER)],
)


@dataclass(slots=True)
class Written:
    """Results as they will be written: events as rows of key and content, dead letters also with headers."""

    prediction_keys: list[bytes | None] = field(default_factory=list)
    predictions: list[bytes] = field(default_factory=list)
    score_keys: list[bytes | None] = field(default_factory=list)
    scores: list[bytes] = field(default_factory=list)
    evolutions: list[Row] = field(default_factory=list)
    dead_letters: list[Row] = field(default_factory=list)

    def add(self, later: "Written") -> None:
        """Append what another model gave."""
        self.prediction_keys += later.prediction_keys
        self.predictions += later.predictions
        self.score_keys += later.score_keys
        self.scores += later.scores
        self.evolutions += later.evolutions
        self.dead_letters += later.dead_letters


class Rows:
    """Reads micro-batches and writes results, under the ids that the registry gave the schemas of what we write."""

    def __init__(self, settings: Settings, ids: OutputIds) -> None:
        self._kafka, self._limits = settings.kafka, settings.limits
        self._prefix = PREFIXES[settings.record.schema_id_format]
        self._by_key = settings.model.by == "key"
        self._encoder = Encoder(ids, settings.limits.event_bytes)

    def call(self, columns: Sequence[list[Any]]) -> MicroBatch:
        """A micro-batch of the models of a bucket."""
        models, keys, *rest = columns
        return MicroBatch(
            Columns(keys if self._by_key else models, keys, *rest),
            self._kafka.readings_topic,
            self._kafka.labels_topic,
            self._limits,
            self._prefix,
        )

    def written(self, key: KafkaKey, name: KeyName, results: Results) -> Written:
        """What became of a model's records; its `name` stands in predictions and events."""
        encoder, kafka_key = self._encoder, key.encode("latin-1")
        written = Written()
        for said in results.predictions.pieces:
            written.prediction_keys += [of_record.encode("latin-1") or None for of_record in said.names.keys]
            written.predictions += encoder.predictions(name, said)
        for score in results.scores:
            written.score_keys.append(score.kafka_key.encode("latin-1") or None)
            written.scores.append(encoder.score(name, score))
        for evolved in results.evolutions:
            written.evolutions.append(Row(kafka_key or None, encoder.evolution(name, evolved)))
        for dead in results.dead_letters:
            letter = dead_letters.encode(dead.raw.key.encode("latin-1") or None, dead, self._limits)
            written.dead_letters.append(Row(letter.key, letter.value, letter.headers))
        return written

    def rows(self, written: Written) -> Iterator[Row]:
        """All that a call gave, in rows of bounded size."""
        letters = written.dead_letters
        pieces = {
            "predictions": list(self._pieces(list(map(len, written.predictions)))),
            "scores": list(self._pieces(list(map(len, written.scores)))),
            "evolutions": list(self._pieces([len(record[1]) for record in written.evolutions])),
            "dead_letters": list(self._pieces([len(record[1] or b"") for record in letters])),
        }
        for number in range(max(map(len, pieces.values()))):
            here = {kind: parts[number] if number < len(parts) else slice(0) for kind, parts in pieces.items()}
            yield Row(
                prediction_keys=written.prediction_keys[here["predictions"]],
                score_keys=written.score_keys[here["scores"]],
                **{kind: getattr(written, kind)[piece] for kind, piece in here.items()},
            )

    def _pieces(self, sizes: Sequence[int]) -> Iterator[slice]:
        """Records of these sizes in pieces of at most `batch_records` and, but for single ones, `batch_bytes`."""
        start, size = 0, 0
        for number, more in enumerate(sizes):
            full = number - start >= self._limits.batch_records or size + more > self._limits.batch_bytes
            if number > start and full:
                yield slice(start, number)
                start, size = number, 0
            size += more
        if start < len(sizes):
            yield slice(start, len(sizes))
