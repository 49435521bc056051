"""Predictions of the prediction topic: what one says, and its bytes.

Made by `models.micro_batch`, one per reading, and written by `encoder`. fastavro takes 12 microseconds for a prediction
of four classes: this one schema is written by hand, in 4 to 5. Readings come in runs of one key, with the same names
again and again: small caches keep the bytes of what repeats.

A prediction is not frozen, though nobody changes it: that would take four times as long.
"""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from eml.core.report import Stage
from eml.stream.avro.varints import write_varint
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.records import NO_KAFKA_KEY, NO_KEY_NAME, Position
from eml.stream.wire import SchemaId

REPEATED = 64  # names and numbers kept as bytes; more than the keys of a few micro-batches is not needed
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


def prediction_payload(model: KeyName, prediction: Prediction) -> bytes:
    """One prediction of a model, byte for byte what fastavro writes."""
    time, position = prediction.event_time, prediction.position
    return b"".join(
        (
            _known_text(prediction.device or model),
            _maybe_text(prediction.event_id),
            NULL if time is None else SOME + _long(time),
            _known_maybe_text(prediction.label),
            _known_maybe_text(prediction.reason),
            _scores(prediction.scores),
            _maybe_double(prediction.margin),
            _maybe_double(prediction.novelty),
            _model(prediction.stage, prediction.schema_id, prediction.schema_version, prediction.model_revision),
            _maybe_text(prediction.truth),
            TRUE if prediction.late else FALSE,
            _partition(position.topic, position.partition),
            _long(position.offset),
            _long(position.timestamp_ms),
            _known_text(model),
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


_known_text = lru_cache(maxsize=REPEATED)(_text)
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


def _scores(scores: Mapping[str, float]) -> bytes:
    if not scores:
        return NULL
    layout, arguments = _map_layout(tuple(scores))
    filled = arguments.copy()
    filled[1::2] = scores.values()
    return layout.pack(*filled)
