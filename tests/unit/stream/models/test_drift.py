"""The drift detector: it hears a rise and no fall, seldom cries for nothing, and is the same after a restart."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eml.stream.models.drift import MOST, DriftDetector
from eml.stream.output.events import Drift

SENSITIVITY = 0.005


def errors(rate: float, count: int, seed: int = 0) -> list[bool]:
    return [bool(wrong) for wrong in np.random.default_rng(seed).random(count) < rate]


def drifts(detector: DriftDetector, wrong: list[bool]) -> list[tuple[int, Drift]]:
    """When it says so, and what."""
    said = [(number, detector.update(each)) for number, each in enumerate(wrong, 1)]
    return [(number, drift) for number, drift in said if drift is not None]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("before", [300, 1500, MOST - 10])
def test_a_rise_is_detected_within_two_hundred_records_and_reported_truly(before, seed):
    detector = DriftDetector(SENSITIVITY)
    assert drifts(detector, errors(0.1, before, seed)) == []
    (number, drift), *_ = drifts(detector, errors(0.4, 400, 100 + seed))
    assert number <= 200
    assert drift.error_before == pytest.approx(0.1, abs=0.06)
    assert drift.error_after == pytest.approx(0.4, abs=0.16)
    assert drift.error_after > drift.error_before
    assert drift.records_after == pytest.approx(number, abs=70)
    assert drift.records_before + drift.records_after < MOST


def test_a_fall_is_no_drift():
    detector = DriftDetector(SENSITIVITY)
    assert drifts(detector, errors(0.6, 600) + errors(0.1, 1500)) == []


def test_after_a_fall_a_rise_is_detected_again():
    detector = DriftDetector(SENSITIVITY)
    drifts(detector, errors(0.6, 600) + errors(0.1, 1500))
    assert drifts(detector, errors(0.5, 300))


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.3, 1.0])
def test_nothing_is_detected_where_nothing_changes(rate):
    assert drifts(DriftDetector(SENSITIVITY), errors(rate, 5000, 3)) == []


def test_one_that_is_off_hears_and_keeps_nothing():
    detector = DriftDetector(0.0)
    assert drifts(detector, errors(0.0, 500) + errors(1.0, 500)) == []
    assert detector.dump() == [0, ""]


def test_after_a_reset_nothing_is_left_to_compare_with():
    detector = DriftDetector(SENSITIVITY)
    drifts(detector, errors(0.1, 1000))
    detector.reset()
    assert detector.dump() == DriftDetector(SENSITIVITY).dump()
    assert drifts(detector, errors(0.5, 1000)) == []


def restored(detector: DriftDetector) -> DriftDetector:
    return DriftDetector.load(SENSITIVITY, json.loads(json.dumps(detector.dump())))


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from([0.05, 0.1, 0.5, 0.9]), st.integers(1, 500)), min_size=2, max_size=8),
    st.sampled_from([1, 31, 32, 100, 511, 1024]),
    st.integers(0, 9),
)
def test_a_restored_detector_says_what_an_unbroken_one_does(phases, every, seed):
    unbroken, broken = DriftDetector(SENSITIVITY), DriftDetector(SENSITIVITY)
    stream = [wrong for i, (rate, count) in enumerate(phases) for wrong in errors(rate, count, 100 * seed + i)]
    for number, wrong in enumerate(stream[:1200] if every == 1 else stream):
        assert broken.update(wrong) == unbroken.update(wrong)
        if number % every == 0 and (every > 1 or number % 97 < 3):
            broken = restored(broken)
    assert broken.dump() == unbroken.dump()


def test_one_restored_after_the_older_half_was_dropped_goes_on_alike():
    unbroken = DriftDetector(SENSITIVITY)
    drifts(unbroken, errors(0.1, MOST + 77))
    broken = restored(unbroken)
    future = errors(0.25, 600, 5)
    assert drifts(broken, future) == drifts(unbroken, future) != []


def test_the_state_is_small_however_long_the_stream():
    detector = DriftDetector(SENSITIVITY)
    drifts(detector, errors(0.1, 3 * MOST - 1))
    assert len(json.dumps(detector.dump())) < MOST / 8 * 4 / 3 + 20
