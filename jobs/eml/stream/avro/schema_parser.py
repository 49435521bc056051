"""From the text of an Avro schema to a tree of types: checked and measured before anything is built from it.

`reading_schema` parses every writer schema here once, when it arrives, and `key_schema` that of a key. Knows the rules
of Avro and our limits, not what a field means. Schemas may be hostile, so a named type is one object wherever it is
used, and its size written out is counted, not made. Only what a writer did is read: no default, no doc.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from eml.settings import RecordSettings
from eml.stream.avro.types import LEAST_BYTES, LONGEST_NAME, PRIMITIVES, Field, Type, shown, unsupported
from eml.stream.errors import BadSchemaError

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
UNNAMED = {*PRIMITIVES, "array", "map"}  # may stand in a union once


def parse(text: str, settings: RecordSettings) -> Type:
    """The record that a schema text describes."""
    root = parse_type(text, settings)
    if root.kind != "record":
        raise unsupported(f"a reading must be a record, not {root.kind}")
    return root


def parse_type(text: str, settings: RecordSettings) -> Type:
    """The type that a schema text describes."""
    if max(len(text), len(text.encode(errors="replace"))) > settings.max_schema_bytes:
        raise unsupported(f"the schema is longer than {settings.max_schema_bytes} bytes (record.max_schema_bytes)")
    try:
        return _Parser(settings).type(json.loads(text), "", 0)
    except BadSchemaError:
        raise
    except (ValueError, RecursionError) as error:  # the second also where record.max_depth allows too much
        raise unsupported(f"the schema cannot be read as JSON ({type(error).__name__})") from None


def _checked_name(name: object) -> str:
    """`name` if it is one by Avro's rule."""
    if not isinstance(name, str) or len(name) > LONGEST_NAME or not NAME.fullmatch(name):
        raise unsupported(f"{shown(name)} is no name: letters, digits and _, at most {LONGEST_NAME} of them")
    return name


def _checked_names(names: object, what: str) -> tuple[str, ...]:
    """`names` if it is a list of names."""
    if not isinstance(names, list):
        raise unsupported(f"{what} must be a list, not {shown(names)}")
    return tuple(_checked_name(name) for name in names)


