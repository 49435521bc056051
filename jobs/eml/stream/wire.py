"""The frame around every record: which schema wrote it, and where its Avro bytes begin.

`models.record_reader` unframes a record's value and asks the registry for the schema; `avro` decodes what follows the
frame; `output.encoder` frames what goes out. Confluent's wire format; knows nothing of schemas or Avro.
"""

import struct
from typing import NewType

from eml.stream.errors import BadRecordError

SchemaId = NewType("SchemaId", int)  # by which a registry and the frame of a record name a schema

MAGIC = 0  # the only version of the frame
JSON_BEGINS = b"{["
SEND_AVRO = "send Avro in Confluent's wire format, as an Avro serializer with a schema registry writes it"
HEADER = struct.Struct(">BI")  # magic, schema id
HEADER_SIZE = HEADER.size  # 5: the payload begins here
LARGEST_ID = 2**31 - 1  # ids are Java ints; a registry may answer a larger one with an error of its own


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


def frame(schema_id: int, payload: bytes) -> bytes:
    """`payload` with the id of its schema in front."""
    if not 0 <= schema_id <= LARGEST_ID:
        raise ValueError(f"no schema id: {schema_id}")
    return HEADER.pack(MAGIC, schema_id) + payload
