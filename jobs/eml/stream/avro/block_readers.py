"""Readers of neighbouring features at once, as the one item that `decoder` makes an array of.

Put together by `decode_plan`; built on the readers of single fields. A block costs a record one slice, or one match of
a pattern, where its bytes are as they usually are; else it goes field by field and leaves an item of the same form.
"""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from eml.stream.avro.field_readers import FieldReader, integer, nullable
from eml.stream.avro.varints import read_index, truncated, write_long

# An int or long of no more bits than it may have; one written with zeros behind it is left to slower readers.
SHORTEST = {
    "int": rb"[\x80-\xff]{0,3}+[\x00-\x7f]|[\x80-\xff]{4}[\x00-\x0f]",
    "long": rb"[\x80-\xff]{0,8}+[\x00-\x7f]|[\x80-\xff]{9}[\x00\x01]",
}
WINDOW = 64  # values looked at together: a record of many, null by turns, must not take the square of their number


def number_list(readers: Sequence[FieldReader]) -> FieldReader:
    """Neighbouring numbers of any kinds, as one list."""

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        values: list[float] = []
        for read in readers:
            pos = read(data, pos, values)
        out.append(values)
        return pos

    return reader


def fixed_block(width: int) -> FieldReader:
    """Neighbouring doubles or floats, `width` bytes in all, as its bytes."""

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        end = pos + width
        if end > len(data):
            raise truncated()
        out.append(data[pos:end])
        return end

    return reader


def integer_block(count: int, kind: str) -> FieldReader:
    """Neighbouring ints or longs, as the bytes that `read_longs` reads."""
    match = re.compile(b"(?:%b){%d}+" % (SHORTEST[kind], count)).match
    careful = number_list([integer(kind)] * count)

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        found = match(data, pos)
        if found:
            out.append(found[0])
            return found.end()
        pos = careful(data, pos, out)  # finds what is wrong, or numbers written longer than needed
        out[-1] = b"".join(map(write_long, out[-1]))
        return pos

    return reader


def symbol_block(sizes: Sequence[int]) -> FieldReader:
    """Neighbouring enums of so many symbols each, 64 at most, as bytes that are twice the symbols' numbers."""
    alike = ((size, len(list(group))) for size, group in groupby(sizes))
    match = re.compile(b"".join(b"%b{%d}" % (_one_of(size), count) for size, count in alike)).match

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        found = match(data, pos)
        if found:
            out.append(found[0])
            return found.end()
        doubled = bytearray()
        for size in sizes:  # finds what is wrong, or numbers written longer than needed
            index, pos = read_index(data, pos, size)
            doubled.append(2 * index)
        out.append(bytes(doubled))
        return pos

    return reader


def _one_of(size: int) -> bytes:
    """A pattern of the bytes that Avro writes for the first `size` numbers."""
    return b"[%b]" % b"".join(re.escape(bytes([2 * index])) for index in range(size))


def nullable_block(count: int, size: int, null: int) -> FieldReader:
    """Neighbouring nullable doubles or floats, as `count` pieces of a branch and `size` bytes, zeros for a null."""
    stride = 1 + size
    width = count * stride
    all_set = bytes([2 - 2 * null]) * count
    fill = _filler(count, size, null)

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        chunk = data[pos : pos + width]
        if chunk[::stride] == all_set and len(chunk) == width:  # a branch in its place puts the next one in its own
            out.append(chunk)
            return pos + width
        return fill(data, pos, out)

    return reader


def _filler(count: int, size: int, null: int) -> FieldReader:
    """As `nullable_block`, where some are null: goes from change to change, not from value to value."""
    stride = 1 + size
    set_byte, null_byte = bytes([2 - 2 * null]), bytes([2 * null])
    absent = null_byte + bytes(size)

    def take(data: bytes, pos: int, out: list[Any]) -> int:
        out.append(set_byte + data[pos : pos + size])
        return pos + size

    odd = nullable(take, null, absent)

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        pieces: list[bytes] = []
        left = count
        while left:
            window = min(left, WINDOW)
            branches = data[pos : pos + window * stride : stride]
            there = len(branches) - len(branches.lstrip(set_byte))
            pieces.append(data[pos : pos + there * stride])
            pos += there * stride
            nulls = data[pos : pos + window - there]
            missing = len(nulls) - len(nulls.lstrip(null_byte))
            pieces.append(absent * missing)
            pos += missing
            left -= there + missing
            if not there + missing:
                pos = odd(data, pos, pieces)
                left -= 1
        if pos > len(data):
            raise truncated()
        out.append(b"".join(pieces))
        return pos

    return reader
