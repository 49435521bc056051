"""Readings of three signals through versions of a schema; what the tests of changes share."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as member
from functools import cache
from typing import Any

import fastavro
import numpy as np

from eml.core import LearnerConfig
from eml.settings import RecordSettings, Settings
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import Results
from eml.stream.output.events import EVOLUTION, EvolutionEvent
from eml.stream.records import Position, Raw
from eml.stream.wire import SchemaId, frame
from tests.unit.stream.avro.encoding import field, record

SETTINGS = Settings(learner=LearnerConfig(memory_size=128, rank=8, warm_up=32))
OLD, NEW = 63, 48  # records of each version; after 63 labels a window has just closed
Fields = Sequence[dict[str, Any]]

LABEL = field("label", ["null", "string"])
A, B, C = field("a", "double"), field("b", "double"), field("c", "double")
PLAIN = (LABEL, A, B, C)


def signals(count: int) -> list[dict[str, Any]]:
    """Readings that every numeric type can hold: `a` is 0 or 1, `b` and `c` are eighths."""
    dice = np.random.default_rng(0)
    made = []
    for number in range(count):
        state = int(dice.integers(2))
        b, c = np.round(8 * dice.normal((2 * state, -state))) / 8
        a = float(dice.random() < 0.2 + 0.6 * state)
        made.append({"a": a, "b": float(b), "c": float(c), "label": state, "event_id": number, "event_time": number})
    return made


SIGNALS = signals(200)


@dataclass(frozen=True, eq=False)
class Version:
    """A schema, and which signal each of its fields holds where it is not the one of its (last) name."""

    fields: Fields
    holds: Mapping[str, str] = member(default_factory=dict)
    name: str = "Reading"
    more: Mapping[str, Any] = member(default_factory=dict)  # beside the fields

    @property
    def schema(self) -> dict[str, Any]:
        return {**record(*self.fields, name=self.name), **self.more}

    def write(self, schema_id: int, signal: Mapping[str, Any]) -> bytes:
        payload = io.BytesIO()
        fastavro.schemaless_writer(payload, fastavro.parse_schema(self.schema), self._filled(self.fields, signal, ""))
        return frame(schema_id, payload.getvalue())

    def _filled(self, fields: Fields, signal: Mapping[str, Any], prefix: str) -> dict[str, Any]:
        filled = {}
        for each in fields:
            name, type_ = prefix + each["name"], each["type"]
            if isinstance(type_, list):
                type_ = next(branch for branch in type_ if branch != "null")
            if isinstance(type_, dict) and type_["type"] == "record":
                filled[each["name"]] = self._filled(type_["fields"], signal, f"{name}.")
            else:
                filled[each["name"]] = _as(type_, signal[self.holds.get(name, each["name"])])
        return filled


FIRST = Version(PLAIN)


def _as(type_: Any, number: float) -> Any:
    """A signal as a value of a type; a label is the state's name in words and its number in numbers."""
    kind = type_["type"] if isinstance(type_, dict) else type_
    if kind == "enum":
        return type_.get("meant", type_["symbols"])[int(number)]
    kinds = {"boolean": bool, "int": int, "long": int, "float": float, "double": float, "string": str}
    return kinds[kind](number)


@cache
def run(*versions: tuple[Version, int]) -> Results:
    """So many records of each version, one after another; kept, as many tests compare with the same."""
    raws: list[Raw] = []
    schemas: dict[int, ReadingSchema] = {}
    for number, (version, count) in enumerate(versions, start=1):
        text = json.dumps(version.schema)
        schemas[10 * number] = compile_schema(text, SchemaId(10 * number), "readings-value", number, RecordSettings())
        for offset in range(len(raws), len(raws) + count):
            value = version.write(10 * number, SIGNALS[offset])
            raws.append(Raw(value, Position("readings", 0, offset, 1000 * offset), {}))
    return KeyModel(KeyName("pump"), SETTINGS).step(raws, schemas.__getitem__)


def switched(results: Results) -> list[EvolutionEvent]:
    """The evolutions among the events."""
    return [event for event in results.evolutions if event.kind == EVOLUTION]


def answers(results: Results) -> list[tuple[str | None, dict[str, float]]]:
    """What is said of each record, but for what names its schema."""
    assert not results.dead_letters
    return [(scored.label, dict(scored.scores)) for scored in results.predictions]


def nested(name: str, *fields: dict[str, Any], **more: object) -> dict[str, Any]:
    return field(name, record(*fields, name=name.capitalize()), **more)
