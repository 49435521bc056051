"""Predictions of the prediction topic: what one says, and its bytes.

Made by `models.micro_batch`, one per reading, and written by `encoder`. fastavro takes 12 microseconds for a prediction
of four classes: this one schema is written by hand, in 4 to 5. Readings come in runs of one key, with the same names
again and again: small caches keep the bytes of what repeats.

A prediction is not frozen, though nobody changes it: that would take four times as long.
"""

import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from eml.core.report import NO_LABELS, Label, Stage
from eml.stream.avro.micro_batch import ReadingColumns
from eml.stream.avro.varints import write_varint
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.records import NO_KAFKA_KEY, NO_KEY_NAME, Position
from eml.stream.wire import SchemaId

REPEATED = 64  # labels and numbers kept as bytes
NAMES = 16_384  # of models and devices kept as bytes: those of a task come again and again
NOTHING_KNOWN = (None, math.inf, 0.0, 0.0)  # margin, novelty and classes before the first label
NULL, SOME = b"\x00", b"\x02"  # branches of ["null", X]
FALSE, TRUE = b"\x00", b"\x01"
SOME_DOUBLE = struct.Struct("<Bd")


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
            _name(prediction.device or model),
            _maybe_text(prediction.event_id),
            NULL if time is None else SOME + _long(time),
            _known_maybe_text(prediction.label),
            _known_maybe_text(prediction.reason),
            _scores(tuple(prediction.scores), prediction.scores.values()),
            _maybe_double(prediction.margin),
            _maybe_double(prediction.novelty),
            _model(prediction.stage, prediction.schema_id, prediction.schema_version, prediction.model_revision),
            _maybe_text(prediction.truth),
            TRUE if prediction.late else FALSE,
            _partition(position.topic, position.partition),
            _long(position.offset),
            _long(position.timestamp_ms),
            _name(model),
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
    reason, name = _known_maybe_text(None if classes else NO_LABELS), _name(model)
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
                _name(device) if device else name,
                _maybe_text(event_id),
                NULL if time is None else SOME + _long(time),
                _known_maybe_text(classes[int(best)] if classes else None),
                reason,
                _scores(classes, scores),
                _maybe_double(margin),
                _maybe_double(novelty),
                of_model,
                NULL,  # its label is not known
                FALSE,  # nor is it late
                _partition(readings.topic, partition),
                _long(offset),
                _long(timestamp_ms),
                name,
            )
        )


_varint = lru_cache(maxsize=1024)(write_varint)


def _long(number: int) -> bytes:
    """An int or a long: zigzag, so that small negative numbers are short, too."""
    zigzag = number << 1 if number >= 0 else ~(number << 1)
    if zigzag < 1 << 14:
        return _varint(zigzag)
    # Times and offsets: the lowest two bytes change from record to record, the others repeat.
    return bytes((zigzag & 127 | 128, zigzag >> 7 & 127 | 128)) + _varint(zigzag >> 14)


def _text(text: str) -> bytes:
    data = text.encode()
    return _long(len(data)) + data


def _maybe_text(text: str | None) -> bytes:
    return NULL if text is None else SOME + _text(text)


_name = lru_cache(maxsize=NAMES)(_text)
_known_maybe_text = lru_cache(maxsize=REPEATED)(_maybe_text)


def _maybe_double(number: float | None) -> bytes:
    """JSON readers know no infinity: what is not finite is null."""
    return NULL if number is None or not math.isfinite(number) else SOME_DOUBLE.pack(2, number)


@lru_cache(maxsize=REPEATED)
def _model(stage: str, schema_id: int, schema_version: int, revision: int) -> bytes:
    return _text(stage) + _long(schema_id) + _long(schema_version) + _long(revision)


@lru_cache(maxsize=REPEATED)
def _partition(topic: str, partition: int) -> bytes:
    return _text(topic) + _long(partition)


@lru_cache(maxsize=REPEATED)
def _map_layout(names: tuple[str, ...]) -> tuple[struct.Struct, list[bytes | float]]:
    """A map of doubles as one struct, and its arguments with room for the doubles."""
    texts = [_text(name) for name in names]
    texts[0] = _long(len(names)) + texts[0]
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
