"""Records of random schemas, encoded by fastavro; what the tests of the decoder share."""

import io
import json
import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import fastavro
import numpy as np
from hypothesis import strategies as st

from eml.core.hashed_symbols import hash_symbol
from eml.settings import RecordSettings
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.wire import SchemaId

SETTINGS = RecordSettings()
MISSING = replace(SETTINGS, non_finite="missing")

KEY = {"name": "sensor_id", "type": "string"}
EVENT_ID = {"name": "event_id", "type": "string"}
EVENT_TIME = {"name": "event_time", "type": {"type": "long", "logicalType": "timestamp-millis"}}
LABEL = {"name": "label", "type": ["null", "string"]}
FEATURES = ("int", "long", "float", "double", "boolean")
# Numbers around every change of length and sign.
WHOLE = {
    "int": [0, -1, 1, 63, -64, 64, 8191, -8193, 2**27, 2**31 - 1, -(2**31)],
    "long": [0, -1, 63, -64, 64, 2**31, -(2**31) - 1, 2**62, 2**63 - 1, -(2**63)],
}
REAL = {
    "double": [0.0, -0.0, 1.5, -2.25, 5e-324, 1.7e308, -1e-300],
    "float": [0.0, -0.0, 1.5, -2.25, 1.401298464324817e-45, 3.4028234663852886e38],
}


def field(name: str, type_: object, **more: object) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


def record(*fields: Mapping[str, object], name: str = "Reading") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def compiled(schema: object, settings: RecordSettings = SETTINGS) -> ReadingSchema:
    return compile_schema(json.dumps(schema), SchemaId(7), "readings-value", 3, settings)


def encoded(schema: Mapping[str, Any], *records: Mapping[str, object], start: int = 0) -> list[bytes]:
    parsed, values = fastavro.parse_schema(dict(schema)), []
    for each in records:
        buffer = io.BytesIO()
        buffer.write(bytes(start))
        fastavro.schemaless_writer(buffer, parsed, dict(each))
        values.append(buffer.getvalue())
    return values


def fastavro_reads(schema: Mapping[str, Any], payload: bytes) -> tuple[dict[str, Any], int]:
    """What fastavro makes of a payload, and how many bytes it leaves."""
    # Without logical types: not every int is a date.
    plain = json.loads(
        json.dumps(schema), object_hook=lambda part: {k: v for k, v in part.items() if k != "logicalType"}
    )
    buffer = io.BytesIO(payload)
    found = fastavro.schemaless_reader(buffer, fastavro.parse_schema(plain), None)
    return dict(found), len(payload) - buffer.tell()  # type: ignore[arg-type]


def flat(found: Mapping[str, Any], names: Sequence[str], categories: Collection[str] = ()) -> list[float]:
    """The features of a record as read elsewhere, by their dotted names."""
    row = []
    for name in names:
        value: Any = found
        for part in name.split("."):
            value = value[part]
        row.append(math.nan if value is None else _number(value, category=name in categories))
    return row


def _number(value: Any, *, category: bool) -> float:
    """A value as the learner sees it; of a category the number of its text, which is as labels have it."""
    if not category:
        return float(value)
    return hash_symbol(str(value).lower() if isinstance(value, bool) else str(value))


def same(got: object, want: object) -> bool:
    """Equal, with NaN in the same places."""
    return bool(np.array_equal(np.asarray(got, dtype=float), np.asarray(want, dtype=float), equal_nan=True))


@dataclass(frozen=True)
class Batch:
    """A schema and records it wrote."""

    schema: dict[str, Any]
    records: list[dict[str, Any]]
    names: list[str]  # features, in order
    categories: list[str]
    ignored: int


