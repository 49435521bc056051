"""The frame around a record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.stream.errors import BadRecordError
from eml.stream.wire import HEADER_SIZE, LARGEST_ID, frame, unframe

IDS = st.integers(0, LARGEST_ID)


@given(schema_id=IDS, payload=st.binary(max_size=20))
def test_what_is_framed_is_unframed(schema_id, payload):
    value = frame(schema_id, payload)
    assert unframe(value) == schema_id
    assert value[HEADER_SIZE:] == payload


def test_the_frame_is_the_one_of_confluents_clients():
    assert frame(258, b"payload") == b"\x00\x00\x00\x01\x02payload"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "no-value"),
        (b"", "not-framed"),
        (b"\x00\x00\x00\x01", "not-framed"),
        (b"\x01\x00\x00\x00\x01payload", "not-framed"),
        (b'{"temperature": 3}', "not-framed"),
        (b"\x00\xff\xff\xff\xffpayload", "not-framed"),  # no registry gives an id that is negative in Java
    ],
)
def test_what_is_not_framed_is_a_bad_record(value, reason):
    with pytest.raises(BadRecordError) as error:
        unframe(value)
    assert error.value.reason == reason


@pytest.mark.parametrize("schema_id", [-1, LARGEST_ID + 1])
def test_only_an_id_can_be_framed(schema_id):
    with pytest.raises(ValueError, match="no schema id"):
        frame(schema_id, b"")
