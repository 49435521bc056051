"""A synthetic device with as many sensors as a test wants: versions are lists of names, and classes are well apart."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO

import fastavro
import numpy as np

from eml.stream.wire import frame

CLASSES = ("idle", "busy", "broken")


def reading_schema(names: Sequence[str], name: str = "Reading", **marks: Mapping[str, object]) -> str:
    """A schema with these features; `marks` are further properties of a field (aliases, eml.retiring)."""
    features = [{"name": each, "type": "double", **marks.get(each, {})} for each in names]
    reserved = [
        {"name": "event_id", "type": ["null", "string"], "default": None},
        {"name": "label", "type": ["null", "string"], "default": None},
    ]
    return json.dumps({"type": "record", "name": name, "namespace": "test", "fields": reserved + features})


def label_value(schema_id: int, text: str, event_id: str, label: str, key: str = "pump") -> bytes:
    """A record of the labels topic."""
    return _written(schema_id, text, {"key": key, "event_id": event_id, "label": label, "event_time": None})


def _written(schema_id: int, text: str, fields: Mapping[str, object]) -> bytes:
    payload = BytesIO()
    fastavro.schemaless_writer(payload, fastavro.parse_schema(json.loads(text)), dict(fields))
    return frame(schema_id, payload.getvalue())


@dataclass
class Device:
    """Every sensor has a level of its own for each class; readings scatter around it."""

    seed: int = 0
    scatter: float = 0.6
    classes: Sequence[str] = CLASSES
    sent: int = 0
    _levels: dict[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def level(self, sensor: str, state: str) -> float:
        """The same for all devices."""
        digits = [ord(letter) for letter in f"{sensor}/{state}"]
        return self._levels.setdefault((sensor, state), float(np.random.default_rng(digits).normal()))

    def value(
        self, schema_id: int, text: str, names: Sequence[str], *, labelled: bool = True, state: str | None = None
    ) -> tuple[bytes, str, str]:
        """A record's value, its event id and its class."""
        state = state or str(self._rng.choice(list(self.classes)))
        event_id = f"{self.seed}-{self.sent}"
        self.sent += 1
        values = {name: self.level(name, state) + self.scatter * float(self._rng.normal()) for name in names}
        fields = {"event_id": event_id, "label": state if labelled else None, **values}
        return _written(schema_id, text, fields), event_id, state
