"""The decoder: it reads what other libraries write, and of hostile bytes it takes nothing."""

import io
import math
import random
import struct
import time
import uuid
from datetime import UTC, datetime
from typing import Any

import avro.io
import avro.schema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eml.core.hashed_symbols import hash_symbol
from eml.stream.avro.reading_schema import Decoded, ReadingSchema
from eml.stream.avro.varints import read_long, read_longs, write_long
from tests.unit.stream.avro.encoding import (
    EVENT_ID,
    EVENT_TIME,
    KEY,
    LABEL,
    MISSING,
    SETTINGS,
    WHOLE,
    batches,
    compiled,
    encoded,
    fastavro_reads,
    field,
    flat,
    record,
    same,
)

REASONS = {"truncated", "trailing-bytes", "bad-value", "not-finite"}
DOUBLE = struct.pack("<d", 1.5)
A_WHILE_S = 1.0


def reason(schema: ReadingSchema, payload: bytes) -> str:
    """Why a payload is bad."""
    decoded = schema.decode([payload])
    assert not decoded.rows
    ((row, error),) = decoded.bad
    assert row == 0
    assert error.__traceback__ is None
    return error.reason


def check_whole(decoded: Decoded, schema: ReadingSchema, count: int) -> None:
    """Every record has one fate, and everything about the good ones is there."""
    bad = [row for row, _ in decoded.bad]
    assert sorted([*decoded.rows, *bad]) == list(range(count))
    assert decoded.rows == sorted(decoded.rows)
    assert bad == sorted(bad)
    assert {error.reason for _, error in decoded.bad} <= REASONS
    assert decoded.values.shape == (len(decoded.rows), len(schema.space))
    for column in (decoded.labels, decoded.event_ids, decoded.event_times, decoded.keys):
        assert len(column) == len(decoded.rows)


# -- what other libraries write ----------------------------------------------------------------------------------------


@given(batch=batches(), start=st.sampled_from([0, 5]))
@settings(max_examples=300)
def test_what_fastavro_writes_is_read(batch, start):
    schema = compiled(batch.schema)
    decoded = schema.decode(encoded(batch.schema, *batch.records, start=start), start)
    check_whole(decoded, schema, len(batch.records))
    assert decoded.rows == list(range(len(batch.records)))
    assert schema.space.names == tuple(batch.names)
    assert schema.space.categories == set(batch.categories)
    assert len(schema.ignored) == batch.ignored
    want = [flat(each, batch.names, batch.categories) for each in batch.records]
    assert same(decoded.values, np.reshape(want, decoded.values.shape))


@pytest.mark.parametrize("branches", [["null", "double"], ["float", "null"], ["null", "long"]])
def test_what_the_avro_package_writes_is_read(branches):
    schema = record(
        KEY, LABEL, *(field(f"a{n}", "double") for n in range(6)), *(field(f"b{n}", branches) for n in range(6))
    )
    writer = avro.io.DatumWriter(avro.schema.make_avsc_object(schema))
    values, want = [], []
    for n in range(8):
        each = {f"a{k}": n / 2 + k for k in range(6)} | {f"b{k}": None if (n >> k) & 1 else n + k for k in range(6)}
        buffer = io.BytesIO()
        writer.write({"sensor_id": f"s{n}", "label": None, **each}, avro.io.BinaryEncoder(buffer))
        values.append(buffer.getvalue())
        want.append([math.nan if value is None else float(value) for value in each.values()])
    decoded = compiled(schema).decode(values)
    assert same(decoded.values, want)
    assert decoded.keys == [f"s{n}" for n in range(8)]


ZONE = field("zone", ["null", "string"], **{"eml.category": True})
CODE = field("code", "long", **{"eml.category": True})


