"""Running statistics and cleaning: what numpy would say of it all at once, and what never reaches the metric."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eml.core.statistics import CLIP, KNOWN_AFTER, LARGEST, Statistics
from tests.unit.core.helpers import Values

CELLS = st.one_of(st.floats(-1e3, 1e3, width=32), st.just(np.nan))


def taught(X: Values) -> Statistics:
    """Statistics that took one batch in as the learner does."""
    statistics = Statistics.empty(X.shape[1])
    statistics.set_origins(X)
    cleaned, present, _ = statistics.clean(X)
    statistics.update(cleaned, present)
    return statistics


@given(X=arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=CELLS), data=st.data())
def test_mean_and_deviation_are_numpys_however_the_batches_were_cut(X, data):
    cuts = sorted(data.draw(st.sets(st.integers(1, len(X)), max_size=4)) | {len(X)})
    statistics = Statistics.empty(X.shape[1])
    for start, end in zip([0, *cuts], cuts, strict=False):
        present = np.isfinite(X[start:end])
        statistics.update(np.where(present, X[start:end], statistics.mean), present)
    for column in range(X.shape[1]):
        values = X[np.isfinite(X[:, column]), column]
        assert statistics.count[column] == len(values)
        expected = (values.mean(), values.std()) if len(values) else (0.0, 0.0)
        np.testing.assert_allclose(statistics.mean[column], expected[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(statistics.deviation()[column], expected[1], rtol=1e-6, atol=1e-5)


@given(X=arrays(np.float64, (12, 2), elements=st.floats(-1e3, 1e3)), cut=st.integers(1, 11))
def test_origin_and_mean_together_are_the_mean(X, cut):
    statistics = Statistics.empty(2)
    for part in (X[:cut], X[cut:]):
        statistics.set_origins(part)
        cleaned, present, cut_off = statistics.clean(part)
        assume(cut_off == 0)
        statistics.update(cleaned, present)
    np.testing.assert_allclose(statistics.origin + statistics.mean, X.mean(axis=0), atol=1e-8)


def test_what_is_not_finite_is_missing_and_stands_at_the_mean():
    statistics = taught(np.random.default_rng(0).normal(size=(50, 3)) + 7.0)
    X = np.array([[np.nan, np.inf, 7.0], [-np.inf, 7.0, np.nan]])
    cleaned, present, cut = statistics.clean(X)
    np.testing.assert_array_equal(present, [[False, False, True], [False, True, False]])
    np.testing.assert_array_equal(cleaned[~present], np.broadcast_to(statistics.mean, X.shape)[~present])
    np.testing.assert_allclose(cleaned[present], (X - statistics.origin)[present])
    assert cut == 0
    assert np.isfinite(cleaned).all()


def test_missing_values_do_not_count():
    statistics = taught(np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.inf]]))
    np.testing.assert_array_equal(statistics.count, [2, 0])
    np.testing.assert_array_equal(statistics.deviation(), [1.0, 0.0])
    np.testing.assert_array_equal(statistics.origin, [2.0, 0.0])


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_value_a_million_times_the_usual_is_cut_and_counted(sign):
    statistics = taught(np.random.default_rng(0).normal(size=(100, 2)))
    cleaned, present, cut = statistics.clean(np.array([[0.5, sign * 1e6], [1.0, -1.0]]))
    assert cut == 1
    assert present.all()
    limit = 1.2 * CLIP
    assert 0.8 * CLIP < sign * cleaned[0, 1] < limit
    np.testing.assert_allclose(cleaned[[0, 1, 1], [0, 0, 1]], [0.5, 1.0, -1.0] - statistics.origin[[0, 0, 1]])


def test_while_little_is_known_only_absurd_values_are_cut():
    statistics = taught(np.full((KNOWN_AFTER - 1, 1), 1e-3))
    assert statistics.clean(np.array([[1e14]]))[2] == 0
    assert statistics.clean(np.array([[1e17]]))[2] == 1
    assert statistics.clean(np.array([[1e17]]))[0] == LARGEST


def test_a_first_batch_of_two_like_samples_does_not_narrow_what_is_usual():
    statistics = taught(np.array([[1.0], [1.001]]))
    assert statistics.clean(np.array([[2.0], [-3.0]]))[2] == 0


def test_a_flag_that_is_seldom_set_is_no_glitch():
    flags = np.zeros((4000, 1))
    flags[::2000] = 1.0
    assert taught(flags).clean(np.ones((1, 1)))[2] == 0


def test_a_feature_that_was_always_zero_may_wake_up():
    statistics = taught(np.zeros((100, 1)))
    cleaned, _, cut = statistics.clean(np.array([[5.0]]))
    assert cut == 0
    assert cleaned == 5.0


def test_the_largest_floats_are_cleaned_without_overflow():
    statistics = taught(np.array([[1e308, -1e308], [1e308, 1e308]]))
    cleaned, _, _ = statistics.clean(np.array([[1.7e308, -1.7e308]]))
    assert np.isfinite(cleaned).all()
    assert np.isfinite(statistics.deviation()).all()


@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12, -1e12])
def test_small_differences_survive_a_large_offset_in_single_precision(offset):
    noise = np.random.default_rng(0).normal(size=(200, 1))
    statistics = taught(noise[:100] + offset)
    cleaned, _, cut = statistics.clean(noise[100:] + offset)
    single = cleaned.astype(np.float32)
    assert cut == 0
    np.testing.assert_allclose(single - single[0], noise[100:] - noise[100], atol=1e-3)
    np.testing.assert_allclose(statistics.deviation(), noise[:100].std(), rtol=1e-3)


@pytest.mark.parametrize("glitch", [1e10, 1e14])
def test_one_absurd_value_in_the_first_batch_does_not_cost_the_others_their_differences(glitch):
    X = np.random.default_rng(0).normal(size=(64, 1))
    first = X.copy()
    first[3] = glitch
    statistics = taught(first)
    single = statistics.clean(X)[0].astype(np.float32)
    np.testing.assert_allclose(single - single[0], X - X[0], atol=1e-2)


def test_the_origin_is_chosen_once_by_the_first_batch_that_shows_a_feature():
    statistics = Statistics.empty(2)
    for batch, expected in (
        ([[4.0, np.nan], [6.0, np.nan]], [5.0, 0.0]),
        ([[100.0, 8.0], [np.nan, 10.0]], [5.0, 9.0]),
        ([[0.0, 0.0]], [5.0, 9.0]),
    ):
        X = np.array(batch)
        statistics.set_origins(X)
        np.testing.assert_array_equal(statistics.origin, expected)
        cleaned, present, _ = statistics.clean(X)
        statistics.update(cleaned, present)


def test_cleaning_changes_no_statistics_and_no_input():
    statistics = taught(np.random.default_rng(0).normal(size=(50, 2)))
    before = [field.copy() for field in statistics.fields()]
    X = np.array([[np.nan, 1e9]])
    statistics.clean(X)
    for field, was in zip(statistics.fields(), before, strict=True):
        np.testing.assert_array_equal(field, was)
    np.testing.assert_array_equal(X, [[np.nan, 1e9]])


def test_selecting_moves_the_statistics_of_a_feature_and_starts_new_ones_afresh():
    statistics = taught(np.random.default_rng(0).normal(size=(50, 3)))
    picked = statistics.select([2, None, 0])
    for mine, theirs in zip(picked.fields(), statistics.fields(), strict=True):
        np.testing.assert_array_equal(mine, [theirs[2], 0.0, theirs[0]])
    picked.origin[0] = 99.0
    assert statistics.origin[2] != 99.0
