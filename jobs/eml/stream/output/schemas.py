"""The schemas of what the job writes, from the files under `schemas/`, and fastavro with them.

Called by the encoder and the readers of this package, and by whoever registers the schemas. Knows no registry.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from io import BytesIO
from typing import Any, cast

import fastavro
from fastavro.schema import to_parsing_canonical_form

from eml import schemas
from eml.stream.wire import HEADER_SIZE, unframe

PREDICTION = "prediction"
EVOLUTION = "evolution"
SCORE = "score"


def schema_text(name: str) -> str:
    """The text of a schema under `schemas/`, to register it: `prediction`, `score`, `label`, `readings/v1`."""
    return schemas.text(name)


def read(name: str, data: bytes) -> dict[str, object]:
    """The fields of a framed record that this release wrote with a schema; times in milliseconds."""
    unframe(data)
    return _reader(_parsed(name))(data)


def reader(name: str, text: str) -> Callable[[bytes], dict[str, object]]:
    """What reads framed records that another release wrote with its own schema of that name, as if it were ours."""
    written, own = _plain(text), _parsed(name)
    same = to_parsing_canonical_form(written) == to_parsing_canonical_form(own)
    return _reader(written, None if same else own)  # that takes half the time


def _reader(written: Any, own: Any = None) -> Callable[[bytes], dict[str, object]]:  # noqa: ANN401  fastavro's own form
    def read_framed(data: bytes) -> dict[str, object]:
        fields = fastavro.schemaless_reader(BytesIO(data[HEADER_SIZE:]), written, own)
        return cast("dict[str, object]", fields)  # a record is a dict

    return read_framed


def write(name: str, fields: Mapping[str, object]) -> bytes:
    """The payload of a record with these fields, without a frame."""
    payload = BytesIO()
    fastavro.schemaless_writer(payload, _parsed(name), fields)
    return payload.getvalue()


@cache
def _parsed(name: str) -> Any:  # noqa: ANN401
    return _plain(schema_text(name))


def _plain(text: str) -> Any:  # noqa: ANN401
    """A schema without logical types: times stay numbers, for a date has no room for every long."""

    def plain(part: dict[str, object]) -> dict[str, object]:
        return {key: value for key, value in part.items() if key != "logicalType"}

    return fastavro.parse_schema(json.loads(text, object_hook=plain))