@given(data=st.data(), sizes=st.lists(st.sampled_from([1, 2, 3, 63, 64, 65, 300]), min_size=1, max_size=12))
@settings(max_examples=100)
def test_categories_that_the_avro_package_reads_are_read(data, sizes):
    enums = [{"type": "enum", "name": f"E{n}", "symbols": [f"s{k}" for k in range(s)]} for n, s in enumerate(sizes)]
    maybe = data.draw(st.booleans())
    fields = [field(f"e{n}", ["null", enum] if maybe else enum) for n, enum in enumerate(enums)]
    schema = record(field("x", "double"), *fields, ZONE, CODE)
    none = [None] if maybe else []
    written = {
        "x": 1.5,
        **{f"e{n}": data.draw(st.sampled_from([*enum["symbols"], *none])) for n, enum in enumerate(enums)},
        "zone": data.draw(st.none() | st.text()),
        "code": data.draw(st.integers(-(2**63), 2**63 - 1)),
    }
    parsed, buffer = avro.schema.make_avsc_object(schema), io.BytesIO()
    avro.io.DatumWriter(parsed).write(written, avro.io.BinaryEncoder(buffer))
    read: Any = avro.io.DatumReader(parsed).read(avro.io.BinaryDecoder(io.BytesIO(buffer.getvalue())))
    compiled_ = compiled(schema)
    decoded = compiled_.decode([buffer.getvalue()] * 3)
    want = [1.5, *(math.nan if read[n] is None else hash_symbol(str(read[n])) for n in compiled_.space.names[1:])]
    assert same(decoded.values, [want] * 3)


def test_a_symbol_means_the_same_however_its_enum_lists_it():
    old, new = (
        record(*(field(f"m{n}", {"type": "enum", "name": f"M{n}", "symbols": symbols}) for n in range(count)))
        for symbols, count in ((["off", "on"], 12), (["new", "on", "idle", "off"], 3))
    )
    ons, offs = ({f"m{n}": symbol for n in range(12)} for symbol in ("on", "off"))
    first = compiled(old).decode(encoded(old, ons, offs)).values
    second = compiled(new).decode(encoded(new, ons, offs)).values
    assert first[:, :3].tobytes() == second.tobytes()
    text = record(field("m0", "string", **{"eml.category": True}))
    assert compiled(text).decode(encoded(text, {"m0": "on"})).values[0, 0] == first[0, 0]


@pytest.mark.parametrize("count", [1, 9, 12])
def test_hostile_symbols_are_refused_and_long_written_ones_read(count):
    enums = [field(f"m{n}", {"type": "enum", "name": f"M{n}", "symbols": ["a", "b", "c"]}) for n in range(count)]
    schema = compiled(record(*enums))
    fine = bytes([4]) * (count - 1)
    assert reason(schema, fine + b"\x06") == "bad-value"  # the fourth of three
    assert reason(schema, fine + b"\x01") == "bad-value"  # the one before the first
    assert reason(schema, fine + b"\xff" * 11) == "bad-value"
    assert reason(schema, fine) == "truncated"
    assert reason(schema, fine + b"\x04\x00") == "trailing-bytes"
    assert same(schema.decode([fine + b"\x84\x80\x00"]).values, [[hash_symbol("c")] * count])


@given(batch=batches(), cut=st.integers(0, 5))
@settings(max_examples=50)
def test_where_a_micro_batch_is_cut_changes_nothing(batch, cut):
    schema, values = compiled(batch.schema), encoded(batch.schema, *batch.records)
    parts = [schema.decode(values[:cut]).values, schema.decode(values[cut:]).values]
    assert np.concatenate(parts).tobytes() == schema.decode(values).values.tobytes()


def test_reserved_fields_are_read():
    schema = record(KEY, EVENT_ID, EVENT_TIME, LABEL, field("x", "double"))
    moment = datetime(2026, 11, 16, 6, 30, tzinfo=UTC)
    common = {"sensor_id": "press-7", "event_id": "e", "x": 1.5}
    values = encoded(
        schema,
        {**common, "event_time": moment, "label": None},
        {**common, "event_time": -1, "label": "grün" * 40},
    )
    decoded = compiled(schema).decode(values)
    assert decoded.keys == ["press-7", "press-7"]
    assert decoded.event_ids == ["e", "e"]
    assert decoded.event_times == [int(moment.timestamp() * 1000), -1]
    assert decoded.labels == [None, "grün" * 40]


