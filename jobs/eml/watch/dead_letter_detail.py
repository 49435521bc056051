"""A dead letter opened: its record decoded as far as it goes, its bytes, and the line that sends it again.

Called by `fleet_view`; calls `stream.avro.partial_decoder`. All texts are what a stranger sent. Pure.
"""

from collections.abc import Callable, Iterator

from eml.settings import RecordSettings
from eml.stream.avro.partial_decoder import PartialRecord, decode_partially
from eml.stream.errors import BadRecordError
from eml.stream.wire import PREFIXES, schema_of
from eml.watch.dead_letters import Kept
from eml.watch.lines import replay_dead_letter
from eml.watch.views import DeadLetterDetail

BYTES_SHOWN = 1_024
LINE = 16  # bytes
FIELDS_SHOWN = 500
TEXT_SHOWN = 500  # characters of a value
SchemaText = Callable[[int], str | None]  # by id; None: it cannot be had


def view(kept: Kept, schema_text: SchemaText, settings: RecordSettings, options: str) -> DeadLetterDetail:
    """All that there is to see; `options` are those of the command line."""
    value = kept.arrived.value or b""
    seen = _decoded(kept, schema_text, settings)
    fields = {field.name: _shown(field.value) for field in seen.fields[:FIELDS_SHOWN]}
    return DeadLetterDetail(
        row=kept.row(),
        headers={name: _text(header) for name, header in kept.arrived.headers.items()},
        fields=fields,
        stopped_at=f"{seen.failed}: {seen.problem}" if seen.failed else seen.problem,
        hex_lines=list(hex_lines(value[:BYTES_SHOWN])),
        length=len(value),
        commands=[replay_dead_letter(kept.arrived.place, options)],
    )


def _decoded(kept: Kept, schema_text: SchemaText, settings: RecordSettings) -> PartialRecord:
    try:
        name, start = schema_of(kept.arrived.value, kept.arrived.headers, PREFIXES[settings.schema_id_format])
    except BadRecordError as error:
        return PartialRecord((), str(error), "", 0)
    text = schema_text(name) if isinstance(name, int) else None  # the page asks for no GUIDs
    if text is None:
        return PartialRecord((), f"schema {name} cannot be had from the registry", "", 0)
    return decode_partially(kept.arrived.value or b"", start, text, settings)


def hex_lines(data: bytes) -> Iterator[str]:
    """Offset, hexadecimal and printable characters, as hex dumps show them."""
    for at in range(0, len(data), LINE):
        piece = data[at : at + LINE]
        printable = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in piece)
        yield f"{at:06x}  {piece.hex(' '):<{3 * LINE - 1}}  {printable}"


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        return value[:TEXT_SHOWN].hex(" ")
    text = "null" if value is None else str(value)
    return text if len(text) <= TEXT_SHOWN else f"{text[:TEXT_SHOWN]} … ({len(text)} characters)"


def _text(header: bytes | None) -> str:
    return (header or b"")[:TEXT_SHOWN].decode(errors="replace")
