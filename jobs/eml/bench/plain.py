"""What a peer without Flink needs: readings as a user would decode them, and answers as JSON.

Used by `river_loop`, and by `quix_app` for its command line, each a process of its own with the job's settings.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, cast
from urllib.request import urlopen

import fastavro

from eml.bench.load import RESERVED
from eml.settings import Settings, load
from eml.stream.wire import HEADER_SIZE, unframe

OTHERS = {str(field["name"]) for field in RESERVED}

Values = dict[str, float]


def settings_from(argv: Sequence[str] | None, program: str) -> Settings:
    """The job's command line; Flink's options are for others."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}")
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("-D", dest="options", metavar="KEY=VALUE", action="append", default=[])
    return load(parser.parse_args(argv).settings)


def decoder(registry_url: str) -> Callable[[bytes], dict[str, Any]]:
    """Reads framed Avro; each schema is asked for once."""

    @cache
    def schema(number: int) -> Any:  # noqa: ANN401  fastavro's
        with urlopen(f"{registry_url}/schemas/ids/{number}", timeout=15) as answer:  # noqa: S310  of our own stack
            return fastavro.parse_schema(json.loads(json.load(answer)["schema"]))

    def decode(value: bytes) -> dict[str, Any]:
        payload = BytesIO(memoryview(value)[HEADER_SIZE:])
        return cast("dict[str, Any]", fastavro.schemaless_reader(payload, schema(unframe(value)), None))

    return decode


def values_of(reading: Mapping[str, Any]) -> Values:
    """What was measured, and is there."""
    return {name: value for name, value in reading.items() if name not in OTHERS and value is not None}


def answer(reading: Mapping[str, Any], label: object) -> bytes:
    """What is written for a reading."""
    return json.dumps({"event_id": reading["event_id"], "label": label}).encode()