def test_reserved_fields_that_are_not_there_are_none():
    decoded = compiled(record(field("x", "double"))).decode([DOUBLE, DOUBLE])
    for column in (decoded.keys, decoded.event_ids, decoded.event_times, decoded.labels):
        assert column == [None, None]


ENUM = {"type": "enum", "name": "State", "symbols": ["fine", "worn"]}


@pytest.mark.parametrize("order", ["plain", "null first", "null last"])
@pytest.mark.parametrize(
    ("type_", "value", "want"),
    [
        ("string", "worn", "worn"),
        ("int", -3, "-3"),
        ("long", 2**40, str(2**40)),
        ("boolean", True, "true"),
        ("boolean", False, "false"),
        (ENUM, "worn", "worn"),
    ],
)
def test_labels_of_every_type_become_words(type_, value, want, order):
    union = {"plain": type_, "null first": ["null", type_], "null last": [type_, "null"]}[order]
    schema = record(field("label", union), field("x", "double"))
    values = encoded(schema, {"label": value, "x": 1.0})
    assert compiled(schema).decode(values).labels == [want]
    if order != "plain":
        assert compiled(schema).decode(encoded(schema, {"label": None, "x": 1.0})).labels == [None]


UUID = uuid.UUID("12345678-1234-5678-1234-567812345678")


@pytest.mark.parametrize(
    ("type_", "raw", "want"),
    [
        ("int", b"\x05", "-3"),
        ("long", write_long(2**40), str(2**40)),
        ({"type": "string", "logicalType": "uuid"}, b"\x48" + str(UUID).encode(), str(UUID)),
        ({"type": "fixed", "name": "Id", "size": 16, "logicalType": "uuid"}, UUID.bytes, str(UUID)),
    ],
)
def test_event_ids_of_every_type_become_words(type_, raw, want):
    schema = compiled(record(field("event_id", type_), field("x", "double")))
    assert schema.decode([raw + DOUBLE]).event_ids == [want]
    assert reason(schema, raw[:-1]) == "truncated"


@pytest.mark.parametrize(("unit", "per_ms"), [("millis", 1), ("micros", 1000), ("nanos", 1_000_000)])
def test_event_times_become_milliseconds(unit, per_ms):
    type_ = {"type": "long", "logicalType": f"timestamp-{unit}"}
    schema = compiled(record(field("event_time", type_), field("x", "double")))
    times = [1_763_270_000_123, 0, -1]
    assert schema.decode([write_long(t * per_ms) + DOUBLE for t in times]).event_times == times


def test_the_payload_may_begin_anywhere():
    schema = compiled(record(field("x", "double")))
    assert schema.decode([b"\x00\x00\x00\x00\x07" + DOUBLE], 5).values.tolist() == [[1.5]]
    assert [error.reason for _, error in schema.decode([b"", b"\x00" * 5], 5).bad] == ["truncated", "truncated"]


