"""A dead letter as a record to send again: whole, repaired where that is asked for, its replays counted.

Called by `dead_letter_replay`. A shortened one is fetched from where its record stands, if that still stands there.
The repairs that people need: fields with other values, the id of the schema that wrote the bytes (or that JSON in their
place is written with), another key.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from io import BytesIO
from typing import Any

import fastavro

from eml.core.errors import EmlError
from eml.local.record_lines import Registered
from eml.operations.dead_letters import Found
from eml.operations.text import plain
from eml.settings import RecordSettings
from eml.stream.avro.partial_decoder import decode_partially
from eml.stream.errors import BadRecordError
from eml.stream.keys import KafkaKey
from eml.stream.output.dead_letter_reader import own_headers
from eml.stream.output.dead_letters import OWN
from eml.stream.records import REPLAYS, Position, Raw
from eml.stream.wire import MAGIC, PREFIXES, VALUE_SCHEMA, SchemaRef, frame, schema_of

Schemas = Callable[[int | str], Registered | None]  # a schema, by its id or GUID
Original = Callable[[str, int, int], Raw | None]  # the record at a place


class UnrepairableError(EmlError):
    """A dead letter that cannot be sent as it is asked for."""


@dataclass(frozen=True, slots=True)
class Repair:
    """What is to be changed."""

    fields: Mapping[str, str] = field(default_factory=dict)  # dotted name -> value as it was typed
    schema_id: int | None = None
    key: str | None = None

    @property
    def of_value(self) -> bool:
        """Whether the value changes."""
        return bool(self.fields) or self.schema_id is not None


def to_send(found: Found, repair: Repair, registered: Schemas, original: Original, record: RecordSettings) -> Raw:
    """The record with its own key, value and headers, placed where it came from."""
    letter = found.letter
    if not letter.topic or letter.partition is None or letter.offset is None:
        raise UnrepairableError("its headers do not say which topic it came from")
    raw = _whole(found, original) if letter.shortened else found.raw
    headers = {**own_headers(raw.headers), REPLAYS: str(letter.replays + 1).encode()}
    value = raw.value
    if repair.of_value:
        value = _repaired(raw, repair, registered, record)
        headers.pop(VALUE_SCHEMA, None)  # the schema's id stands in front now
    key = raw.key if repair.key is None else KafkaKey(repair.key.encode().decode("latin-1"))
    place = Position(letter.topic, letter.partition, letter.offset, letter.timestamp_ms or 0)
    return replace(raw, key=key, value=value, headers=headers, position=place)


# -- the whole record --------------------------------------------------------------------------------------------------


def _whole(found: Found, original: Original) -> Raw:
    """The record that a shortened dead letter is of."""
    letter = found.letter
    raw = original(letter.topic, letter.partition or 0, letter.offset or 0)
    if raw is None:
        what = f"it was shortened ({plain(', '.join(letter.shortened))})"
        raise UnrepairableError(f"{what}, and the whole record does not stand at {plain(letter.source)} any more")
    parts = {"key": raw.key.encode("latin-1"), "value": raw.value or b""}
    for name, data in parts.items():
        digest = found.raw.headers.get(f"{OWN}original.{name}.sha256")
        if name in letter.shortened and digest != hashlib.sha256(data).hexdigest().encode():
            raise UnrepairableError(f"it was shortened, and another record stands at {plain(letter.source)} now")
    return raw


# -- its value ---------------------------------------------------------------------------------------------------------


def _repaired(raw: Raw, repair: Repair, registered: Schemas, record: RecordSettings) -> bytes:
    value, prefix = raw.value, PREFIXES[record.schema_id_format]
    if value is None:
        raise UnrepairableError("it has no value to repair")
    name, start = (repair.schema_id, None) if repair.schema_id is not None else _own_schema(raw, prefix)
    schema = registered(name)
    if schema is None:
        raise UnrepairableError(f"the registry has no Avro schema {name}: say with --with-schema which wrote it")
    schema_id, text = schema.id, schema.text
    said = _json(value)
    if said is None:
        starts = [start] if start is not None else [prefix, 0] if value[:1] == bytes([MAGIC]) else [0]
        payload = _payload(value, starts, schema, record)
        if not repair.fields:
            return frame(schema_id, payload, prefix)
        said = fastavro.schemaless_reader(BytesIO(payload), _parsed(text), None)
    for field_name, typed in repair.fields.items():
        said = _changed(said, field_name, typed, text)
    return frame(schema_id, _written(said, text), prefix)


def _own_schema(raw: Raw, prefix: int) -> tuple[SchemaRef, int]:
    try:
        return schema_of(raw.value, raw.headers, prefix)
    except BadRecordError as error:
        raise UnrepairableError(f"{error}: say with --with-schema which schema wrote it") from None


def _json(value: bytes) -> Any:  # noqa: ANN401  a record's fields, of any types
    """The fields of a record that was sent as JSON; None where it was not."""
    if not value.lstrip().startswith(b"{"):
        return None
    try:
        said = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _payload(value: bytes, starts: Sequence[int], schema: Registered, record: RecordSettings) -> bytes:
    """The Avro bytes behind the frame, or all of it where there is none."""
    for start in starts:
        if decode_partially(value, start, schema.text, record).whole:
            return value[start:]
    seen = decode_partially(value, starts[0], schema.text, record)
    where = f" (field {plain(seen.failed)})" if seen.failed else ""
    raise UnrepairableError(f"schema {schema.id} did not write its bytes: {plain(seen.problem)}{where}")


def _changed(said: dict[str, Any], name: str, typed: str, text: str) -> dict[str, Any]:
    """The fields with another value of one; a text that is no JSON, or does not fit as such, is taken as it stands."""
    outer, _, inner = name.partition(".")
    known = [field["name"] for field in _parsed(text)["fields"]] if text else list(said)
    if outer not in known:
        near = get_close_matches(outer, known, 1)
        raise UnrepairableError(
            f"it has no field {plain(name)!r}{f': did you mean {plain(near[0])!r}?' if near else ''}"
        )
    if inner:
        if not isinstance(said.get(outer), dict):
            raise UnrepairableError(f"the field {plain(outer)!r} holds no others")
        return {**said, outer: _changed(said[outer], inner, typed, "")}
    try:
        changed = {**said, outer: json.loads(typed)}
    except ValueError:
        return {**said, outer: typed}
    if text and not _fits(changed, text) and _fits({**said, outer: typed}, text):
        return {**said, outer: typed}
    return changed


def _fits(said: dict[str, Any], text: str) -> bool:
    try:
        _written(said, text)
    except UnrepairableError:
        return False
    return True


def _written(said: dict[str, Any], text: str) -> bytes:
    payload = BytesIO()
    try:
        fastavro.schemaless_writer(payload, _parsed(text), said, strict_allow_default=True)
    except Exception as error:  # noqa: BLE001  fastavro raises of all kinds, down to AttributeError
        raise UnrepairableError(f"it does not fit the schema: {plain(f'{type(error).__name__}: {error}')}") from None
    return payload.getvalue()


@lru_cache
def _parsed(text: str) -> Any:  # noqa: ANN401  fastavro's own form
    """A schema without logical types: times stay numbers, for a date has no room for every long."""

    def plain_type(part: dict[str, object]) -> dict[str, object]:
        return {name: value for name, value in part.items() if name != "logicalType"}

    return fastavro.parse_schema(json.loads(text, object_hook=plain_type))
