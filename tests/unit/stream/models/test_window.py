"""The window of a version model: its bytes, and when it closes."""

import numpy as np
import pytest

from eml.stream.models.window import NOT_STARTED, Window


def test_a_window_is_the_same_through_bytes_and_emptied_by_taking_it():
    window = Window()
    window.add(np.array([[1.5, np.nan, -2.0], [0.0, 1e300, 5.0]]), ["läuft", "steht"], 1_763_270_000_123)
    again = Window.load(*window.dump())
    values, labels = again.take()
    np.testing.assert_array_equal(values, window.take()[0])
    assert labels == ["läuft", "steht"]
    assert (len(again), again.started_ms) == (0, NOT_STARTED)
    assert len(Window.load(*again.dump())) == 0


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_it_closes_after_as_many_labels_as_it_takes(size):
    window, labelled = Window(), [1, 3, 4, 6]
    served = window.readings_until_close(labelled, list(range(7)), size, longest_ms=1_000)
    assert sum(row < served for row in labelled) == min(size, 4)
    assert served == 7 or served - 1 in labelled, "right after the label that fills it"


@pytest.mark.parametrize("number", [1, 2, 4])
def test_it_closes_at_the_first_reading_that_is_too_late(number):
    times = [0, 1, 2, 3, 4]
    times[number:] = [time + 100 for time in times[number:]]
    assert Window().readings_until_close(range(5), times, 32, longest_ms=50) == number
    assert Window().readings_until_close([], times, 32, longest_ms=50) == 5, "an empty one is not open"


def test_one_that_is_larger_than_it_may_be_closes_after_the_next_label():
    window = Window()
    window.add(np.zeros((4, 2)), ["a"] * 4, 0)
    assert window.is_full(3)
    assert window.readings_until_close([1, 2], [1, 2, 3], 3, longest_ms=1_000) == 2