@given(st.lists(st.sampled_from(WHOLE["long"]) | st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_longs_are_read_as_written_one_by_one_and_all_at_once(longs):
    written = b"".join(map(write_long, longs))
    assert read_longs(written).tolist() == longs
    pos = 0
    for long in longs:
        value, pos = read_long(written, pos)
        assert value == long


# -- values that are not finite ----------------------------------------------------------------------------------------

SIGNALLING = {"double": b"\x01\x00\x00\x00\x00\x00\xf0\x7f", "float": b"\x01\x00\x80\x7f"}  # NaNs that could trap
PACKED = {"double": "<d", "float": "<f"}


@pytest.mark.parametrize("count", [1, 6])  # a list of numbers, a block
@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("kind", ["double", "float"])
def test_values_that_are_not_finite_are_refused_or_missing(kind, nullable, count):
    schema = record(KEY, *(field(f"f{n}", ["null", kind] if nullable else kind) for n in range(count)))
    branch, key = b"\x02" if nullable else b"", b"\x02k"
    fine = branch + struct.pack(PACKED[kind], 2.5)
    unfit = [
        *(struct.pack(PACKED[kind], value) for value in (math.nan, math.inf, -math.inf, -math.nan)),
        SIGNALLING[kind],
    ]
    values = [key + fine * count]
    for value in unfit:
        values += [key + fine * (count - 1) + branch + value, key + fine * count]
    decoded = compiled(schema).decode(values)
    check_whole(decoded, compiled(schema), len(values))
    assert decoded.rows == [0, 2, 4, 6, 8, 10]
    assert {error.reason for _, error in decoded.bad} == {"not-finite"}
    assert (decoded.values == 2.5).all()
    decoded = compiled(schema, MISSING).decode(values)
    assert decoded.rows == list(range(11))
    assert np.isnan(decoded.values[1::2, -1]).all()
    assert (decoded.values[:, : count - 1] == 2.5).all()


def test_null_is_missing_and_no_reason_to_refuse():
    schema = record(*(field(f"f{n}", ["null", "double"]) for n in range(70)))
    for nulls in ([0], [69], range(70), range(0, 70, 2), [3, 4, 5, 66]):
        each = {f"f{n}": None if n in nulls else float(n) for n in range(70)}
        for settings_ in (SETTINGS, MISSING):
            decoded = compiled(schema, settings_).decode(encoded(schema, each))
            assert same(decoded.values, [flat(each, list(each))])


# -- hostile bytes -----------------------------------------------------------------------------------------------------


def padded(number: int) -> bytes:
    """A number written longer than needed."""
    short = write_long(number)
    return short[:-1] + bytes([short[-1] | 0x80]) + b"\x80\x00"


def test_numbers_written_longer_than_needed_are_the_same_numbers():
    ints = record(KEY, *(field(f"f{n}", "int") for n in range(12)))
    decoded = compiled(ints).decode([padded(1) + b"k" + b"".join(padded(n - 6) for n in range(12))])
    assert decoded.values.tolist() == [[n - 6 for n in range(12)]]
    nullable = record(field("label", ["null", "string"]), *(field(f"f{n}", ["null", "double"]) for n in range(5)))
    values = padded(0) + (padded(1) + DOUBLE) * 2 + padded(0) + b"\x02" + DOUBLE + b"\x00"
    assert same(compiled(nullable).decode([values]).values, [[1.5, 1.5, math.nan, 1.5, math.nan]])


LONG = "\xff".encode("latin-1")
TOO_LONG = LONG * 10 + b"\x01"  # eleven bytes
OVER_64 = LONG * 9 + b"\x02"
OVER_32 = write_long(2**31)
HUGE = write_long(2**62)
ARRAY = {"type": "array", "items": "boolean"}
BAD_BYTES = {
    "negative union index": (["null", "double"], b"\x01" + DOUBLE, "bad-value"),
    "union index out of range": (["null", "double"], b"\x04" + DOUBLE, "bad-value"),
    "negative index of an ignored union": (["null", "string", "int"], b"\x01\x00", "bad-value"),
    "index of an ignored union out of range": (["null", "string", "int"], b"\x06\x00", "bad-value"),
    "negative enum index": (ENUM, b"\x01", "bad-value"),
    "enum index out of range": (ENUM, b"\x04", "bad-value"),
    "a long of eleven bytes": ("long", TOO_LONG, "bad-value"),
    "a long of more than 64 bits": ("long", OVER_64, "bad-value"),
    "an int of more than 32 bits": ("int", OVER_32, "bad-value"),
    "a boolean of 2": ("boolean", b"\x02", "bad-value"),
    "a string of negative length": ("string", b"\x01", "bad-value"),
    "a string of 2**62 bytes": ("string", HUGE, "truncated"),
    "a string that is not UTF-8": ("string", b"\x04\xc3\x28", "bad-value"),
    "a string with half a surrogate": ("string", b"\x06\xed\xa0\x80", "bad-value"),
    "bytes of negative length": ("bytes", b"\x01", "bad-value"),
    "bytes of 2**62 bytes": ("bytes", HUGE, "truncated"),
    "a fixed that is cut": ({"type": "fixed", "name": "F", "size": 10**30}, b"\x00" * 50, "truncated"),
    "an array of 2**62 items": (ARRAY, HUGE, "truncated"),
    "an array of -2**63 items": (ARRAY, write_long(-(2**63)) + HUGE, "bad-value"),
    "a block of negative size": (ARRAY, b"\x01\x01", "bad-value"),
    "a block beyond the end": (ARRAY, b"\x01" + HUGE, "truncated"),
    "a block too small for its items": (ARRAY, b"\x05\x02\x00\x00", "bad-value"),
    "an array of wrong items": (ARRAY, b"\x02\x02\x00", "bad-value"),
    "an array without an end": (ARRAY, b"\x02\x00", "truncated"),
    "a map with a negative key": ({"type": "map", "values": "int"}, b"\x02\x01\x00\x00", "bad-value"),
    "a map of 2**62 items": ({"type": "map", "values": "int"}, HUGE, "truncated"),
}


@pytest.mark.parametrize(("type_", "raw", "want"), BAD_BYTES.values(), ids=BAD_BYTES)
def test_hostile_bytes_are_refused(type_, raw, want):
    last = compiled(record(field("x", "double"), field("y", type_)))
    started = time.monotonic()
    assert reason(last, DOUBLE + raw) == want
    if want != "truncated":
        first = compiled(record(field("y", type_), field("x", "double")))
        assert reason(first, raw + DOUBLE) == want
    assert time.monotonic() - started < A_WHILE_S


@pytest.mark.parametrize("kind", ["int", "long"])
@pytest.mark.parametrize("place", [0, 11])
def test_hostile_numbers_inside_a_block_are_refused(kind, place):
    schema = compiled(record(*(field(f"f{n}", kind) for n in range(12))))
    over = {"int": OVER_32, "long": OVER_64}[kind]
    for raw, want in ((TOO_LONG, "bad-value"), (over, "bad-value"), (b"", "truncated")):
        assert reason(schema, b"\x02" * place + raw + b"\x02" * (11 - place)) == want


def test_hostile_branches_inside_a_block_are_refused():
    schema = compiled(record(*(field(f"f{n}", ["null", "double"]) for n in range(6))))
    value = b"\x02" + DOUBLE
    assert reason(schema, value * 5 + b"\x01" + DOUBLE) == "bad-value"
    assert reason(schema, b"\x04" + DOUBLE + value * 5) == "bad-value"
    assert reason(schema, value * 5 + b"\x02" + DOUBLE[:-1]) == "truncated"
    assert reason(schema, b"\x00" * 5) == "truncated"


@pytest.mark.parametrize("label", [["null", "string"], ENUM, "boolean", "int"])
def test_hostile_labels_are_refused(label):
    schema = compiled(record(field("label", label), field("x", "double")))
    assert reason(schema, TOO_LONG + DOUBLE) == "bad-value"
    assert reason(schema, OVER_32 + DOUBLE) == "bad-value"


@given(batch=batches())
@settings(max_examples=50)
def test_a_record_cut_anywhere_is_truncated_and_one_too_long_has_trailing_bytes(batch):
    schema = compiled(batch.schema)
    for payload in encoded(batch.schema, *batch.records[:1]):
        for length in range(len(payload)):
            assert reason(schema, payload[:length]) == "truncated"
        assert reason(schema, payload + b"\x00") == "trailing-bytes"


def test_blocks_with_a_size_are_skipped():
    schema = compiled(record(field("many", {"type": "array", "items": "int"}), field("x", "double")))
    sized = b"\x05\x06\x02\x04\x06"  # -3 items in 3 bytes
    plain = b"\x04\x02\x04"
    assert schema.decode([sized + plain + sized + b"\x00" + DOUBLE]).values.tolist() == [[1.5]]


def test_many_small_blocks_and_wide_items_take_time_by_their_bytes():
    wide = record(*(field(f"n{n}", "null") for n in range(2_000)), field("b", "boolean"), name="Wide")
    schema = compiled(record(field("many", {"type": "array", "items": wide}), field("x", "double")))
    started = time.monotonic()
    payload = write_long(100_000) + bytes(100_000) + b"\x02\x00" * 10_000 + b"\x00" + DOUBLE
    assert schema.decode([payload]).values.tolist() == [[1.5]]
    assert time.monotonic() - started < 5 * A_WHILE_S


def test_a_bad_record_leaves_no_trace_in_its_neighbours():
    schema = record(KEY, field("a", "int"), *(field(f"f{n}", "double") for n in range(6)), field("z", "string"))
    rows = [{"sensor_id": f"s{n}", "a": n, **{f"f{k}": n + k / 8 for k in range(6)}, "z": "end"} for n in range(5)]
    values = encoded(schema, *rows)
    values[1] = values[1][:-1] + b"\xff"  # everything before is fine
    values[3] = values[3][:10]
    decoded = compiled(schema).decode(values)
    assert decoded.rows == [0, 2, 4]
    assert [row for row, _ in decoded.bad] == [1, 3]
    assert decoded.keys == ["s0", "s2", "s4"]
    assert same(decoded.values, [flat(rows[n], compiled(schema).space.names) for n in (0, 2, 4)])


# -- fuzzing -----------------------------------------------------------------------------------------------------------


@given(batch=batches(), noise=st.lists(st.binary(max_size=80), max_size=20))
def test_random_bytes_are_good_or_bad_and_nothing_else(batch, noise):
    schema = compiled(batch.schema, MISSING)
    check_whole(schema.decode(noise), schema, len(noise))


def mutated(payload: bytes, dice: random.Random) -> bytes:
    """A payload with a few bytes changed, gone or new."""
    changed = bytearray(payload)
    for _ in range(dice.randint(1, 3)):
        place = dice.randrange(len(changed) + 1)
        kind = dice.random()
        if kind < 0.6 and place < len(changed):
            changed[place] = dice.choice((0, 1, 2, 3, 4, 0x7F, 0x80, 0xFF, dice.randrange(256)))
        elif kind < 0.8:
            del changed[place : place + dice.randint(1, 9)]
        else:
            changed[place:place] = dice.randbytes(dice.randint(1, 9))
    return bytes(changed)


@given(batch=batches(), seed=st.integers(0, 2**32))
@settings(max_examples=200)
def test_of_damaged_records_only_those_are_taken_that_read_the_same_elsewhere(batch, seed):
    schema = compiled(batch.schema, MISSING)
    dice = random.Random(seed)  # noqa: S311  a repeatable choice
    values = [mutated(payload, dice) for payload in encoded(batch.schema, *batch.records) for _ in range(10)]
    decoded = schema.decode(values)
    check_whole(decoded, schema, len(values))
    if "'array'" in str(batch.schema) or "'map'" in str(batch.schema):
        return  # a block with a size is not looked into here, but it is there
    for row, got in zip(decoded.rows, decoded.values, strict=True):
        found, left = fastavro_reads(batch.schema, values[row])
        want = np.array(flat(found, schema.space.names, schema.space.categories))
        want[~np.isfinite(want)] = math.nan
        assert left == 0
        assert same(got, want)
