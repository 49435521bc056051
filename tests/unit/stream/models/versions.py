"""Keys between versions, and what the tests of routing, announcements, scoring and warm starts ask of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Literal

import numpy as np

from eml.core import EvolvingMetricLearner
from eml.settings import LearningSettings, RecordSettings, Settings
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.keys import KeyName
from eml.stream.models import state_codec
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import Results
from eml.stream.records import Position, Raw
from eml.stream.wire import SchemaId
from tests.synthetic import Device, reading_schema
from tests.unit.stream.models.test_key_model import SCHEMAS, SETTINGS, keep, look_up

QUICK = replace(SETTINGS, learning=LearningSettings(recovery_records=40))


def newest(version: int):
    """A registry whose newest version is this one."""
    return lambda _: SCHEMAS[10 * version]


def steps(pieces: Sequence[tuple[Sequence[Raw], int]], settings: Settings = SETTINGS, *, reload: bool = False):
    """Micro-batches, each with the newest version that is registered by then."""
    model, parts, together = KeyModel(KeyName("pump"), settings), state_codec.StateParts(), Results()
    for raws, version in pieces:
        results = model.step(raws, look_up, newest(version))
        together.predictions += results.predictions
        together.evolutions += results.evolutions
        keep(parts, model)
        if reload:
            model = state_codec.load(KeyName("pump"), settings, parts)
    return together


def kinds(results: Results) -> list[tuple[str, int]]:
    return [(event.kind, event.position.offset) for event in results.evolutions]


def retiring_schema() -> ReadingSchema:
    """Version 1 with the feature marked that version 2 lacks."""
    return replace(SCHEMAS[10], retiring=frozenset({"oil_pressure"}))


def marked(
    names: Sequence[str], retiring: Sequence[str] = (), version: int = 1, **more: Mapping[str, object]
) -> ReadingSchema:
    """A schema of version and id `version`, with features that are marked as retiring."""
    marks: dict[str, Mapping[str, object]] = {name: {"eml.retiring": True} for name in retiring}
    text = reading_schema(names, "Reading", **marks, **more)
    return compile_schema(text, SchemaId(version), "s-value", version, RecordSettings())


def events_of(
    schemas: Sequence[ReadingSchema], registered: Sequence[ReadingSchema | None] = ()
) -> list[tuple[str, int, str]]:
    """Kind, version and stage afterwards of each event, where a device goes through versions of the same features."""
    model, device, told = KeyModel(KeyName("pump"), SETTINGS), Device(), list[tuple[str, int, str]]()
    for schema, heard in zip_longest(schemas, registered):
        names = schema.space.names
        raws = []
        for _ in range(150):
            value, _, _ = device.value(schema.id, reading_schema(names), names)
            raws.append(Raw(value, Position("readings", 0, device.sent, 1000 * device.sent), {}))
        results = model.step(raws, {one.id: one for one in schemas}.__getitem__, {"s-value": heard}.get)
        told += [(event.kind, event.new_version, results.predictions[-1].stage) for event in results.evolutions]
    return told


NAMES = ("a", "b", "c", "d")


def in_cuts(raws: Sequence[Raw], schemas: dict[int, ReadingSchema], cut: int, settings: Settings = SETTINGS) -> Results:
    model, together = KeyModel(KeyName("pump"), settings), Results()
    for start in range(0, len(raws), cut):
        results = model.step(raws[start : start + cut], schemas.__getitem__)
        together.predictions += results.predictions
        together.evolutions += results.evolutions
    return together


class Fleet:
    """A device whose versions have the sensors a test wants."""

    def __init__(self, *versions: Sequence[str], settings: Settings = QUICK) -> None:
        self.names = dict(enumerate(versions, start=1))
        self.texts = {version: reading_schema(names) for version, names in self.names.items()}
        self.schemas = {
            version: compile_schema(text, SchemaId(version), "s-value", version, RecordSettings())
            for version, text in self.texts.items()
        }
        self.device = Device()
        self.settings, self.model = settings, KeyModel(KeyName("pump"), settings)

    def send(self, version: int, count: int, state: str | None = None, *, labelled: bool = True) -> Results:
        raws = []
        names = self.names[version]
        for _ in range(count):
            value, _, _ = self.device.value(version, self.texts[version], names, state=state, labelled=labelled)
            number = self.device.sent - 1
            raws.append(Raw(value, Position("readings", 0, number, 1000 * number), {}))
        return self.model.step(raws, self.schemas.__getitem__)


def accuracy(results: Results) -> float:
    return float(np.mean([said.label == said.truth for said in results.predictions]))


def scattered(horizon: int, *, cold_restart: bool = True) -> Fleet:
    """A device whose classes lie close enough to be mistaken, at the end of its first version."""
    learning = LearningSettings(recovery_records=horizon, cold_restart=cold_restart)
    settings = replace(SETTINGS, learning=learning)
    fleet = Fleet(["a", "b", "c", "d"], ["b", "c", "d", "e"], settings=settings)
    fleet.device.scatter = 1.2
    fleet.send(1, 120)
    return fleet


def head_of(fleet: Fleet) -> EvolvingMetricLearner:
    lines = fleet.model.state.models
    assert lines is not None
    return lines.current.learner


def drifting(how: Literal["off", "report", "step", "memory"]) -> tuple[Results, Results]:
    fleet = Fleet(["a", "b", "c", "d"], settings=replace(SETTINGS, learning=LearningSettings(drift=how)))
    fleet.send(1, 400)
    fleet.device._levels = {(s, c): -level for (s, c), level in fleet.device._levels.items()}
    return fleet.send(1, 150), fleet.send(1, 150)
