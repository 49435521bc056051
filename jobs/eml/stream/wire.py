"""The frame around every record: which schema wrote it, and where its Avro bytes begin.

`models.record_reader` looks at a record's frame and asks the registry for the schema; `avro` decodes what follows the
frame; `output.encoder` frames what goes out. Knows nothing of schemas or Avro.

    prefix       a zero byte and the schema's id, 4 bytes, before the record: Confluent's wire format, and ours
    apicurio-8   the same with 8 bytes, as Apicurio's older serializers write it. Only a setting can tell the two apart
    header       a record header names the schema, and nothing stands before the record: a zero byte and an id of 4
                 bytes, or a one and a GUID of 16, as newer clients of Confluent write it. It wins over a prefix
"""

import struct
import uuid
from collections.abc import Mapping
from typing import NamedTuple, NewType

from eml.stream.errors import BadRecordError

SchemaId = NewType("SchemaId", int)  # by which a registry and the frame of a record name a schema
Guid = NewType("Guid", str)  # the same in every registry that has the schema
SchemaRef = SchemaId | Guid  # how a frame names a schema

MAGIC = 0  # the only version of the frame
JSON_BEGINS = b"{["
SEND_AVRO = "send Avro in Confluent's wire format, as an Avro serializer with a schema registry writes it"
HEADER = struct.Struct(">BI")  # magic, schema id
HEADER_SIZE = HEADER.size  # 5: the payload begins here
PREFIXES = {"confluent": HEADER_SIZE, "apicurio-8": 9}  # record.schema_id_format -> bytes before the payload
VALUE_SCHEMA, KEY_SCHEMA = "__value_schema_id", "__key_schema_id"  # headers
LONG_HEADER = struct.Struct(">BQ")
OF_GUID = 1  # its magic
GUID_SIZE = 17  # with the magic
LARGEST_ID = 2**31 - 1  # ids are Java ints; a registry may answer a larger one with an error of its own


class Frame(NamedTuple):
    """Where a record says which schema wrote it."""

    name: bytes  # that says it: records with the same bytes have the same schema
    start: int  # of the payload in the value


def frame_of(
    value: bytes, headers: Mapping[str, bytes | None] | None, prefix: int = HEADER_SIZE, header: str = VALUE_SCHEMA
) -> Frame:
    """The frame of a record's value, or of its key."""
    name = headers.get(header) if headers else None
    return Frame(value[:prefix], prefix) if name is None else Frame(name, 0)


def named_by(frame: Frame) -> SchemaRef:
    """The schema that a frame names."""
    name, start = frame
    if start == HEADER_SIZE:
        return unframe(name)
    if start:
        return _unframe_long(name)
    if len(name) == GUID_SIZE and name[0] == OF_GUID:
        return Guid(str(uuid.UUID(bytes=name[1:])))
    if len(name) == HEADER_SIZE:
        return unframe(name)
    what = "a zero byte and a schema id, nor a one and a GUID"
    raise BadRecordError("not-framed", f"the header that names the schema ({VALUE_SCHEMA}) holds neither {what}")


def schema_of(value: bytes | None, headers: Mapping[str, bytes | None] | None, prefix: int) -> tuple[SchemaRef, int]:
    """The schema that wrote a record's value, and where its payload begins."""
    if value is None:
        raise BadRecordError("no-value", "the record has no value (a tombstone)")
    frame = frame_of(value, headers, prefix)
    return named_by(frame), frame.start


def _unframe_long(name: bytes) -> SchemaId:
    if len(name) < LONG_HEADER.size:
        raise BadRecordError("not-framed", f"{len(name)} bytes are too few for a frame with an id of 8 bytes")
    magic, schema_id = LONG_HEADER.unpack(name)
    if magic != MAGIC or schema_id > LARGEST_ID:
        what = "the value does not begin with a zero byte and a schema id of 8 bytes (record.schema_id_format)"
        raise BadRecordError("not-framed", what)
    return SchemaId(schema_id)


def unframe(value: bytes | None) -> SchemaId:
    """The id of the schema that wrote `value`; its payload begins at `HEADER_SIZE`."""
    if value is None:
        raise BadRecordError("no-value", "the record has no value (a tombstone)")
    if len(value) < HEADER_SIZE:
        raise BadRecordError("not-framed", f"{len(value)} bytes are too few for a frame: {SEND_AVRO}")
    magic, schema_id = HEADER.unpack_from(value)
    if magic != MAGIC or schema_id > LARGEST_ID:
        looks = "looks like JSON" if magic in JSON_BEGINS else "does not begin with a zero byte and a schema id"
        raise BadRecordError("not-framed", f"the value {looks}: {SEND_AVRO}")
    return SchemaId(schema_id)


def frame(schema_id: int, payload: bytes, prefix: int = HEADER_SIZE) -> bytes:
    """`payload` with the id of its schema in front."""
    if not 0 <= schema_id <= LARGEST_ID:
        raise ValueError(f"no schema id: {schema_id}")
    return (HEADER if prefix == HEADER_SIZE else LONG_HEADER).pack(MAGIC, schema_id) + payload
