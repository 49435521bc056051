"""Hostile cases of schemas: what a registry may hand out, and records that name it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from eml.stream.avro.varints import write_long
from eml.stream.wire import frame
from tests.hostile.site import Hostile, Site, hostile, key_of, reading_fields, record_schema, written

DOUBLE = bytes(8)
WIDE = 2_000  # features of a schema that is allowed, and expensive


def records(site: Site) -> Iterator[Hostile]:
    """All of them."""
    for case, text in _refused():
        schema_id = site.schema(text)
        yield from hostile(case, frame(schema_id, DOUBLE), frame(schema_id, b""))
    yield from _odd(site)
    yield from _evolutions(site)


def _field(name: str, type_: object, **more: object) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


def _nested(depth: int) -> str:
    return '{"type":"array","items":' * depth + '"double"' + "}" * depth


def _expanding() -> list[Mapping[str, Any]]:
    """Records that hold the one before twice: 2^30 doubles when written out."""
    first = {"type": "record", "name": "R0", "fields": [_field("x", "double")]}
    fields: list[Mapping[str, Any]] = [_field("r0", first)]
    for number in range(1, 31):
        halves = [_field("left", f"R{number - 1}"), _field("right", f"R{number - 1}")]
        fields.append(_field(f"r{number}", {"type": "record", "name": f"R{number}", "fields": halves}))
    return fields


def _refused() -> Iterator[tuple[str, str]]:
    x = _field("x", "double")
    yield "schema-recursive", record_schema([x, _field("inner", ["null", "Hostile"])])
    yield "schema-recursive-through-an-array", record_schema([x, _field("l", {"type": "array", "items": "Hostile"})])
    yield "schema-6000-deep", f'{{"type":"record","name":"D","fields":[{{"name":"x","type":{_nested(6_000)}}}]}}'
    yield "schema-expands", record_schema(_expanding())
    nothing = {"type": "record", "name": "Nothing", "fields": []}
    yield "schema-zero-byte-items", record_schema([x, _field("l", {"type": "array", "items": nothing})])
    yield "schema-20000-fields", record_schema([_field(f"f{number}", "double") for number in range(20_000)])
    yield "schema-5000-features", record_schema([_field(f"f{number}", "double") for number in range(5_000)])
    yield "schema-duplicate-fields", record_schema([x, x])
    yield "schema-path-as-name", record_schema([x], name="../../x")
    yield "schema-path-as-field", record_schema([_field("../../x", "double")])
    yield "schema-of-3-megabytes", record_schema([_field("x", "double", doc="d" * 3_000_000)])
    yield "schema-not-json", '{"type": "record", '
    yield "schema-without-features", record_schema([_field("note", "string")])
    yield "label-of-type-double", record_schema([_field("label", "double"), x])
    inner = {"type": "record", "name": "L", "fields": [x]}
    yield "label-of-type-record", record_schema([_field("label", inner), x])
    yield "event-time-of-type-string", record_schema([_field("event_time", "string"), x])
    yield "event-id-of-type-bytes", record_schema([_field("event_id", "bytes"), x])
    yield "key-field-of-type-long", record_schema([_field("sensor_id", "long"), x])


def _odd(site: Site) -> Iterator[Hostile]:
    """Strange, but a device may send it."""
    deep: Any = 0.0
    for _ in range(40):
        deep = {"left": deep, "right": deep} if len(json.dumps(deep)) < 50_000 else deep
    text = record_schema(reading_fields(_field("r", ["null", "string"], default=deep)))
    case = "schema-defaults-expand"
    yield from hostile(case, frame(site.schema(text), b"\0\0\0\0" + bytes(24)))
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 2**31 - 1, "scale": 2**30}
    schema_id = site.schema(record_schema(reading_fields(_field("huge", decimal))))
    payload = b"\0\0\0" + write_long(100_000) + b"\xff" * 100_000 + bytes(24)
    yield from hostile("schema-huge-decimal", frame(schema_id, payload))
    surrogate = '{"type":"record","name":"S","fields":[{"name":"x","type":"double","doc":"\\ud800","aliases":[]}]}'
    yield from hostile("schema-lone-surrogate", frame(site.schema(surrogate), DOUBLE))
    yield from _wide(site)
    yield from _enums(site)


def _wide(site: Site) -> Iterator[Hostile]:
    names = [f"w{number}" for number in range(WIDE)]
    schema_id = site.schema(text := record_schema(reading_fields(names=names), "Wide"))
    for number in range(40):
        values = {name: float(number % 3 + index % 7) for index, name in enumerate(names)}
        fields = {"event_id": None, "event_time": None, "label": f"class-{number % 3}", **values}
        yield from hostile("schema-2000-features", written(schema_id, text, fields))


def _enums(site: Site) -> Iterator[Hostile]:
    """The same symbol at other places, symbols that come and go."""
    for symbols in (["fine", "worn"], ["worn", "fine", "dead"], ["dead"]):
        label = {"type": "enum", "name": "State", "symbols": symbols}
        text = record_schema([_field("label", label), _field("x", "double")], "Enums")
        schema_id = site.schema(text)
        for number in range(12):
            fields = {"label": symbols[number % len(symbols)], "x": float(number)}
            yield from hostile("enum-changes", written(schema_id, text, fields))
    negative = frame(schema_id, b"\x01" + DOUBLE)
    yield from hostile("enum-index-negative", negative)


def _evolutions(site: Site) -> Iterator[Hostile]:
    plain = [_field(name, "double") for name in "abc"]
    crossed = [_field("a", "double", aliases=["b"]), _field("b", "double", aliases=["a"]), plain[2]]
    twice = [_field("d", "double", aliases=["a"]), _field("e", "double", aliases=["a"]), plain[2]]
    for case, fields in (("renames-crossed", crossed), ("alias-twice", twice)):
        for version in (plain, fields):
            schema_id = site.schema(record_schema([_field("label", "string"), *version], case.replace("-", "_")))
            value = frame(schema_id, write_long(1) + b"l" + 3 * DOUBLE)
            yield from hostile(case, *[value] * 10, key=key_of(case))
    for subject in ("invoices-value", "heartbeats-value", "orders-value"):
        text = record_schema([_field("total", "double")], subject.partition("-")[0].title())
        yield from hostile("foreign-subjects", frame(site.schema(text, subject), DOUBLE))
