"""Avro's numbers of variable length, and the errors of a payload that cannot be read.

Used by the readers of this package, by `decoder` and, to write, by `output.avro_parts`. Avro writes ints and longs as
zigzag numbers of seven bits per byte, lowest first; sizes, counts and branches are such longs. One written longer than
needed is still the same number. Past the payload's end Python raises IndexError, and the decoder knows what that means.
"""

import numpy as np
from numpy.typing import NDArray

from eml.stream.errors import BadRecordError

LAST_SHIFT = 63  # of the tenth and last byte of a long


def truncated() -> BadRecordError:
    """The error of a payload that ends too early."""
    return BadRecordError("truncated", "the record ends before its schema does")


def bad_value(message: str) -> BadRecordError:
    """The error of a payload that its schema could not have written."""
    return BadRecordError("bad-value", message)


def read_long(data: bytes, pos: int) -> tuple[int, int]:
    """A long and the position behind it."""
    byte = data[pos]
    pos += 1
    value = byte & 0x7F
    shift = 7
    while byte & 0x80:
        if shift > LAST_SHIFT:
            raise bad_value("a number of more than 10 bytes")
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        shift += 7
    if value >> 64:
        raise bad_value("a long of more than 64 bits")
    return (value >> 1) ^ -(value & 1), pos


def read_int(data: bytes, pos: int) -> tuple[int, int]:
    """An int and the position behind it."""
    value, pos = read_long(data, pos)
    if not -(2**31) <= value < 2**31:
        raise bad_value("an int of more than 32 bits")
    return value, pos


READ_INTEGER = {"int": read_int, "long": read_long}


def read_longs(data: bytes) -> NDArray[np.int64]:
    """All the longs of `data`, which holds at least one, and nothing else."""
    raw = np.frombuffer(data, np.uint8)
    last = np.flatnonzero(raw < 0x80)
    first = np.concatenate(([0], last[:-1] + 1))
    more = last - first  # bytes after the first
    values = (raw[first] & 0x7F).astype(np.uint64)
    for byte in range(1, int(more.max()) + 1):
        longer = np.flatnonzero(more >= byte)
        values[longer] |= (raw[first[longer] + byte] & 0x7F).astype(np.uint64) << np.uint64(7 * byte)
    sign = -(values & np.uint64(1)).astype(np.int64)
    return np.asarray((values >> np.uint64(1)).astype(np.int64) ^ sign)


def write_long(value: int) -> bytes:
    """A long as Avro writes it: zigzag, so that small negative numbers are short, too."""
    return write_varint((value << 1) ^ (value >> 63))


def write_varint(number: int) -> bytes:
    """Seven bits per byte, the lowest first; the top bit says that more follow."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def read_size(data: bytes, pos: int) -> tuple[int, int]:
    """The size of a string or a block and the position behind it."""
    size, pos = read_long(data, pos)
    if size < 0:
        raise bad_value("a negative size")
    return size, pos


def read_index(data: bytes, pos: int, count: int) -> tuple[int, int]:
    """The number of a union's branch or an enum's symbol, one of `count`, and the position behind it."""
    index, pos = read_long(data, pos)
    if not 0 <= index < count:
        raise bad_value(f"branch or symbol {index} of {count}")
    return index, pos
