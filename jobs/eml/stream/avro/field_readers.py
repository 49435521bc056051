"""Readers of single Avro fields: each takes one field from a payload.

Put together by `decode_plan` and `key_schema`; `block_readers` has those for many fields at once, `field_skippers`
those that keep nothing, `varints` reads numbers of variable length. A reader is called with the bytes, the position to
read at and the list it appends its one item to, and returns the next position. Closures, because these cost least per
record. Payloads may hold anything: past the end a reader raises IndexError or `truncated`, at a bad text
UnicodeDecodeError, and the decoder knows what these mean.
"""

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from eml.core.hashed_symbols import hash_symbol
from eml.stream.avro.varints import READ_INTEGER, bad_value, read_index, read_long, read_size, truncated
from eml.stream.errors import BadRecordError

FieldReader = Callable[[bytes, int, list[Any]], int]

FORMATS = {"double": struct.Struct("<d"), "float": struct.Struct("<f")}  # as Avro writes them
NAN = math.nan
IN_ONE_BYTE = 64  # symbols of an enum whose numbers take one byte


def not_finite() -> BadRecordError:
    """The error of a NaN or an infinity where these are refused."""
    return BadRecordError("not-finite", "a feature is NaN or infinite (see record.non_finite)")


# -- reserved fields -----------------------------------------------------------------------------------------------


def string(data: bytes, pos: int, out: list[Any]) -> int:
    """A string."""
    size = data[pos]
    if size & 0x81:  # of more than 63 bytes, or negative
        size, pos = read_size(data, pos)
    else:
        size >>= 1
        pos += 1
    end = pos + size
    if end > len(data):
        raise truncated()
    out.append(data[pos:end].decode())
    return end


def integer_text(kind: str) -> FieldReader:
    """An int or long, as text."""
    read_integer = READ_INTEGER[kind]

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        value, pos = read_integer(data, pos)
        out.append(str(value))
        return pos

    return reader


def symbol(symbols: Sequence[str]) -> FieldReader:
    """An enum's symbol."""

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        index, pos = read_index(data, pos, len(symbols))
        out.append(symbols[index])
        return pos

    return reader


def boolean_text(data: bytes, pos: int, out: list[Any]) -> int:
    """A boolean, as text."""
    pos = boolean(data, pos, out)
    out[-1] = "true" if out[-1] else "false"
    return pos


def uuid_text(data: bytes, pos: int, out: list[Any]) -> int:
    """A UUID of 16 bytes, as text."""
    end = pos + 16
    if end > len(data):
        raise truncated()
    out.append(str(UUID(bytes=data[pos:end])))
    return end


def time_ms(per_ms: int) -> FieldReader:
    """A long that counts `per_ms` to the millisecond, in milliseconds."""

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        value, pos = read_long(data, pos)
        out.append(value // per_ms)
        return pos

    return reader


def nullable(read: FieldReader, null: int, absent: object = None) -> FieldReader:
    """A union of null, which is its branch `null` (0 or 1), and what `read` reads."""
    null_byte, set_byte = 2 * null, 2 - 2 * null

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        branch = data[pos]
        if branch == set_byte:
            return read(data, pos + 1, out)
        if branch == null_byte:
            out.append(absent)
            return pos + 1
        index, pos = read_index(data, pos, 2)  # written longer than needed, or not there
        if index != null:
            return read(data, pos, out)
        out.append(absent)
        return pos

    return reader


def hashed(read_text: FieldReader) -> FieldReader:
    """A symbol of a category, which `read_text` reads as text, as its number."""

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        pos = read_text(data, pos, out)
        out[-1] = hash_symbol(out[-1])
        return pos

    return reader


def hashed_symbol(symbols: Sequence[str]) -> FieldReader:
    """An enum's symbol as its number; the first are looked up by the byte that stands for them."""
    known = {2 * index: hash_symbol(each) for index, each in enumerate(symbols[:IN_ONE_BYTE])}
    slow = hashed(symbol(symbols))

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        number = known.get(data[pos])
        if number is None:
            return slow(data, pos, out)
        out.append(number)
        return pos + 1

    return reader


# -- single numbers ------------------------------------------------------------------------------------------------


def boolean(data: bytes, pos: int, out: list[Any]) -> int:
    """A boolean."""
    if data[pos] > 1:
        raise bad_value("a boolean that is neither 0 nor 1")
    out.append(data[pos])
    return pos + 1


def integer(kind: str) -> FieldReader:
    """An int or long."""
    read_integer = READ_INTEGER[kind]

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        byte = data[pos]
        if byte < 0x80:
            out.append((byte >> 1) ^ -(byte & 1))
            return pos + 1
        value, pos = read_integer(data, pos)
        out.append(value)
        return pos

    return reader


def real(kind: str, *, reject: bool) -> FieldReader:
    """A double or float; one that is not finite is refused or missing."""
    unpack, size = FORMATS[kind].unpack_from, FORMATS[kind].size

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        end = pos + size
        if end > len(data):
            raise truncated()
        value = unpack(data, pos)[0]
        if value - value != 0.0:  # NaN for NaN and infinities, and cheaper than a call
            if reject:
                raise not_finite()
            value = NAN
        out.append(value)
        return end

    return reader
