"""Rows for peers that know no names: every feature has its own place for good, and the scale is River's."""

import numpy as np
import pytest
from river import preprocessing

from eml.core import FeatureSpace
from eml.evaluate.prequential.padded import Places, RunningScaler

NAN = float("nan")


def test_features_keep_their_places_by_name_and_those_a_record_lacks_are_nan():
    places = Places(FeatureSpace(("b", "a")))
    np.testing.assert_array_equal(places.pad(np.array([[1.0, 2.0]])), [[1.0, 2.0]])
    places.enter(FeatureSpace(("c", "b")))  # a is gone, c is new
    np.testing.assert_array_equal(places.pad(np.array([[3.0, 1.0]])), [[1.0, NAN, 3.0]])
    places.enter(FeatureSpace(("a", "d", "c")))  # a is back, b is gone
    np.testing.assert_array_equal(places.pad(np.array([[2.0, 4.0, 3.0]])), [[NAN, 2.0, 3.0, 4.0]])


def test_the_scale_is_that_of_rivers_scaler_also_for_features_that_come_late():
    random = np.random.default_rng(0)
    ours, theirs = RunningScaler(), preprocessing.StandardScaler()
    for number in range(40):
        there = {name: float(random.normal(5.0, 3.0)) for name in ("ab" if number < 20 else "bc")}
        row = np.array([there.get(name, NAN) for name in ("ab" if number < 20 else "abc")])
        ours.learn(row)
        theirs.learn_one(there)
        scaled = dict(zip("abc", ours.scale(row[None, :])[0].tolist(), strict=False))
        assert {name: scaled[name] for name in there} == pytest.approx(theirs.transform_one(there))
        assert all(np.isnan(scaled[name]) for name in scaled if name not in there)
