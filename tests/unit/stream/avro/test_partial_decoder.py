"""A record decoded as far as it goes: whole where the decoder takes it, and elsewhere up to the field at fault."""

import json
import math
import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from eml.stream.avro.partial_decoder import MOST_FIELDS, PartialRecord, decode_partially
from eml.stream.avro.varints import write_long
from tests.unit.stream.avro.encoding import MISSING, SETTINGS, batches, compiled, encoded, fastavro_reads, field, record

A_WHILE_S = 2.0


def seen(schema: dict[str, Any], payload: bytes, start: int = 0) -> PartialRecord:
    return decode_partially(payload, start, json.dumps(schema), SETTINGS)


def leaves(found: Any, name: str = "") -> dict[str, Any]:
    """What fastavro has read, by the names that the fields of a partial record have."""
    if isinstance(found, dict):
        inner = {key: f"{name}.{key}" if name else key for key in found}
        return {leaf: value for key in found for leaf, value in leaves(found[key], inner[key]).items()}
    if isinstance(found, list):
        return {leaf: value for n, each in enumerate(found) for leaf, value in leaves(each, f"{name}[{n}]").items()}
    return {name: found}


@given(batch=batches(), start=st.sampled_from([0, 5]))
@settings(max_examples=100)
def test_what_fastavro_writes_is_read_whole_and_the_same(batch, start):
    for payload in encoded(batch.schema, *batch.records, start=start):
        found = seen(batch.schema, payload, start)
        assert (found.whole, found.failed, found.at) == (True, "", len(payload))
        ends = [start, *(each.end for each in found.fields)]
        assert all(each.start >= before for each, before in zip(found.fields, ends, strict=False))
        want, _ = fastavro_reads(batch.schema, payload[start:])
        # Entries of maps are named otherwise: m["a"].
        names = {each.name.replace('["', ".").replace('"]', ""): each.value for each in found.fields}
        assert names == leaves(want)


@given(batch=batches(), noise=st.lists(st.binary(max_size=80), max_size=10))
@settings(max_examples=50)
def test_nothing_is_whole_that_the_job_refuses(batch, noise):
    schema = compiled(batch.schema, MISSING)
    for payload in noise:
        if seen(batch.schema, payload).whole:
            assert schema.decode([payload]).rows == [0]


@given(batch=batches())
@settings(max_examples=30)
def test_a_record_cut_anywhere_is_read_up_to_the_field_that_is_cut(batch):
    for payload in encoded(batch.schema, *batch.records[:1]):
        whole = seen(batch.schema, payload).fields
        for length in range(0, len(payload), 1 + len(payload) // 20):
            found = seen(batch.schema, payload[:length])
            assert found.problem == "the record ends before its schema does"
            assert found.at <= length
            assert str(found.fields) == str(whole[: len(found.fields)])  # as text: NaN is not itself


def test_it_says_at_which_field_and_byte_it_ends():
    nested = record(field("ok", "boolean"), name="Inner")
    schema = record(field("x", "double"), field("s", "string"), field("in", nested), field("n", ["null", "int"]))
    good = bytes(8) + b"\x04ab" + b"\x01" + b"\x00"
    found = seen(schema, good)
    assert [(each.name, each.type, each.value, each.start, each.end) for each in found.fields] == [
        ("x", "double", 0.0, 0, 8),
        ("s", "string", "ab", 8, 11),
        ("in.ok", "boolean", True, 11, 12),
        ("n", "null", None, 13, 13),
    ]
    for bad, problem, failed, at in (
        (bytes(8) + b"\x04\xff\xff", "a string that is not UTF-8", "s", 8),
        (bytes(8) + b"\x04ab\x07", "a boolean that is neither 0 nor 1", "in.ok", 11),
        (bytes(8) + b"\x04ab\x01\x08", "branch or symbol 4 of 2", "n", 12),
        (good + b"!!", "2 bytes follow the record", "", len(good)),
        (b"", "the record ends before its schema does", "x", 0),
    ):
        found = seen(schema, bad)
        assert (found.problem, found.failed, found.at) == (problem, failed, at)


def test_values_that_the_job_does_not_take_are_shown():
    schema = record(field("x", "double"), field("b", {"type": "fixed", "name": "F", "size": 2}))
    found = seen(schema, b"\x00\x00\x00\x00\x00\x00\xf8\x7f" + b"ab")
    assert math.isnan(float(str(found.fields[0].value)))
    assert found.fields[1].value == b"ab"
    assert found.whole


def test_a_refused_schema_is_said_and_nothing_is_decoded():
    found = decode_partially(
        b"abc", 0, '{"type": "record", "name": "R", "fields": [{"name": "r", "type": "R"}]}', SETTINGS
    )
    assert found.problem.startswith("the schema is refused: 'R' contains itself")
    assert not found.fields


def test_work_and_memory_are_bounded_whatever_a_record_claims():
    wide = record(*(field(f"n{n}", "null") for n in range(2_000)), field("b", "boolean"), name="Wide")
    inner = {"type": "map", "values": "boolean"}
    schema = record(field("many", {"type": "array", "items": wide}), field("keys", {"type": "map", "values": inner}))
    started = time.monotonic()
    found = seen(schema, write_long(100_000) + bytes(100_000) + b"\x00\x00")
    assert len(found.fields) == MOST_FIELDS
    assert "the others are not shown" in found.problem
    long_key = write_long(100_000) + b"k" * 100_000
    entries = write_long(9_000) + b"\x02a\x01" * 9_000 + b"\x00"
    found = seen(schema, b"\x00" + b"\x02" + long_key + entries + b"\x00")
    assert found.whole
    assert max(len(each.name) for each in found.fields) < 200
    assert time.monotonic() - started < A_WHILE_S
