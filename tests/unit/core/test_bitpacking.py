"""Tables in few bits: exact whatever the values are, and small where they are multiples of something."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as tables

from eml.core.bitpacking import pack, unpack
from tests.unit.core.helpers import Values


def bytes_of(X: Values) -> int:
    """How many a table takes, which comes back in the same bits."""
    X = np.asarray(X, dtype=np.float32)
    data = pack(X)
    again, size = unpack(memoryview(data + b"what follows"), *X.shape)
    assert again.tobytes() == X.tobytes()
    assert size == len(data)
    return size


@given(tables.arrays(np.float32, st.tuples(st.integers(0, 9), st.integers(0, 4)), elements=st.floats(width=32)))
def test_any_table_comes_back_bit_for_bit(X):
    bytes_of(X)


@given(
    tables.arrays(np.int32, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.integers(-(2**17), 2**17)),
    st.integers(-140, 90),
)
def test_multiples_of_a_power_of_two_take_no_more_bits_than_their_range(multiples, exponent):
    spread = multiples.max(axis=0) - multiples.min(axis=0)
    most = sum(len(multiples) * int(each).bit_length() / 8 + 1 for each in spread)
    assert bytes_of(np.ldexp(multiples.astype(np.float64), exponent)) <= 7 * multiples.shape[1] + most


@pytest.mark.parametrize(
    ("column", "bits"),
    [
        (np.arange(1024) % 2, 1),
        (np.arange(1024) % 5 + 101_325, 3),
        (np.full(1024, 0.1), 0),
        (np.random.default_rng(0).normal(size=1024), 32),
        (np.append(np.arange(1023) % 2, 1e15), 32),
        (np.append(np.arange(1023) % 2, -0.0), 32),
    ],
    ids=["flag", "codes far from 0", "one value", "unrounded", "glitch", "negative zero"],
)
def test_a_column_takes_the_bits_that_it_needs(column, bits):
    assert bytes_of(column[:, None]) == 7 + 128 * bits
