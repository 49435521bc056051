"""Any bytes at all as records, schemas, labels and keys: no error but the documented ones, and one end for each record.

Fast and repeatable; `make fuzz` runs the same functions for minutes, guided by coverage.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hostile import fuzzing


@given(data=st.binary(max_size=64))
@settings(max_examples=100)
def test_any_value_is_framed_or_refused(data):
    fuzzing.wire(data)


@given(data=st.binary(max_size=400))
@settings(max_examples=300)
def test_any_payload_is_decoded_or_refused(data):
    fuzzing.decode(data)


@given(data=st.binary(max_size=300))
@settings(max_examples=300)
def test_any_text_is_a_schema_or_refused(data):
    fuzzing.schema(data)


@given(data=st.binary(min_size=1, max_size=300))
@settings(max_examples=80)
@pytest.mark.filterwarnings("error")
def test_any_records_of_a_key_have_one_end_each_and_leave_a_model_that_can_be_kept(data):
    fuzzing.step(data)
