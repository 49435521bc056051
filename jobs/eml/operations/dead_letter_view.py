"""One dead letter for people: why it is one, its headers, its fields as far as they can be decoded, its bytes.

Called by `eml dead-letters show`; calls `avro.partial_decoder` with the schema's text from the registry. Without the
registry, or without such a schema, the bytes are all there is to show.
"""

import sys
from collections.abc import Iterator

from eml.local.errors import CaptureError
from eml.local.registered import RegisteredSchemas
from eml.operations.dead_letters import Found
from eml.operations.text import plain, time_of
from eml.settings import Settings
from eml.stream.avro.partial_decoder import PartialRecord, Value, decode_partially
from eml.stream.errors import BadRecordError
from eml.stream.output.dead_letter_reader import own_headers
from eml.stream.output.dead_letters import OWN
from eml.stream.state_format import text_of
from eml.stream.wire import PREFIXES, schema_of
from eml.terminal import paint, write_json

BYTES_SHOWN = 1_024  # of a value
PER_ROW = 16
FIELDS_SHOWN = 200


def show(settings: Settings, found: Found, *, whole: bool, as_json: bool) -> None:
    """Print it; `whole`: all of its bytes."""
    schema, decoded = _decoded(settings, found)
    if as_json:
        write_json(_fields(found, schema, decoded))
        return
    for line in _lines(found, schema, decoded, whole=whole):
        sys.stdout.write(f"{line}\n")


def _decoded(settings: Settings, found: Found) -> tuple[str, PartialRecord | None]:
    """What is known of its schema, and its fields."""
    value = found.raw.value
    try:
        name, start = schema_of(value, found.raw.headers, PREFIXES[settings.record.schema_id_format])
    except BadRecordError as error:
        return str(error), None
    schemas = RegisteredSchemas(settings)
    try:
        registered = schemas.schema(name)
    except CaptureError as error:
        return f"{name}: {error}", None
    finally:
        schemas.close()
    if registered is None:
        return f"{name}: the registry has no Avro schema with this id", None
    where = f"{registered.subject} version {registered.version}" if registered.subject else "of no subject"
    return f"{registered.id}, {where}", decode_partially(value or b"", start, registered.text, settings.record)


def _fields(found: Found, schema: str, decoded: PartialRecord | None) -> dict[str, object]:
    headers = {name: text_of(value) for name, value in own_headers(found.raw.headers).items()}
    record: dict[str, object] = {"schema": schema, "fields": [], "problem": "", "failed": ""}
    if decoded is not None:
        record["fields"] = [
            {"name": each.name, "type": each.type, "value": _jsonable(each.value), "start": each.start, "end": each.end}
            for each in decoded.fields
        ]
        record |= {"problem": decoded.problem, "failed": decoded.failed, "at": decoded.at}
    return {**found.fields(), "headers": headers, "record": record}


def _jsonable(value: Value) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _lines(found: Found, schema: str, decoded: PartialRecord | None, *, whole: bool) -> Iterator[str]:
    letter, value = found.letter, found.raw.value
    yield paint(f"dead letter {found.place} of {found.raw.position.topic}", "bold")
    yield _named("reason", paint(plain(letter.reason), "fail"))
    yield _named("message", plain(letter.message, 1_000))
    yield _named("record", f"{plain(letter.source)} of {time_of(letter.timestamp_ms)}")
    yield _named("key", f"{plain(found.key) or 'none'}{' (what is wrong is the key)' if letter.of_key else ''}")
    if letter.replays:
        yield _named("sent again", f"{letter.replays} times")
    if letter.shortened:
        yield _named("shortened", _shortened(found))
    for name, content in own_headers(found.raw.headers).items():
        yield _named(
            "header", f"{plain(name)} = {'null' if content is None else plain(content.decode(errors='replace'))}"
        )
    yield _named("schema", plain(schema, 1_000))
    if decoded is not None:
        yield from _decoded_lines(decoded)
    yield _named("value", "none (a tombstone)" if value is None else f"{len(value)} bytes")
    yield from _hex(value or b"", len(value or b"") if whole else BYTES_SHOWN)
    yield paint(f"send it again: eml dead-letters replay {found.place}", "dim")


def _named(name: str, content: str) -> str:
    return f"{name:<11}{content}"


def _shortened(found: Found) -> str:
    lengths = []
    for part in found.letter.shortened:
        length = (found.raw.headers.get(f"{OWN}original.{part}.length") or b"").decode(errors="replace")
        lengths.append(f"{plain(part)}{f' (of {plain(length)} bytes)' if length else ''}")
    return f"{', '.join(lengths)}: the whole record is at {plain(found.letter.source)}, while its topic keeps it"


def _decoded_lines(decoded: PartialRecord) -> Iterator[str]:
    shown = decoded.fields[:FIELDS_SHOWN]
    widths = [
        max((len(plain(text)) for text in column), default=0)
        for column in ([e.name for e in shown], [e.type for e in shown])
    ]
    for each in shown:
        said = f"{plain(each.name):<{widths[0]}}  {plain(each.type):<{widths[1]}}  {_said(each.value)}"
        yield f"  {paint(f'{each.start:>6}', 'dim')}  {said}"
    if len(decoded.fields) > FIELDS_SHOWN:
        yield f"  and {len(decoded.fields) - FIELDS_SHOWN} more"
    if decoded.whole:
        yield "  schema and record fit"
    else:
        at = f"field {plain(decoded.failed)}, " if decoded.failed else ""
        yield f"  {paint(f'{decoded.at:>6}', 'dim')}  {paint(f'{at}no further: {plain(decoded.problem)}', 'fail')}"


def _said(value: Value) -> str:
    if isinstance(value, bytes):
        return f"0x{value[:PER_ROW].hex()}{'...' if len(value) > PER_ROW else ''}"
    return "null" if value is None else plain(value)


def _hex(data: bytes, most: int) -> Iterator[str]:
    """As `hexdump -C` shows bytes."""
    for start in range(0, min(len(data), most), PER_ROW):
        row = data[start : start + PER_ROW]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        yield f"  {paint(f'{start:>6}', 'dim')}  {row.hex(' '):<{3 * PER_ROW}} {text}"
    if len(data) > most:
        yield f"  and {len(data) - most} more bytes (--whole shows all)"
