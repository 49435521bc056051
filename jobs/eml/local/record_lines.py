"""What one line of a record file may hold: its fields, their kinds, and the bytes they stand for.

Called by `record_file`, which knows what lines must have in common. Every mistake is a `LineError` that says what to
do; nothing is guessed, and no field is passed over.
"""

import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from io import BytesIO
from typing import Any

import fastavro
from fastavro.types import Schema

from eml.stream.records import Position, Raw
from eml.stream.wire import LARGEST_ID, frame

SCHEMA_FIELDS = ("schema", "id", "subject", "version", "guid")
RECORD_FIELDS = ("key", "value", "record", "schema_id", "topic", "partition", "offset", "timestamp", "headers")
MS_PER_LINE = 1000  # of time between records that do not say when they came


class LineError(ValueError):
    """What is wrong with a line, and what to do."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A schema that the registry has from here on."""

    line: int
    id: int
    subject: str
    version: int
    text: str
    guid: str = ""  # by which records name it, too


@dataclass(frozen=True, slots=True)
class Arrived:
    """A record that came."""

    line: int
    key: str
    raw: Raw


Entry = Registered | Arrived


def read_object(line: str) -> dict[str, Any]:
    """The object that a line holds."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LineError(f"is not JSON ({error}): write one object on each line") from None
    if not isinstance(said, dict):
        raise LineError("is no object: write {...} on each line")
    return said


def registered(said: Mapping[str, Any], line: int) -> Registered:
    """The schema of a line."""
    _refuse_unknown(said, SCHEMA_FIELDS)
    schema_id, version = _whole(said, "id"), _whole(said, "version")
    guid = _text(said, "guid") if "guid" in said else ""
    return Registered(line, schema_id, _text(said, "subject"), version, _schema_text(said["schema"]), guid)


def arrived(said: Mapping[str, Any], line: int, schemas: Mapping[int, Registered]) -> Arrived:
    """The record of a line; one by hand needs its schema among `schemas`."""
    _refuse_unknown(said, RECORD_FIELDS)
    key = _text(said, "key")
    if not key:
        raise LineError("the key is empty: the job makes a dead letter of such a record before any model sees it")
    number = {"partition": 0, "offset": line, "timestamp": MS_PER_LINE * line, **said}
    place = Position(
        _text(said, "topic"), _whole(number, "partition"), _whole(number, "offset"), _whole(number, "timestamp")
    )
    return Arrived(line, key, Raw(_value(said, schemas), place, _headers(said.get("headers", {}))))


# -- fields ------------------------------------------------------------------------------------------------------------


def _refuse_unknown(said: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in said:
        if name not in known:
            near = get_close_matches(name, known, 1)
            advice = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise LineError(f"there is no field {name!r} on such a line: {advice}")


def _text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name)
    if not isinstance(value, str):
        raise LineError(f"{name!r} must be text" + ("" if name in said else ": add it"))
    return value


def _whole(said: Mapping[str, Any], name: str) -> int:
    value = said.get(name)
    if type(value) is not int or value < 0:  # isinstance would take true for 1
        raise LineError(f"{name!r} must be a whole number, 0 or more" + ("" if name in said else ": add it"))
    if name in ("id", "schema_id") and value > LARGEST_ID:
        raise LineError(f"{name!r} is larger than any id of a registry ({LARGEST_ID})")
    return value


def _schema_text(schema: object) -> str:
    if not isinstance(schema, str):
        return json.dumps(schema)
    try:
        json.loads(schema)
    except (ValueError, RecursionError) as error:
        raise LineError(f"the text of the schema is not JSON ({error}): give it as an object") from None
    return schema


def _bytes(text: object, what: str) -> bytes:
    try:
        return b64decode(text, validate=True) if isinstance(text, str) else _no_base64(what)
    except ValueError:
        return _no_base64(what)


def _no_base64(what: str) -> bytes:
    raise LineError(
        f"{what} must be text in base64" + (", null, or a 'record' in its place" if what == "value" else "")
    )


def _headers(headers: object) -> dict[str, bytes | None]:
    if not isinstance(headers, dict):
        raise LineError("'headers' must be an object of texts in base64")
    return {name: None if value is None else _bytes(value, f"header {name!r}") for name, value in headers.items()}


# -- values ------------------------------------------------------------------------------------------------------------


def _value(said: Mapping[str, Any], schemas: Mapping[int, Registered]) -> bytes | None:
    if ("value" in said) == ("record" in said):
        raise LineError("a record needs 'value' (base64 of its bytes) or 'record' (its fields), one of the two")
    if "record" in said:
        return _encoded(said["record"], _whole(said, "schema_id"), schemas)
    if "schema_id" in said:
        raise LineError("'schema_id' belongs to 'record'; a 'value' has it in its first bytes: take it out")
    return None if said["value"] is None else _bytes(said["value"], "value")


def _encoded(fields: object, schema_id: int, schemas: Mapping[int, Registered]) -> bytes:
    if schema_id not in schemas:
        raise LineError(f"schema {schema_id} does not stand before this line: put its line there")
    payload = BytesIO()
    try:
        # Strict: a field that is spelt wrong must not become a default in silence.
        fastavro.schemaless_writer(payload, _parsed(schemas[schema_id].text), fields, strict_allow_default=True)
    except Exception as error:  # noqa: BLE001  fastavro raises of all kinds, down to AttributeError
        what = f"{type(error).__name__}: {error}"
        raise LineError(f"the record does not fit schema {schema_id}: {what}") from None
    return frame(schema_id, payload.getvalue())


@lru_cache
def _parsed(text: str) -> Schema:
    return fastavro.parse_schema(json.loads(text))
