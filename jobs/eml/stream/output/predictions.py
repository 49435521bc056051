"""Predictions of the prediction topic: what they say, and their bytes.

Made by `models.key_model` for the readings of a model, column by column, and written by `encoder`. fastavro takes 12
microseconds for a prediction of four classes: this schema is written by hand (`avro_parts`), in a quarter of that. Who
reads predictions one by one (`eml replay`, tests) gets an object for each.
"""

import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import overload

from eml.core.report import Stage
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.output.avro_parts import (
    FALSE,
    NULL,
    REPEATED,
    TRUE,
    write_class,
    write_long,
    write_maybe_double,
    write_maybe_long,
    write_maybe_text,
    write_name,
    write_partition,
    write_text,
)
from eml.stream.records import NO_KAFKA_KEY, NO_KEY_NAME, Position, ReadingNames
from eml.stream.wire import SchemaId

NAN = math.nan  # instead of a number that there is not
NOTHING_KNOWN = [NAN, NAN]  # margin and novelty before the first label


@dataclass(slots=True)
class Prediction:
    """What one prediction says; the fields of `schemas/prediction.avsc`."""

    event_id: str | None
    event_time: int | None
    label: str | None
    reason: str | None  # why there is no label
    scores: Mapping[str, float]  # by class
    margin: float | None
    novelty: float | None
    stage: Stage
    schema_id: SchemaId
    schema_version: int
    model_revision: int
    truth: str | None  # the label that came inside the record
    late: bool  # of an older version than the key is on
    position: Position
    kafka_key: KafkaKey = NO_KAFKA_KEY  # of the reading
    device: KeyName = NO_KEY_NAME  # whose reading it is; empty: the model's own


@dataclass(slots=True)
class PredictedReadings:
    """What a model, as it is, says of some readings: an entry for each in every column."""

    rows: list[list[float]]  # scores of the classes, margin, novelty, ...; empty before the first label
    labels: list[str | None]
    reason: str | None  # why there are no labels
    classes: tuple[str, ...]
    stage: Stage
    schema_id: SchemaId
    schema_version: int
    model_revision: int
    late: bool
    names: ReadingNames

    @classmethod
    def of(cls, said: Prediction) -> "PredictedReadings":
        """One prediction."""
        numbers = [*said.scores.values(), *(NAN if each is None else each for each in (said.margin, said.novelty))]
        position = said.position
        return cls(
            [numbers],
            [said.label],
            said.reason,
            tuple(said.scores),
            said.stage,
            said.schema_id,
            said.schema_version,
            said.model_revision,
            said.late,
            ReadingNames(
                position.topic,
                [said.kafka_key],
                [said.device],
                [position.partition],
                [position.offset],
                [position.timestamp_ms],
                [said.event_id],
                [said.event_time],
                [said.truth],
            ),
        )

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Prediction]:
        return map(self._prediction, range(len(self)))

    def _prediction(self, row: int) -> Prediction:
        """One of them."""
        scores, margin, novelty = self._numbers(row)
        names = self.names
        return Prediction(
            event_id=names.event_ids[row],
            event_time=names.event_times[row],
            label=self.labels[row],
            reason=self.reason,
            scores=dict(zip(self.classes, scores, strict=True)),
            margin=margin if math.isfinite(margin) else None,
            novelty=novelty if math.isfinite(novelty) else None,
            stage=self.stage,
            schema_id=self.schema_id,
            schema_version=self.schema_version,
            model_revision=self.model_revision,
            truth=names.labels[row],
            late=self.late,
            position=names.position(row),
            kafka_key=names.keys[row],
            device=names.devices[row],
        )

    def _numbers(self, row: int) -> tuple[list[float], float, float]:
        """Scores, margin and novelty."""
        numbers, count = self.rows[row] or NOTHING_KNOWN, len(self.classes)
        return numbers[:count], numbers[count], numbers[count + 1]


class Predictions(Sequence[Prediction]):
    """Predictions in their order, kept as columns: an object for one is made where somebody asks for it."""

    def __init__(self, pieces: Iterable[PredictedReadings] = ()) -> None:
        self.pieces = list(pieces)

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def __iter__(self) -> Iterator[Prediction]:
        return chain.from_iterable(self.pieces)

    @overload
    def __getitem__(self, place: int) -> Prediction: ...

    @overload
    def __getitem__(self, place: slice) -> list[Prediction]: ...

    def __getitem__(self, place: int | slice) -> Prediction | list[Prediction]:
        return list(self)[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __add__(self, later: "Predictions") -> "Predictions":
        return Predictions([*self.pieces, *later.pieces])

    def add(self, said: PredictedReadings) -> None:
        """Append what a model says of its next readings."""
        self.pieces.append(said)

    def extend(self, later: "Predictions") -> None:
        """Append what was predicted next."""
        self.pieces += later.pieces


def payloads(model: KeyName, said: PredictedReadings) -> Iterator[bytes]:
    """The predictions of a model, byte for byte what fastavro writes."""
    of_model = _model(said.stage, said.schema_id, said.schema_version, said.model_revision)
    late, name, reason = TRUE if said.late else FALSE, write_name(model), write_class(said.reason)
    names, classes, count = said.names, said.classes, len(said.classes)
    for row, label, event_id, time, truth, partition, offset, timestamp_ms, device in zip(
        said.rows,
        said.labels,
        names.event_ids,
        names.event_times,
        names.labels,
        names.partitions,
        names.offsets,
        names.timestamps_ms,
        names.devices,
        strict=True,
    ):
        numbers = row or NOTHING_KNOWN
        yield b"".join(
            (
                write_name(device) if device else name,
                write_maybe_text(event_id),
                write_maybe_long(time),
                write_class(label),
                reason,
                _scores(classes, numbers[:count]),
                write_maybe_double(numbers[count]),
                write_maybe_double(numbers[count + 1]),
                of_model,
                write_class(truth),
                late,
                write_partition(names.topic, partition),
                write_long(offset),
                write_long(timestamp_ms),
                name,
            )
        )


@lru_cache(maxsize=REPEATED)
def _model(stage: str, schema_id: int, schema_version: int, revision: int) -> bytes:
    return write_text(stage) + write_long(schema_id) + write_long(schema_version) + write_long(revision)


@lru_cache(maxsize=REPEATED)
def _map_layout(names: tuple[str, ...]) -> tuple[struct.Struct, list[bytes | float]]:
    """A map of doubles as one struct, and its arguments with room for the doubles."""
    texts = [write_text(name) for name in names]
    texts[0] = write_long(len(names)) + texts[0]
    # One block with its count before it; the pad byte behind it is the empty block that ends a map.
    layout = struct.Struct("<" + "".join(f"{len(text)}sd" for text in texts) + "x")
    return layout, [part for text in texts for part in (text, 0.0)]


def _scores(names: tuple[str, ...], scores: Iterable[float]) -> bytes:
    if not names:
        return NULL
    layout, arguments = _map_layout(names)
    filled = arguments.copy()
    filled[1::2] = scores
    return layout.pack(*filled)
