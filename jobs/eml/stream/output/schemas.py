"""The schemas of what the job writes, from the files under `schemas/`, and fastavro with them.

Called by the encoder and the readers of this package, and by whoever registers the schemas. Knows no registry.
"""

import json
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from typing import Any, cast

import fastavro

from eml import schemas
from eml.stream.wire import HEADER_SIZE, unframe

PREDICTION = "prediction"
EVOLUTION = "evolution"


def schema_text(name: str) -> str:
    """The text of a schema under `schemas/`, to register it: `prediction`, `evolution`, `label`, `readings/v1`."""
    return schemas.text(name)


def read(name: str, data: bytes) -> dict[str, object]:
    """The fields of a framed record that this release wrote with a schema; times in milliseconds."""
    unframe(data)
    fields = fastavro.schemaless_reader(BytesIO(data[HEADER_SIZE:]), _parsed(name), None)
    return cast("dict[str, object]", fields)  # a record is a dict


def write(name: str, fields: Mapping[str, object]) -> bytes:
    """The payload of a record with these fields, without a frame."""
    payload = BytesIO()
    fastavro.schemaless_writer(payload, _parsed(name), fields)
    return payload.getvalue()


@cache
def _parsed(name: str) -> Any:  # noqa: ANN401  fastavro's own form
    """A schema without logical types: times stay numbers, for a date has no room for every long."""

    def plain(part: dict[str, object]) -> dict[str, object]:
        return {key: value for key, value in part.items() if key != "logicalType"}

    return fastavro.parse_schema(json.loads(schema_text(name), object_hook=plain))
