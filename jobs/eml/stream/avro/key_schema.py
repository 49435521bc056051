"""Avro keys: from the schema of a key to the function that reads a device's name from the key's bytes.

`registry.client` compiles a key's schema here once, when it arrives; `keys` calls the result. Calls `schema_parser`,
which refuses hostile schemas, and `field_readers`, which check every length. Knows no registry and no topic.
"""

from collections.abc import Sequence
from typing import Any

from eml.settings import RecordSettings
from eml.stream.avro import field_readers
from eml.stream.avro.field_readers import FieldReader
from eml.stream.avro.schema_parser import parse_type
from eml.stream.avro.types import Type, is_uuid, shown, without_null
from eml.stream.errors import BadRecordError, BadSchemaError
from eml.stream.keys import BAD_KEY, NO_KEY, KeyName, ReadKey

SEPARATOR = "/"  # between the fields of a record
SUPPORTED = "a key must be a string, an int, a long, an enum or a uuid, nullable or not, or a record of these"


def compile_key(text: str, settings: RecordSettings) -> ReadKey:
    """Check the schema of a key; the function from a key's bytes behind its frame to its name."""
    read_key = _reader(parse_type(text, settings))

    def read(key: bytes) -> KeyName:
        found: list[str | None] = []
        try:
            end = read_key(key, 0, found)
        except IndexError:
            raise _does_not_fit("it is too short") from None
        except UnicodeDecodeError:
            raise _does_not_fit("a string is not UTF-8") from None
        except BadRecordError as error:
            raise _does_not_fit("it is too short" if error.reason == "truncated" else str(error)) from None
        if end != len(key):
            raise _does_not_fit("it is too short" if end > len(key) else f"{len(key) - end} bytes follow it")
        name = found[0]
        if not name or not name.strip(SEPARATOR):  # a record may have nothing but nulls and empty strings
            raise BadRecordError(NO_KEY, "the key is null or empty: send each record with its device's name")
        return KeyName(name)

    return read


def _does_not_fit(why: str) -> BadRecordError:
    return BadRecordError(BAD_KEY, f"the key does not fit its Avro schema: {why}")


def _reader(type_: Type) -> FieldReader:
    """The reader that appends a value as text, or None for null."""
    inner, null = without_null(type_)
    match inner.kind:
        case "string":
            reader: FieldReader = field_readers.string
        case "int" | "long":
            reader = field_readers.integer_text(inner.kind)
        case "enum":
            reader = field_readers.symbol(inner.symbols)
        case "fixed" if is_uuid(inner):
            reader = field_readers.uuid_text
        case "record" if inner.fields:  # each field takes a byte at least, so a short key bounds the work
            reader = _record([_reader(field.type) for field in inner.fields])
        case _:
            kind = f"{inner.kind} ({shown(inner.logical)})" if inner.logical else inner.kind
            raise BadSchemaError(BAD_KEY, f"{SUPPORTED}; this one has {_article(kind)}")
    return reader if null is None else field_readers.nullable(reader, null)


def _article(kind: str) -> str:
    return "a record without fields" if kind == "record" else f"the type {kind}"


def _record(fields: Sequence[FieldReader]) -> FieldReader:
    """All fields as one text; null is empty, so that the others keep their places."""

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        found: list[str | None] = []
        for field in fields:
            pos = field(data, pos, found)
        out.append(SEPARATOR.join(value or "" for value in found))
        return pos

    return reader
