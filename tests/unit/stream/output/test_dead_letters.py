"""Dead letters: where they come from, why, and that they always fit."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.settings import LimitsSettings
from eml.stream.limits import headers_size
from eml.stream.output.dead_letters import LONGEST_MESSAGE, DeadLetter, DeadLetterRecord, encode
from eml.stream.records import REPLAYS, Raw
from eml.stream.wire import SchemaId
from tests.unit.stream.output.examples import POSITION

LIMITS = LimitsSettings()


def letter(**changes: Any) -> DeadLetter:
    raw = Raw(b"\x00\x00\x00\x00\x07", POSITION, {"trace": b"\x01\xff"})
    return replace(DeadLetter(raw, "truncated", "BadRecordError", "it ends too early", SchemaId(7)), **changes)


def headers(dead: DeadLetter) -> dict[str, bytes | None]:
    return dict(encode(b"pump", dead, LIMITS).headers)


def size(written: DeadLetterRecord) -> int:
    return len(written.key or b"") + len(written.value or b"") + headers_size(written.headers)


def test_a_dead_letter_says_where_it_comes_from_and_why():
    assert headers(letter()) == {
        "trace": b"\x01\xff",
        "__connect.errors.topic": b"readings",
        "__connect.errors.partition": b"3",
        "__connect.errors.offset": b"1234567",
        "__connect.errors.stage": b"VALUE_CONVERTER",
        "__connect.errors.class.name": b"eml.stream",
        "__connect.errors.exception.class.name": b"BadRecordError",
        "__connect.errors.exception.message": b"it ends too early",
        "eml.errors.reason": b"truncated",
        "eml.errors.schema.id": b"7",
        "eml.errors.timestamp": b"1763270000123",
    }


def test_a_letter_that_dies_again_tells_of_its_last_death_only():
    again = letter(raw=Raw(b"", POSITION, headers(letter())), reason="not-framed", schema_id=None)
    assert headers(again)["eml.errors.reason"] == b"not-framed"
    assert "eml.errors.schema.id" not in headers(again)
    assert headers(again)["trace"] == b"\x01\xff"


def test_a_long_or_broken_message_becomes_a_short_header():
    long = headers(letter(message="é" * 5_000))["__connect.errors.exception.message"]
    assert long == ("é" * LONGEST_MESSAGE).encode()
    assert headers(letter(message="half \ud83d"))["__connect.errors.exception.message"] == b"half ?"


def test_a_header_without_a_value_stays_so():
    assert headers(letter(raw=Raw(b"", POSITION, {"empty": None})))["empty"] is None


def test_a_record_too_large_to_write_is_shortened_with_its_length_and_hash():
    junk = bytes(range(256)) * 4_096  # 1 MiB
    written = encode(b"pump", letter(raw=Raw(junk, POSITION, {"trace": b"1"})), LIMITS)
    assert written.value
    assert junk.startswith(written.value)
    assert len(written.value) > 500_000
    assert size(written) <= LIMITS.dead_letter_bytes
    assert written.headers["eml.errors.shortened"] == b"value"
    assert written.headers["eml.errors.original.value.length"] == b"1048576"
    assert written.headers["eml.errors.original.value.sha256"] == hashlib.sha256(junk).hexdigest().encode()
    assert written.headers["trace"] == b"1"


def test_a_key_too_large_to_write_is_shortened_with_its_length_and_hash():
    key = b"k" * 530_000
    written = encode(key, letter(), LIMITS)
    assert written.key == key[: LIMITS.key_bytes]
    assert written.headers["eml.errors.shortened"] == b"key"
    assert written.headers["eml.errors.original.key.length"] == b"530000"
    assert written.headers["eml.errors.original.key.sha256"] == hashlib.sha256(key).hexdigest().encode()


@given(
    st.none() | st.integers(0, 1_000_000),
    st.none() | st.integers(0, 1_000_000),
    st.dictionaries(st.text(max_size=5), st.none() | st.integers(0, 300_000), max_size=4),
    st.text(max_size=2_000),
)
def test_a_dead_letter_always_fits(key, value, own, message):
    kept = {name: None if length is None else bytes(length) for name, length in own.items()}
    raw = Raw(None if value is None else bytes(value), POSITION, kept)
    written = encode(None if key is None else bytes(key), letter(raw=raw, message=message), LIMITS)
    assert size(written) <= LIMITS.dead_letter_bytes
    assert ((written.value or b"") == (raw.value or b"")) == (
        b"value" not in (written.headers.get("eml.errors.shortened") or b"")
    )


@pytest.mark.parametrize("value", [None, b""])
def test_nothing_stays_nothing(value):
    assert encode(None, letter(raw=Raw(value, POSITION, {})), LIMITS).value == value


def test_the_count_of_replays_outlives_headers_that_are_too_long():
    long = {"long": b"x" * 70_000}
    assert headers(letter(raw=Raw(b"", POSITION, {**long, REPLAYS: b"3"})))[REPLAYS] == b"3"
    assert REPLAYS not in headers(letter(raw=Raw(b"", POSITION, {REPLAYS: b"3" * 70_000})))
