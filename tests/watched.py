"""What a job writes about a fleet that never was: predictions, scores, evolutions, dead letters, as fields and bytes.

For the tests of the live page and for its measurement with 10,000 devices (`tests.bench.watch`). A device is upgraded
once, its model is bad for a while then, and a cold restart beside it is worse.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from eml.stream.output import schemas
from eml.stream.output.dead_letters import CONNECT, OWN
from eml.stream.wire import frame
from eml.watch.dead_letters import Arrived
from eml.watch.fleet_view import FleetView

BEGIN_MS = 1_763_270_000_000
CLASSES = ("healthy", "worn", "broken")
IDS = {1: 11, 2: 12, 3: 13}  # schema ids by version
SUBJECT = "readings-value"
STEADY, AFRESH, COLD = 0.92, 0.6, 0.45  # shares of right answers
AFRESH_RECORDS = 30  # after an upgrade
Fields = dict[str, Any]


def prediction(**given: object) -> Fields:
    """The fields of a prediction."""
    usual = {
        "key": "pump-1",
        "event_id": "pump-1/1",
        "event_time": None,
        "label": "worn",
        "reason": None,
        "scores": {"healthy": 0.125, "worn": 0.75, "broken": 0.125},
        "margin": 0.625,
        "novelty": 1.0,
        "stage": "steady",
        "schema_id": IDS[1],
        "schema_version": 1,
        "model_revision": 3,
        "truth": None,
        "late": False,
        "model": "pump-1",
        **_place(),
    }
    return usual | given


def score(**given: object) -> Fields:
    """The fields of a score."""
    usual = {
        "key": "pump-1",
        "model": "pump-1",
        "event_id": "pump-1/1",
        "event_time": None,
        "label": "worn",
        "truth": "worn",
        "right": True,
        "cold_label": None,
        "cold_right": None,
        "wait_ms": 0,
        "schema_id": IDS[1],
        "schema_version": 1,
        "model_revision": 3,
        **_place(),
    }
    return usual | given


def evolution(kind: str = "evolution", **given: object) -> Fields:
    """The fields of an event."""
    usual = {
        "key": "pump-1",
        "kind": kind,
        "event_time": None,
        "old_schema_id": IDS[1],
        "old_version": 1,
        "old_subject": SUBJECT,
        "new_schema_id": IDS[2],
        "new_version": 2,
        "new_subject": SUBJECT,
        "vanished": ["oil_pressure"],
        "survived": ["temperature", "speed"],
        "augmented": ["acoustic"],
        "returned": [],
        "renamed": {"speed": "rpm"},
        "takeovers": {"oil_pressure": {"share": 0.75, "by": "temperature"}},
        "stage": "steady",
        "announced": False,
        "warm": True,
        "transform_steps": 8,
        "batches": 40,
        "recovery": None,
        "drift": None,
        "donor": None,
        "ignored": [{"name": "note", "reason": "string"}],
        "warnings": [],
        "categories": [],
        "views": {},
        "shortened": False,
        **_place(),
    }
    return usual | given


def recovery(**figures: object) -> Fields:
    """The figures of an evolution."""
    usual = {
        "scored": 500,
        "accuracy_before": 0.9,
        "first_records": 100,
        "accuracy_first": 0.7,
        "accuracy": 0.85,
        "back_after": 120,
        "cold_accuracy_first": 0.5,
        "regret": -20,
    }
    views = {"survived": 0.25, "joint": 0.75}
    return evolution("recovery", old_version=2, old_schema_id=IDS[2], recovery=usual | figures, views=views)


def dead_letter_headers(reason: str = "truncated", offset: int = 7, message: str = "it ends early") -> dict[str, bytes]:
    """What the job writes with a dead letter."""
    said = {
        f"{CONNECT}topic": "readings",
        f"{CONNECT}partition": "0",
        f"{CONNECT}offset": str(offset),
        f"{CONNECT}stage": "VALUE_CONVERTER",
        f"{CONNECT}exception.class.name": "BadRecordError",
        f"{CONNECT}exception.message": message,
        f"{OWN}reason": reason,
        f"{OWN}timestamp": str(BEGIN_MS),
    }
    return {name: text.encode() for name, text in said.items()}


def framed(name: str, fields: Mapping[str, object], schema_id: int = 1) -> bytes:
    """The bytes in Kafka."""
    return frame(schema_id, schemas.write(name, fields))


def _place() -> Fields:
    place = {"source_topic": "readings", "source_partition": 0, "source_offset": 0, "source_timestamp": BEGIN_MS}
    return dict(place)


@dataclass(frozen=True, slots=True)
class Said:
    """One record of the job's."""

    topic: str  # predictions, scores, evolutions, dead-letters
    key: str
    time_ms: int
    fields: Fields  # headers of a dead letter


