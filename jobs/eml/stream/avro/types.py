"""Avro types as trees, and the errors of schemas that break the rules.

Made by `schema_parser`; read by all modules of this package that plan or check something by a field's type.
"""

import reprlib
from dataclasses import dataclass

from eml.stream.errors import BadSchemaError

UNSUPPORTED = "unsupported-schema"
LEAST_BYTES = {"null": 0, "boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1}
LONGEST_NAME = 512  # of one part and of a dotted feature name: names are multiplied by the fields below them

_shown = reprlib.Repr()
_shown.maxstring = _shown.maxother = 60
shown = _shown.repr  # of anything in a schema, cut short


def unsupported(message: str) -> BadSchemaError:
    """The error of a schema that breaks the rules."""
    return BadSchemaError(UNSUPPORTED, message)


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """One type, with all below it."""

    kind: str  # a primitive's name, or record, enum, fixed, array, map, union
    least: int = 1  # bytes of its shortest value
    nodes: int = 1  # of its tree, with every named type written out
    height: int = 0  # records, arrays and maps inside each other
    logical: str | None = None
    fields: tuple["Field", ...] = ()
    parts: tuple["Type", ...] = ()  # branches of a union, or the items of an array or map
    symbols: tuple[str, ...] = ()
    size: int = 0  # of a fixed
    name: str = ""  # of a record, with its namespace


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A field of a record."""

    name: str
    type: Type
    aliases: tuple[str, ...]
    retiring: bool
    category: bool | None  # whether it was declared to be one; None: nothing is said


PRIMITIVES = {kind: Type(kind, least) for kind, least in LEAST_BYTES.items()}


def without_null(type_: Type) -> tuple[Type, int | None]:
    """The type beside null in a union of the two, and null's branch; else the type itself."""
    kinds = [part.kind for part in type_.parts]
    if type_.kind != "union" or len(kinds) != 2 or "null" not in kinds:
        return type_, None
    null = kinds.index("null")
    return type_.parts[1 - null], null


def is_uuid(type_: Type) -> bool:
    """Whether it is a UUID of 16 bytes."""
    return type_.kind == "fixed" and type_.size == 16 and type_.logical == "uuid"
