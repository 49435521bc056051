"""Readings of one version in the columns of another."""

import numpy as np

from eml.stream.models.align_columns import align_columns
from tests.unit.stream.models.test_key_model import SCHEMAS


def test_late_values_land_in_the_columns_of_their_names():
    values = np.arange(6.0)[None]  # temperature, vibration_x, vibration_y, current, oil_pressure, rpm
    there = align_columns(values, SCHEMAS[10].space, SCHEMAS[30].space)
    np.testing.assert_array_equal(there, [[0.0, 1.0, np.nan, np.nan, 5.0]])
