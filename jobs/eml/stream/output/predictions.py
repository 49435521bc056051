"""Predictions of the prediction topic: what one says, and its bytes.

Made by `models.micro_batch`, one per reading, and written by `encoder`. fastavro takes 12 microseconds for a prediction
of four classes: this schema is written by hand (`avro_parts`), in 4 to 5.

A prediction is not frozen, though nobody changes it: that would take four times as long.
"""

import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from eml.core.report import NO_LABELS, Label, Stage
from eml.stream.avro.micro_batch import ReadingColumns
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
from eml.stream.records import NO_KAFKA_KEY, NO_KEY_NAME, Position
from eml.stream.wire import SchemaId

NOTHING_KNOWN = (None, math.inf, 0.0, 0.0)  # margin, novelty and classes before the first label


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


@dataclass(frozen=True, slots=True)
class PredictedRows:
    """What a learner predicts of some readings, a row each: scores of its classes, margin, novelty, the best class."""

    schema_id: SchemaId
    schema_version: int
    stage: str
    revision: int
    classes: tuple[Label, ...]  # texts, as all labels of a stream
    rows: list[list[float]]


def prediction_payload(model: KeyName, prediction: Prediction) -> bytes:
    """One prediction of a model, byte for byte what fastavro writes."""
    time, position = prediction.event_time, prediction.position
    return b"".join(
        (
            write_name(prediction.device or model),
            write_maybe_text(prediction.event_id),
            write_maybe_long(time),
            write_class(prediction.label),
            write_class(prediction.reason),
            _scores(tuple(prediction.scores), prediction.scores.values()),
            write_maybe_double(prediction.margin),
            write_maybe_double(prediction.novelty),
            _model(prediction.stage, prediction.schema_id, prediction.schema_version, prediction.model_revision),
            write_maybe_text(prediction.truth),
            TRUE if prediction.late else FALSE,
            write_partition(position.topic, position.partition),
            write_long(position.offset),
            write_long(position.timestamp_ms),
            write_name(model),
        )
    )


def unlabelled_payloads(
    model: KeyName, devices: Sequence[KeyName], readings: ReadingColumns, predicted: PredictedRows
) -> Iterator[bytes]:
    """The predictions of readings at which nothing else happened: what `prediction_payload` gives, in less time.

    `devices` are empty where the model has only one.
    """
    classes = tuple(map(str, predicted.classes))
    of_model = _model(predicted.stage, predicted.schema_id, predicted.schema_version, predicted.revision)
    reason, name = write_class(None if classes else NO_LABELS), write_name(model)
    for device, row, event_id, time, partition, offset, timestamp_ms in zip(
        devices,
        predicted.rows,
        readings.event_ids,
        readings.event_times,
        readings.partitions,
        readings.offsets,
        readings.timestamps_ms,
        strict=True,
    ):
        *scores, margin, novelty, best, _ = row or NOTHING_KNOWN
        yield b"".join(
            (
                write_name(device) if device else name,
                write_maybe_text(event_id),
                write_maybe_long(time),
                write_class(classes[int(best)] if classes else None),
                reason,
                _scores(classes, scores),
                write_maybe_double(margin),
                write_maybe_double(novelty),
                of_model,
                NULL,  # its label is not known
                FALSE,  # nor is it late
                write_partition(readings.topic, partition),
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
