"""Events of the evolution topic: what they say, and their fields in `schemas/evolution.avsc`.

Made by `models.event_log`, written by `encoder`, counted by `flink.metrics`. Times are milliseconds since 1970 UTC.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import cast

from eml.core.report import Evolution, Stage
from eml.stream.keys import KeyName
from eml.stream.records import Position
from eml.stream.wire import SchemaId

# Kinds of events.
EVOLUTION = "evolution"  # the key is on another version, and its model with it
ANNOUNCED = "announced"  # the next version is known, and the model prepares for it
WITHDRAWN = "withdrawn"  # it is not expected any more
RESUMED = "resumed"  # the key went back to a version whose model was kept
RECOVERY = "recovery"  # how the model did after its last evolution
DRIFT = "drift"  # errors have become more frequent under the same version
WARM_START = "warm-start"  # a new key began with another key's model

LENGTH_BYTES = 3  # before a text


@dataclass(frozen=True, slots=True)
class RecoveryFigures:
    """What an evolution cost; the fields of `Recovery` in `schemas/evolution.avsc`."""

    scored: int  # readings under the new version whose labels came
    accuracy_before: float | None  # None: too few labels to tell
    first_records: int
    accuracy_first: float
    accuracy: float
    back_after: int | None  # scored readings until accuracy was back; None: not within the horizon
    cold_accuracy_first: float | None  # None: there was no fresh start to compare with
    regret: int | None  # right answers of the fresh start minus own: below 0, carrying over was worth it


@dataclass(frozen=True, slots=True)
class Drift:
    """The error rate has risen."""

    error_before: float
    error_after: float
    records_before: int  # labelled ones that show it
    records_after: int  # how many records ago it rose, most likely


@dataclass(frozen=True, slots=True)
class EvolutionEvent:
    """One event; what the learner says is in `report`."""

    event_time: int | None
    old_schema_id: SchemaId
    old_version: int
    old_subject: str
    new_schema_id: SchemaId
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
    views: Mapping[str, float] = field(default_factory=dict)  # share of each view of the model in its answers


def event_fields(model: KeyName, event: EvolutionEvent) -> dict[str, object]:
    """An event of a model, by the names of `schemas/evolution.avsc`."""
    return {
        "key": model,
        "kind": event.kind,
        "event_time": event.event_time,
        **_versions(event),
        **_changes(event.report),
        "stage": event.stage,
        "batches": event.batches,
        "source_topic": event.position.topic,
        "source_partition": event.position.partition,
        "source_offset": event.position.offset,
        "source_timestamp": event.position.timestamp_ms,
        "recovery": asdict(event.recovery) if event.recovery is not None else None,
        "drift": asdict(event.drift) if event.drift is not None else None,
        "donor": event.donor,
        "ignored": [{"name": name, "reason": reason} for name, reason in event.ignored],
        "warnings": list(event.warnings),
        "categories": list(event.categories),
        "views": dict(event.views),
        "shortened": False,
    }


def _versions(event: EvolutionEvent) -> dict[str, object]:
    names = ("old_schema_id", "old_version", "old_subject", "new_schema_id", "new_version", "new_subject")
    return {name: getattr(event, name) for name in names}


def _changes(report: Evolution) -> dict[str, object]:
    return {
        "vanished": list(report.change.vanished),
        "survived": list(report.change.survived),
        "augmented": list(report.change.augmented),
        "returned": list(report.returned),
        "renamed": report.change.renamed,
        "takeovers": {name: {"share": kept.share, "by": kept.by} for name, kept in report.takeovers.items()},
        "announced": report.announced,
        "warm": report.warm,
        "transform_steps": report.transform_steps,
    }


def shortened(fields: Mapping[str, object], room: int) -> dict[str, object]:
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
