"""Readers over what is no feature: they check it as far as its length depends on it, and keep nothing.

Made by `decode_plan` for the fields that `reading_schema` ignores. Every reader reads a byte or checks the payload's
end, and types that take no bytes have no reader at all: the work is bounded by the payload's length, whatever counts
and sizes it claims.
"""

from collections.abc import Sequence
from typing import Any

from eml.stream.avro.field_readers import FieldReader, boolean, integer, string
from eml.stream.avro.types import Type
from eml.stream.avro.varints import bad_value, read_index, read_long, read_size, truncated


def skippers(type_: Type) -> list[FieldReader]:
    """The readers over a value of this type, of which there may be none."""
    if type_.kind == "record":
        return [each for field in type_.fields for each in skippers(field.type)]
    if type_.least == 0:
        return []
    return [_skipper(type_)]


def _skipper(type_: Type) -> FieldReader:
    match type_.kind:
        case "array" | "map":
            return _collection(type_)
        case "union":
            return _branch([skippers(branch) for branch in type_.parts])
        case "enum":
            return _branch([[]] * len(type_.symbols))
        case "bytes":
            return _sized
        case "double" | "float" | "fixed":
            return _fixed(type_.least)
        case _:
            return _discarded({"string": string, "boolean": boolean}.get(type_.kind) or integer(type_.kind))


def _collection(type_: Type) -> FieldReader:
    (items,) = type_.parts
    if type_.kind == "map":
        return _blocks([_discarded(string), *skippers(items)], 1 + items.least, fixed=False)
    return _blocks(skippers(items), items.least, fixed=_is_fixed(items))


def _is_fixed(type_: Type) -> bool:
    """Whether all values take the same number of bytes, and any bytes will do."""
    if type_.kind == "record":
        return all(_is_fixed(field.type) for field in type_.fields)
    return type_.kind in ("double", "float", "fixed", "null")


def _discarded(read: FieldReader) -> FieldReader:
    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        pos = read(data, pos, out)
        out.pop()
        return pos

    return reader


def _fixed(size: int) -> FieldReader:
    def reader(data: bytes, pos: int, _out: list[Any]) -> int:
        if pos + size > len(data):
            raise truncated()
        return pos + size

    return reader


def _sized(data: bytes, pos: int, _out: list[Any]) -> int:
    size, pos = read_size(data, pos)
    if pos + size > len(data):
        raise truncated()
    return pos + size


def _branch(branches: Sequence[Sequence[FieldReader]]) -> FieldReader:
    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        index, pos = read_index(data, pos, len(branches))
        for read in branches[index]:
            pos = read(data, pos, out)
        return pos

    return reader


def _blocks(item: Sequence[FieldReader], least: int, *, fixed: bool) -> FieldReader:
    """Over an array or map: blocks of a count and as many items, each of at least `least` bytes, up to a count of 0."""

    def reader(data: bytes, pos: int, out: list[Any]) -> int:
        count, pos = read_long(data, pos)
        while count:
            if count < 0:
                pos = _sized_block(data, pos, -count * least)
            elif pos + count * least > len(data):
                raise truncated()
            elif fixed:
                pos += count * least
            else:
                pos = _items(item, count, data, pos, out)
            count, pos = read_long(data, pos)
        return pos

    return reader


def _sized_block(data: bytes, pos: int, least: int) -> int:
    """Over a block with a negative count: its size in bytes follows, for readers that skip it."""
    size, pos = read_size(data, pos)
    if size < least:
        raise bad_value("a block too small for its items")
    if pos + size > len(data):
        raise truncated()
    return pos + size


def _items(item: Sequence[FieldReader], count: int, data: bytes, pos: int, out: list[Any]) -> int:
    for _ in range(count):
        for read in item:
            pos = read(data, pos, out)
    return pos
