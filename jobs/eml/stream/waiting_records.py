"""Records of a key that wait for a schema, as bytes: kept in state while the registry cannot be asked.

Written and read by `flink.waiting_queues`; knows only `records`.
"""

from collections.abc import Sequence

from eml.stream.records import Position, Raw
from eml.stream.state_format import bytes_of, pack, text_of, unpack

MAGIC = b"EMLQ"
VERSION = 2


def dump(records: Sequence[Raw]) -> bytes:
    """Records as versioned plain bytes: a description of each, then their values."""
    described = [
        [
            raw.key,
            raw.position.topic,
            raw.position.partition,
            raw.position.offset,
            raw.position.timestamp_ms,
            None if raw.value is None else len(raw.value),
            {name: text_of(value) for name, value in raw.headers.items()},
        ]
        for raw in records
    ]
    return pack(MAGIC, VERSION, described, b"".join(raw.value or b"" for raw in records))


def load(data: bytes) -> list[Raw]:
    """The records that were dumped."""
    described, values = unpack(MAGIC, VERSION, data, "a key's waiting records")
    start, records = 0, []
    for key, topic, partition, offset, timestamp_ms, length, headers in described:
        value = None if length is None else values[start : start + length]
        start += length or 0
        decoded = {name: bytes_of(text) for name, text in headers.items()}
        records.append(Raw(value, Position(topic, partition, offset, timestamp_ms), decoded, key))
    return records
