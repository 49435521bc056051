"""The parts of records in Avro's bytes, as `predictions` and `scores` put them together.

Records come in runs of one key, with the same names again and again: small caches keep the bytes of what repeats.
"""

import math
import struct
from functools import lru_cache

from eml.stream.avro.varints import write_varint

REPEATED = 64  # labels and numbers kept as bytes
NAMES = 16_384  # of models and devices kept as bytes: those of a task come again and again
NULL, SOME = b"\x00", b"\x02"  # branches of ["null", X]
FALSE, TRUE = b"\x00", b"\x01"
SOME_DOUBLE = struct.Struct("<Bd")

_varint = lru_cache(maxsize=1024)(write_varint)


def write_long(number: int) -> bytes:
    """An int or a long: zigzag, so that small negative numbers are short, too."""
    zigzag = number << 1 if number >= 0 else ~(number << 1)
    if zigzag < 1 << 14:
        return _varint(zigzag)
    # Times and offsets: the lowest two bytes change from record to record, the others repeat.
    return bytes((zigzag & 127 | 128, zigzag >> 7 & 127 | 128)) + _varint(zigzag >> 14)


def write_text(text: str) -> bytes:
    """A string: its length in bytes before it."""
    data = text.encode()
    return write_long(len(data)) + data


def write_maybe_text(text: str | None) -> bytes:
    """["null", "string"]."""
    return NULL if text is None else SOME + write_text(text)


write_name = lru_cache(maxsize=NAMES)(write_text)  # of a model or a device
write_class = lru_cache(maxsize=REPEATED)(write_maybe_text)  # of few classes, or none


def write_maybe_long(number: int | None) -> bytes:
    """["null", "long"]."""
    return NULL if number is None else SOME + write_long(number)


def write_maybe_double(number: float | None) -> bytes:
    """["null", "double"]. JSON readers know no infinity: what is not finite is null."""
    return NULL if number is None or not math.isfinite(number) else SOME_DOUBLE.pack(2, number)


@lru_cache(maxsize=REPEATED)
def write_partition(topic: str, partition: int) -> bytes:
    """A topic and one of its partitions."""
    return write_text(topic) + write_long(partition)