class _Maker:
    """Draws a schema, then values for it."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.names: list[str] = []
        self.categories: list[str] = []
        self.ignored = 0
        self._made = 0
        self._named: dict[str, dict[str, Any]] = {}

    def fresh(self, letter: str) -> str:
        self._made += 1
        return f"{letter}{self._made}"

    def fields(self, prefix: str, level: int) -> list[dict[str, Any]]:
        """Runs of fields of one type, some records, some that are ignored."""
        made = []
        for _ in range(self.dice.randint(1, 4)):
            type_ = self._type(level)
            for _ in range(self.dice.choice((1, 1, 2, 5, 12))):
                name = self.fresh("f")
                if type_ == "record":
                    made.append(field(name, record(*self.fields(f"{prefix}{name}.", level + 1), name=self.fresh("R"))))
                    break
                declared = self.dice.choice((None, None, None, True, False))
                self._count(prefix + name, type_, declared=declared)
                made.append(
                    field(name, type_) if declared is None else field(name, type_, **{"eml.category": declared})
                )
                type_ = [self._by_name(branch) for branch in type_] if isinstance(type_, list) else self._by_name(type_)
        return made

    def _by_name(self, type_: Any) -> Any:
        """A type that was written out once, as it is from then on."""
        if not isinstance(type_, dict) or "name" not in type_:
            return type_
        self._named[type_["name"]] = type_
        return type_["name"]

    def _type(self, level: int) -> Any:
        kind = self.dice.choice((*FEATURES, self._enum()))
        choices: list[Any] = [kind, kind, ["null", kind], [kind, "null"], self._other()]
        return self.dice.choice([*choices, "record"] if level < 3 else choices)

    def _other(self) -> Any:
        size = self.dice.randint(0, 3)
        return self.dice.choice(
            [
                "string",
                "bytes",
                "null",
                {"type": "array", "items": self.dice.choice(["int", "double", "string", ["null", "long"]])},
                {"type": "map", "values": self.dice.choice(["boolean", "float", {"type": "array", "items": "bytes"}])},
                ["null", "string", "double"],
                {"type": "int", "logicalType": "date"},
                {"type": "long", "logicalType": "time-micros"},
                {"type": "fixed", "name": self.fresh("F"), "size": size},
            ]
        )

    def _enum(self) -> Any:
        if self._named and self.dice.random() < 0.3:
            return self.dice.choice(list(self._named))  # of other fields: an enum or a fixed
        count = self.dice.choice((1, 3, 64, 65, 200))
        return {"type": "enum", "name": self.fresh("E"), "symbols": [f"s{n}" for n in range(count)]}

    def _count(self, name: str, type_: Any, *, declared: bool | None) -> None:
        branches = type_ if isinstance(type_, list) else [type_]
        kind, *more = [self._kind(branch) for branch in branches if branch != "null"] or ["null"]
        symbolic = kind in ("enum", "string", "int", "long", "boolean", "time") and not more
        if symbolic and (declared or (declared is None and kind == "enum")):
            self.names.append(name)
            self.categories.append(name)
        elif kind in FEATURES and not more:
            self.names.append(name)
        else:
            self.ignored += 1

    def _kind(self, type_: Any) -> str:
        described = self._named.get(type_, type_) if isinstance(type_, str) else type_
        if isinstance(described, str):
            return described
        return "time" if "logicalType" in described else str(described["type"])

    def value(self, type_: Any) -> Any:
        dice = self.dice
        if isinstance(type_, list):
            return self.value(dice.choice(type_))
        if isinstance(type_, str):
            type_ = self._named.get(type_, type_)
        if isinstance(type_, dict):
            return self._complex_value(type_)
        return {
            "null": lambda: None,
            "boolean": lambda: dice.random() < 0.5,
            "int": lambda: dice.choice(WHOLE["int"]),
            "long": lambda: dice.choice(WHOLE["long"]),
            "float": lambda: float(np.float32(dice.choice([*REAL["float"], dice.gauss(0, 1)]))),
            "double": lambda: dice.choice([*REAL["double"], dice.gauss(0, 1)]),
            "string": lambda: dice.choice(["", "x", "grün 👍", "long" * 40]),
            "bytes": lambda: dice.randbytes(dice.choice((0, 1, 70))),
        }[type_]()

    def _complex_value(self, type_: dict[str, Any]) -> Any:
        match type_["type"]:
            case "record":
                return {member["name"]: self.value(member["type"]) for member in type_["fields"]}
            case "array":
                return [self.value(type_["items"]) for _ in range(self.dice.randint(0, 3))]
            case "map":
                return {f"k{n}": self.value(type_["values"]) for n in range(self.dice.randint(0, 3))}
            case "fixed":
                return self.dice.randbytes(type_["size"])
            case "enum":
                return self.dice.choice(type_["symbols"])
            case primitive:
                return self.dice.randint(0, 80_000) if "logicalType" in type_ else self.value(primitive)


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """A schema with at least one feature, and up to five records of it."""
    maker = _Maker(random.Random(draw(st.integers(0, 2**32))))  # noqa: S311  a repeatable choice
    fields = [*maker.fields("", 1), field("last", "double")]
    maker.names.append("last")
    schema = record(*fields)
    records = [maker.value(schema) for _ in range(draw(st.integers(0, 5)))]
    return Batch(schema, records, maker.names, maker.categories, maker.ignored)