@dataclass(slots=True)
class SyntheticFleet:
    """Devices that take turns; each is upgraded at its own moment in the middle half of the records."""

    devices: int
    records: int  # readings in all
    begin_ms: int = BEGIN_MS
    per_s: float = 1_000.0
    labelled: float = 0.5
    scores: bool = True  # on a topic of their own; else labels stand in predictions
    dead: float = 0.001  # share of readings that cannot be used
    seed: int = 0
    _upgraded: dict[int, int] = field(default_factory=dict)  # device -> readings since

    def said(self) -> Iterator[Said]:
        """All that the job says, in time."""
        rng = random.Random(self.seed)  # noqa: S311  no secret
        for number in range(self.records):
            device = number % self.devices
            time_ms = self.begin_ms + int(number * 1000 / self.per_s)
            place = {
                "source_partition": device % 2,
                "source_offset": number // 2,
                "source_timestamp": time_ms,
            }
            key = f"pump-{device:05}"
            if rng.random() < self.dead:
                reason = rng.choice(("truncated", "bad-value", "unknown-schema"))
                yield Said("dead-letters", key, time_ms, dict(dead_letter_headers(reason, number // 2)))
                continue
            yield from self._reading(rng, number, device, key, {"key": key, "model": key, **place})

    def _reading(self, rng: random.Random, number: int, device: int, key: str, usual: Fields) -> Iterator[Said]:
        share = number / self.records
        time_ms = usual["source_timestamp"]
        event = {name: value for name, value in usual.items() if name != "model"}
        if device not in self._upgraded and share > 0.25 + 0.5 * device / self.devices:
            self._upgraded[device] = 0
            yield Said("evolutions", key, time_ms, evolution(**event))
        since = self._upgraded.get(device)
        if since is not None:
            self._upgraded[device] = since + 1
        if since == AFRESH_RECORDS:
            yield Said("evolutions", key, time_ms, recovery() | event)
        afresh = since is not None and since < AFRESH_RECORDS
        version = 1 if since is None else 2
        usual |= {"schema_id": IDS[version], "schema_version": version}
        truth = rng.choice(CLASSES)
        right = rng.random() < (AFRESH if afresh else STEADY)
        label = truth if right else CLASSES[CLASSES.index(truth) - 1]
        named = {"event_id": f"{key}/{number}", "label": label}
        labelled = rng.random() < self.labelled
        stage = "inheriting" if afresh else "steady"
        inside = {"truth": truth} if labelled and not self.scores else {}
        yield Said("predictions", key, time_ms, prediction(**usual, **named, stage=stage, **inside))
        if labelled and self.scores:
            cold = rng.random() < COLD if afresh else None
            yield Said("scores", key, time_ms, score(**usual, **named, truth=truth, right=right, cold_right=cold))


def fed(said: Iterable[Said], view: FleetView | None = None, letter: bytes = b"\0") -> FleetView:
    """The view, with what a job said; `letter` is the value of dead letters."""
    view = view or FleetView()
    for each in said:
        match each.topic:
            case "predictions":
                view.add_predictions([(each.fields, each.time_ms + 40, framed("prediction", each.fields))])
            case "scores":
                view.add_scores([(each.fields, each.time_ms + 40)])
            case "evolutions":
                view.add_evolutions([(each.fields, each.time_ms + 40)])
            case _:
                view.add_dead_letters([Arrived(each.key, letter, each.fields, each.time_ms, "dead-letters/0/1")])
    return view
