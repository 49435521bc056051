"""Where the hostile cases happen: a registry that serves any text as a schema, and records that are no good.

Used by `cases` and by the soak. The registry is the small one of the unit tests: a real one would refuse to store most
of these schemas, but an older one, or another product, did not.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import fastavro

from eml.stream.wire import frame
from tests.hostile.expected import ENDS
from tests.integration.harness import BEGIN_MS
from tests.unit.stream.registry.registry_server import RegistryServer

Headers = Sequence[tuple[str, bytes | None]]
READINGS, LABELS = "readings", "labels"
NUMBERS = ("a", "b", "c")


@dataclass(frozen=True)
class Hostile:
    """A record to send, and how it may end."""

    case: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp_ms: int = BEGIN_MS
    topic: str = READINGS
    ends: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends", self.ends or ENDS[self.case])


def written(schema_id: int, text: str, fields: Mapping[str, object]) -> bytes:
    """A record as an honest writer sends it."""
    payload = BytesIO()
    fastavro.schemaless_writer(payload, fastavro.parse_schema(json.loads(text)), dict(fields))
    return frame(schema_id, payload.getvalue())


def reading_fields(*more: Mapping[str, Any], names: Sequence[str] = NUMBERS) -> list[Mapping[str, Any]]:
    """The fields of an ordinary reading, then `more`."""
    nullable = [{"name": each, "type": ["null", "string"]} for each in ("event_id", "label")]
    time = {"name": "event_time", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]}
    return [*nullable, time, *more, *({"name": each, "type": "double"} for each in names)]


def record_schema(fields: Sequence[Mapping[str, Any]], name: str = "Hostile") -> str:
    """The text of a record's schema."""
    return json.dumps({"type": "record", "name": name, "fields": list(fields)})


@dataclass
class Site:
    """A registry, the topic whose subject the schemas are of, and an ordinary schema that most cases use."""

    server: RegistryServer
    readings: str  # the topic
    labels: str = ""
    ordinary: int = 0
    _ids: "itertools.count[int]" = field(default_factory=lambda: itertools.count(101))
    _texts: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ordinary = self.schema(record_schema(reading_fields()))

    def schema(self, text: str, subject: str | None = None, schema_id: int | None = None) -> int:
        """Serve `text` under a new id; as the newest version of the readings' subject, unless another is named."""
        found = next(self._ids) if schema_id is None else schema_id
        self.server.add(found, text, (subject or f"{self.readings}-value", found))
        self._texts[found] = text
        return found

    def value(self, schema_id: int = 0, **fields: object) -> bytes:
        """A reading; without a schema id of the ordinary schema."""
        numbers = {name: 1.0 + number for number, name in enumerate(NUMBERS)}
        whole = {"event_id": None, "label": None, "event_time": None, **numbers, **fields}
        return written(schema_id or self.ordinary, self._texts[schema_id or self.ordinary], whole)


def key_of(case: str) -> bytes:
    """The key that a case has for itself."""
    return f"hostile-{case}".encode()


def hostile(case: str, *values: bytes | None, **more: Any) -> list[Hostile]:
    """Records of one case under its own key."""
    fields = {"key": key_of(case), **more}
    return [Hostile(case=case, value=value, **fields) for value in values]