def _refuse_twice(names: Iterable[str], what: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise unsupported(f"{what} must differ; twice: {shown(twice)}")


class _Parser:
    """Parses one schema; `level` counts the records, arrays and maps around a type, which bounds our own stack."""

    def __init__(self, settings: RecordSettings) -> None:
        self._max_depth = settings.max_depth
        self._max_nodes = settings.max_nodes
        self._named: dict[str, Type | None] = {}  # by full name; None while its own definition is being read

    def type(self, schema: object, namespace: str, level: int) -> Type:
        if isinstance(schema, str):
            return self._by_name(schema, namespace)
        if isinstance(schema, list):
            return self._union(schema, namespace, level)
        if isinstance(schema, dict):
            return self._measured(self._described(schema, namespace, level))
        raise unsupported(f"{shown(schema)} is no type")

    def _measured(self, made: Type) -> Type:
        if made.height > self._max_depth:
            raise unsupported(f"nested more than {self._max_depth} deep (record.max_depth)")
        if made.nodes > self._max_nodes:
            raise unsupported(f"more than {self._max_nodes} types when written out (record.max_nodes)")
        return made

    def _by_name(self, name: str, namespace: str) -> Type:
        if name in PRIMITIVES:
            return PRIMITIVES[name]
        full = f"{namespace}.{name}" if namespace and "." not in name else name
        if full not in self._named:
            raise unsupported(f"{shown(full)} is neither a type of Avro nor defined before it is used")
        named = self._named[full]
        if named is None:
            raise unsupported(f"{shown(full)} contains itself; a reading has a fixed set of features")
        return named

    def _described(self, schema: dict[str, Any], namespace: str, level: int) -> Type:
        kind = schema.get("type")
        if not isinstance(kind, str):
            raise unsupported(f"{shown(kind)} is no name of a type")
        if kind in ("record", "enum", "fixed"):
            return self._definition(kind, schema, namespace, level)
        if kind in ("array", "map"):
            return self._collection(kind, schema, namespace, level)
        if kind in PRIMITIVES:
            logical = schema.get("logicalType")
            return Type(kind, LEAST_BYTES[kind], logical=logical if isinstance(logical, str) else None)
        return self._by_name(kind, namespace)

    def _definition(self, kind: str, schema: dict[str, Any], namespace: str, level: int) -> Type:
        full = _full_name(schema, namespace)
        if full in self._named:
            raise unsupported(f"{shown(full)} is defined twice")
        self._named[full] = None
        made = self._record(schema, full, level) if kind == "record" else _enum_or_fixed(kind, schema)
        self._named[full] = self._measured(made)
        return made

    def _record(self, schema: dict[str, Any], name: str, level: int) -> Type:
        namespace = name.rpartition(".")[0]
        described = schema.get("fields")
        if not isinstance(described, list) or len(described) > self._max_nodes:
            raise unsupported(f"a record needs a list of at most {self._max_nodes} fields (record.max_nodes)")
        self._enter(level)
        fields = tuple(self._field(field, namespace, level + 1) for field in described)
        _refuse_twice((field.name for field in fields), "field names of a record")
        return Type(
            "record",
            least=sum(field.type.least for field in fields),
            nodes=1 + sum(field.type.nodes for field in fields),
            height=1 + max((field.type.height for field in fields), default=0),
            fields=fields,
            name=name,
        )

    def _field(self, schema: object, namespace: str, level: int) -> Field:
        if not isinstance(schema, dict):
            raise unsupported(f"{shown(schema)} is no field")
        name = _checked_name(schema.get("name"))
        aliases = _checked_names(schema.get("aliases", []), "aliases of a field")
        retiring, category = schema.get("eml.retiring") is True, schema.get("eml.category")
        type_ = self.type(schema.get("type"), namespace, level)
        declared = category if isinstance(category, bool) else None
        return Field(name, type_, tuple(dict.fromkeys(aliases)), retiring, declared)

    def _collection(self, kind: str, schema: dict[str, Any], namespace: str, level: int) -> Type:
        self._enter(level)
        items = self.type(schema.get("items" if kind == "array" else "values"), namespace, level + 1)
        if items.least == 0:  # a few bytes could claim any number of them
            raise unsupported(f"the items of this {kind} take no bytes, so nothing bounds their number")
        return Type(kind, nodes=1 + items.nodes, height=1 + items.height, parts=(items,))

    def _union(self, schema: list[Any], namespace: str, level: int) -> Type:
        if not schema or len(schema) > self._max_nodes or any(isinstance(branch, list) for branch in schema):
            raise unsupported("a union needs branches that are no unions")
        branches = tuple(self.type(branch, namespace, level) for branch in schema)
        _refuse_twice((branch.kind for branch in branches if branch.kind in UNNAMED), "unnamed branches of a union")
        return self._measured(
            Type(
                "union",
                least=1 + min(branch.least for branch in branches),
                nodes=1 + sum(branch.nodes for branch in branches),
                height=max(branch.height for branch in branches),
                parts=branches,
            )
        )

    def _enter(self, level: int) -> None:
        if level >= self._max_depth:
            raise unsupported(f"nested more than {self._max_depth} deep (record.max_depth)")


def _full_name(schema: dict[str, Any], namespace: str) -> str:
    """The name of a definition with its namespace, which without one of its own is that around it."""
    name, own = schema.get("name"), schema.get("namespace", namespace)
    if not isinstance(name, str) or not isinstance(own, str):
        raise unsupported(f"{shown(name)} in {shown(own)} is no name of a type")
    full = f"{own}.{name}" if own and "." not in name else name
    if len(full) > LONGEST_NAME:  # every definition inside would carry it on
        raise unsupported(f"the name {shown(full)} is longer than {LONGEST_NAME}")
    parts = [_checked_name(part) for part in full.split(".")]
    if parts[-1] in PRIMITIVES:
        raise unsupported(f"{shown(full)} is the name of a type of Avro")
    return full


def _enum_or_fixed(kind: str, schema: dict[str, Any]) -> Type:
    if kind == "enum":
        symbols = _checked_names(schema.get("symbols"), "symbols of an enum")
        _refuse_twice(symbols, "symbols of an enum")
        if not symbols:
            raise unsupported("an enum needs symbols")
        return Type("enum", symbols=symbols)
    size = schema.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise unsupported(f"{shown(size)} is no size of a fixed")
    logical = schema.get("logicalType")
    return Type("fixed", least=size, size=size, logical=logical if isinstance(logical, str) else None)
