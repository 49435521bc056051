"""Results as bytes for Kafka: predictions and evolution events as framed Avro.

Last stop in Python: the operator calls it with what `fleet` said; the tools read with it what the job wrote. Calls
`wire` for the frame. Knows the schemas under `schemas/`, but neither the registry (it is given the ids) nor topics.

fastavro takes 12 microseconds for a prediction of four classes, and there is one prediction per reading: this one
schema is written by hand, in 4 to 5. Readings come in runs of one key, with the same names again and again: small
caches keep the bytes of what repeats.
"""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache, lru_cache
from importlib import resources
from io import BytesIO
from typing import Any, cast

import fastavro

from eml.stream.avro.varints import write_varint
from eml.stream.records import Evolved, Scored
from eml.stream.wire import HEADER_SIZE, frame, unframe

PREDICTION = "prediction"
EVOLUTION = "evolution"

EVENT_BYTES = 524_288  # of an event, unless limits.event_bytes says otherwise
LENGTH_BYTES = 3  # before a text
REPEATED = 64  # names and numbers kept as bytes; more than the keys of a few micro-batches is not needed
NULL, SOME = b"\x00", b"\x02"  # branches of ["null", X]
FALSE, TRUE = b"\x00", b"\x01"
SOME_DOUBLE = struct.Struct("<Bd")


def schema_text(name: str) -> str:
    """The text of a schema under `schemas/`, to register it: `prediction`, `evolution`, `label`, `readings/v1`."""
    return resources.files("eml").joinpath("schemas", f"{name}.avsc").read_text(encoding="utf-8")


class Encoder:
    """Writes predictions and evolution events under the ids that the registry gave their schemas."""

    def __init__(self, prediction_schema_id: int, evolution_schema_id: int, event_bytes: int = EVENT_BYTES) -> None:
        self._prediction_frame = frame(prediction_schema_id, b"")
        self._evolution_schema_id = evolution_schema_id
        self._event_bytes = event_bytes

    def prediction(self, model: str, scored: Scored) -> bytes:
        """One prediction of a model; byte for byte what fastavro writes."""
        time, position = scored.event_time, scored.position
        return b"".join(
            (
                self._prediction_frame,
                _known_text(scored.device or model),
                _maybe_text(scored.event_id),
                NULL if time is None else SOME + _long(time),
                _known_maybe_text(scored.label),
                _known_maybe_text(scored.reason),
                _scores(scored.scores),
                _maybe_double(scored.margin),
                _maybe_double(scored.novelty),
                _model(scored.stage, scored.schema_id, scored.schema_version, scored.model_revision),
                _maybe_text(scored.truth),
                TRUE if scored.late else FALSE,
                _partition(position.topic, position.partition),
                _long(position.offset),
                _long(position.timestamp_ms),
                _known_text(model),
            )
        )

    def evolution(self, key: str, evolved: Evolved) -> bytes:
        """One evolution event; one that names more features than fit is shortened, and says so."""
        fields = _evolution_fields(key, evolved)
        payload = _written(EVOLUTION, fields)
        if len(payload) > self._event_bytes:
            payload = _written(EVOLUTION, _shortened(fields, self._event_bytes // 2))
        return frame(self._evolution_schema_id, payload)


def read_prediction(data: bytes) -> dict[str, object]:
    """The fields of a prediction that this release wrote; times in milliseconds."""
    return _read(PREDICTION, data)


def read_evolution(data: bytes) -> dict[str, object]:
    """The fields of an evolution event that this release wrote; times in milliseconds."""
    return _read(EVOLUTION, data)


# -- with fastavro -----------------------------------------------------------------------------------------------------


@cache
def _parsed(name: str) -> Any:  # noqa: ANN401  fastavro's own form
    """A schema without logical types: times stay numbers, for a date has no room for every long."""

    def plain(part: dict[str, object]) -> dict[str, object]:
        return {key: value for key, value in part.items() if key != "logicalType"}

    return fastavro.parse_schema(json.loads(schema_text(name), object_hook=plain))


def _read(name: str, data: bytes) -> dict[str, object]:
    unframe(data)
    fields = fastavro.schemaless_reader(BytesIO(data[HEADER_SIZE:]), _parsed(name), None)
    return cast("dict[str, object]", fields)  # a record is a dict


def _written(name: str, fields: Mapping[str, object]) -> bytes:
    payload = BytesIO()
    fastavro.schemaless_writer(payload, _parsed(name), fields)
    return payload.getvalue()


def _shortened(fields: Mapping[str, object], room: int) -> dict[str, object]:
    """An event's fields with as many feature names as fit into `room` bytes; what explains them is left out."""
    short = {
        **fields,
        "renamed": {},
        "takeovers": {},
        "ignored": [],
        "warnings": [],
        "categories": [],
        "shortened": True,
    }
    for name in ("vanished", "augmented", "returned", "survived"):
        kept = []
        for feature in cast("list[str]", fields[name]):
            room -= len(feature.encode()) + LENGTH_BYTES
            if room < 0:
                break
            kept.append(feature)
        short[name] = kept
    return short


def _evolution_fields(key: str, evolved: Evolved) -> dict[str, object]:
    report, position = evolved.report, evolved.position
    return {
        "key": key,
        "kind": evolved.kind,
        "event_time": evolved.event_time,
        "old_schema_id": evolved.old_schema_id,
        "old_version": evolved.old_version,
        "old_subject": evolved.old_subject,
        "new_schema_id": evolved.new_schema_id,
        "new_version": evolved.new_version,
        "new_subject": evolved.new_subject,
        "vanished": list(report.change.vanished),
        "survived": list(report.change.survived),
        "augmented": list(report.change.augmented),
        "returned": list(report.returned),
        "renamed": report.change.renamed,
        "takeovers": {name: {"share": kept.share, "by": kept.by} for name, kept in report.takeovers.items()},
        "stage": evolved.stage,
        "announced": report.announced,
        "warm": report.warm,
        "transform_steps": report.transform_steps,
        "batches": evolved.batches,
        "source_topic": position.topic,
        "source_partition": position.partition,
        "source_offset": position.offset,
        "source_timestamp": position.timestamp_ms,
        "recovery": asdict(evolved.recovery) if evolved.recovery is not None else None,
        "drift": asdict(evolved.drift) if evolved.drift is not None else None,
        "donor": evolved.donor,
        "ignored": [{"name": name, "reason": reason} for name, reason in evolved.ignored],
        "warnings": list(evolved.warnings),
        "categories": list(evolved.categories),
        "shortened": False,
    }


# -- by hand -----------------------------------------------------------------------------------------------------------


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
