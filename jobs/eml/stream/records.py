"""The nouns of the stream: a record as it came, and what is said of it.

Made and read by everything between Kafka's bytes and the learner; they carry values and decide nothing. The key
stands outside, because every call is about one key. Times are milliseconds since 1970 UTC, as Kafka counts them.

Those that every record is given are not frozen, though nobody changes them: that would take four times as long.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from eml.core.report import Evolution, Stage
from eml.stream.models.drift import Drift
from eml.stream.models.recovery import RecoveryFigures

# Kinds of events on the evolution topic.
EVOLUTION = "evolution"  # the key is on another version, and its model with it
ANNOUNCED = "announced"  # the next version is known, and the model prepares for it
WITHDRAWN = "withdrawn"  # it is known no more
RESUMED = "resumed"  # the key went back to a version whose model was kept
RECOVERY = "recovery"  # how the model did after its last evolution
DRIFT = "drift"  # errors have become more frequent under the same version
WARM_START = "warm-start"  # a new key began with another key's model


@dataclass(slots=True)
class Position:
    """Where a record stands in Kafka."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int


@dataclass(slots=True)
class Moment:
    """When something happened to a key: at which record, and when that was measured, if it says so."""

    position: Position
    event_time: int | None


@dataclass(slots=True)
class Raw:
    """One record as it came."""

    value: bytes | None
    position: Position
    headers: Mapping[str, bytes | None]
    key: str = ""  # the Kafka key, one character per byte; empty: none
    device: str = ""  # the key's name, where a model has many devices; empty: that of the model


@dataclass(slots=True)
class Scored:
    """What one prediction says; the fields of `schemas/prediction.avsc`."""

    event_id: str | None
    event_time: int | None
    label: str | None
    reason: str | None  # why there is no label
    scores: Mapping[str, float]  # by class
    margin: float | None
    novelty: float | None
    stage: Stage
    schema_id: int
    schema_version: int
    model_revision: int
    truth: str | None  # the label that came inside the record
    late: bool  # of an older version than the key is on
    position: Position
    kafka_key: str = ""  # of the reading, one character per byte
    device: str = ""  # whose reading it is; empty: the model's own


@dataclass(frozen=True, slots=True)
class Evolved:
    """What one event on the evolution topic says; the fields of `schemas/evolution.avsc`, the learner's in `report`."""

    event_time: int | None
    old_schema_id: int
    old_version: int
    old_subject: str
    new_schema_id: int
    new_version: int
    new_subject: str
    report: Evolution
    stage: Stage  # before the switch
    batches: int  # learnt so far
    position: Position  # of the record at which it happened
    kind: str = EVOLUTION
    recovery: RecoveryFigures | None = None
    drift: Drift | None = None
    donor: str | None = None  # whose model a new key began with
    ignored: tuple[tuple[str, str], ...] = ()  # names of the new version's fields that are no features, and why
    warnings: tuple[str, ...] = ()  # what looks like a mistake in its fields
    categories: tuple[str, ...] = ()  # those of the new version's features that are categories


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that cannot be used, and why."""

    raw: Raw
    reason: str  # a short stable word
    error: str  # class name of the error
    message: str
    schema_id: int | None  # None where the record does not even name one
    of_key: bool = False  # its key is wrong, not its value
