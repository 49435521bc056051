"""From the fields of a record to the readers that decode it, planned once per schema.

Called by `decoder` with what `reading_schema` found; takes the readers from `field_readers`, `block_readers` and
`field_skippers`. Neighbouring features of one kind, more than a few, are a block: one slice per record, one array per
micro-batch. Others side by side share one list of numbers. Knows no name of a feature.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

import numpy as np

from eml.core.arrays import Array
from eml.core.hashed_symbols import hash_symbol
from eml.stream.avro import block_readers, field_readers
from eml.stream.avro.field_readers import FORMATS, IN_ONE_BYTE, NAN, FieldReader
from eml.stream.avro.field_skippers import skippers
from eml.stream.avro.types import Type
from eml.stream.avro.varints import READ_INTEGER

Role = Literal["feature", "key", "event_id", "event_time", "label", "kafka_key", "ignored"]

SHORT_LIST = 3  # up to here a list of numbers costs less than an array of its own
SHORT_INTEGER_LIST = 8  # the same for ints, longs and enums, whose array takes more work
PER_MS = {"timestamp-millis": 1, "timestamp-micros": 1_000, "timestamp-nanos": 1_000_000}


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A field that is no record."""

    role: Role
    type: Type  # for a nullable one that of the branch which is not null
    null: int | None = None  # branch of null, in a union with one other type
    category: bool = False  # a feature whose values are symbols


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBlock:
    """Neighbouring features that one reader takes."""

    item: int  # which item of a record holds them
    columns: slice
    encoding: Literal["list", "longs", "symbols"] | np.dtype[Any]  # bytes of these, with a `value`, perhaps a `branch`
    null: int | None = None  # byte of the branch that says null
    numbers: Array | None = None  # (columns, IN_ONE_BYTE) of symbols: what stands for each


@dataclass(slots=True)
class DecodePlan:
    """Readers in the order of a record's bytes, and what each item they append is."""

    readers: list[FieldReader] = field(default_factory=list)
    blocks: list[ColumnBlock] = field(default_factory=list)
    item_of: dict[Role, int] = field(default_factory=dict)  # which item is a reserved field
    items: int = 0  # per record
    width: int = 0  # number of features


def make_plan(leaves: Sequence[Leaf], *, reject: bool) -> DecodePlan:
    """Plan the decoding of a record; `reject` says what becomes of one with a value that is not finite."""
    plan = DecodePlan()
    for role, group in groupby(leaves, key=lambda leaf: leaf.role):
        if role == "feature":
            for neighbours in _split(list(group)):
                _add_block(plan, neighbours, reject=reject)
        elif role == "ignored":
            plan.readers += [reader for leaf in group for reader in skippers(leaf.type)]
        else:
            for leaf in group:
                plan.item_of[role] = plan.items
                plan.items += 1
                plan.readers.append(_reserved(leaf))
    return plan


def _split(features: Sequence[Leaf]) -> Iterator[list[Leaf]]:
    """Cut neighbouring features into blocks and what stands between blocks."""
    between: list[Leaf] = []
    for _, group in groupby(features, key=_alike):
        alike = list(group)
        if not _is_block(alike):
            between += alike
            continue
        if between:
            yield between
            between = []
        yield alike
    if between:
        yield between


def _alike(leaf: Leaf) -> tuple[str, int | None, bool]:
    """What features of one block have in common."""
    return leaf.type.kind, leaf.null, leaf.category


def _is_block(neighbours: Sequence[Leaf]) -> bool:
    kinds = set(map(_alike, neighbours))
    kind, null, category = kinds.pop()
    if kinds:
        return False
    if kind in FORMATS:
        return len(neighbours) > SHORT_LIST
    if len(neighbours) <= SHORT_INTEGER_LIST or null is not None:
        return False
    if kind == "enum":
        return all(len(leaf.type.symbols) <= IN_ONE_BYTE for leaf in neighbours)
    return kind in READ_INTEGER and not category


def _add_block(plan: DecodePlan, neighbours: Sequence[Leaf], *, reject: bool) -> None:
    columns = slice(plan.width, plan.width + len(neighbours))
    count, kind, null = len(neighbours), neighbours[0].type.kind, neighbours[0].null
    if not _is_block(neighbours):
        reader = block_readers.number_list([_number(leaf, reject=reject) for leaf in neighbours])
        made = ColumnBlock(plan.items, columns, "list")
    elif kind == "enum":
        reader = block_readers.symbol_block([len(leaf.type.symbols) for leaf in neighbours])
        made = ColumnBlock(plan.items, columns, "symbols", numbers=_symbol_numbers(neighbours))
    elif kind not in FORMATS:
        reader = block_readers.integer_block(count, kind)
        made = ColumnBlock(plan.items, columns, "longs")
    elif null is None:
        reader = block_readers.fixed_block(count * FORMATS[kind].size)
        made = ColumnBlock(plan.items, columns, np.dtype([("value", FORMATS[kind].format)]))
    else:
        reader = block_readers.nullable_block(count, FORMATS[kind].size, null)
        pieces = np.dtype([("branch", "u1"), ("value", FORMATS[kind].format)])
        made = ColumnBlock(plan.items, columns, pieces, 2 * null)
    plan.readers.append(reader)
    plan.blocks.append(made)
    plan.items += 1
    plan.width += count


def _number(leaf: Leaf, *, reject: bool) -> FieldReader:
    """The reader of a feature on its own."""
    kind = leaf.type.kind
    if leaf.category:
        reader = (
            field_readers.hashed_symbol(leaf.type.symbols) if kind == "enum" else field_readers.hashed(_text(leaf.type))
        )
    elif kind in FORMATS:
        reader = field_readers.real(kind, reject=reject)
    else:
        reader = field_readers.boolean if kind == "boolean" else field_readers.integer(kind)
    return reader if leaf.null is None else field_readers.nullable(reader, leaf.null, absent=NAN)


def _symbol_numbers(features: Sequence[Leaf]) -> Array:
    numbers = np.full((len(features), IN_ONE_BYTE), NAN)
    for row, leaf in zip(numbers, features, strict=True):
        row[: len(leaf.type.symbols)] = [hash_symbol(each) for each in leaf.type.symbols]
    return numbers


def _reserved(leaf: Leaf) -> FieldReader:
    """The reader of a reserved field."""
    reader = field_readers.time_ms(PER_MS[leaf.type.logical or ""]) if leaf.role == "event_time" else _text(leaf.type)
    return reader if leaf.null is None else field_readers.nullable(reader, leaf.null)


def _text(type_: Type) -> FieldReader:
    """The reader of a field as text; `reading_schema` has seen to it that its type is one of these."""
    match type_.kind:
        case "int" | "long":
            return field_readers.integer_text(type_.kind)
        case "boolean":
            return field_readers.boolean_text
        case "enum":
            return field_readers.symbol(type_.symbols)
        case "fixed":
            return field_readers.uuid_text
        case _:
            return field_readers.string
