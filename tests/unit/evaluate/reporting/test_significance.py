"""Wilcoxon's test over pairs, and Holm's correction."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.evaluate.reporting.significance import holm, paired_p

PS = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12)


@given(PS)
def test_holm_rejects_what_the_step_down_procedure_rejects(values):
    """The definition: going up from the least, reject while p <= level / (tests left)."""
    corrected = holm(values)
    for level in (0.01, 0.05, 0.3):
        rejected = set()
        for rank, place in enumerate(np.argsort(values, kind="stable").tolist()):
            if values[place] * (len(values) - rank) > level:
                break
            rejected.add(place)
        assert {place for place, p in enumerate(corrected) if p <= level} == rejected


@given(PS)
def test_holm_keeps_the_order_and_never_lowers_a_p(values):
    corrected = holm(values)
    assert all(before <= after <= 1.0 for before, after in zip(values, corrected, strict=True))
    for one, other in itertools.combinations(range(len(values)), 2):
        if values[one] < values[other]:
            assert corrected[one] <= corrected[other]


def test_holm_of_one_or_none_is_itself():
    assert holm([0.03]) == [0.03]
    assert holm([]) == []


@pytest.mark.parametrize("seeds", [3, 5, 8])
def test_p_of_differences_of_one_sign_is_the_share_of_sign_patterns(seeds):
    ours = np.arange(seeds) + 10.0
    theirs = ours - np.arange(1, seeds + 1)
    assert paired_p(ours.tolist(), theirs.tolist()) == pytest.approx(2.0 ** (1 - seeds))
    assert paired_p(theirs.tolist(), ours.tolist()) == pytest.approx(2.0 ** (1 - seeds))


def test_equal_figures_are_no_difference_and_no_pairs_no_answer():
    assert paired_p([90.0, 0.1 + 0.2], [90.0, 0.3]) == 1.0
    assert paired_p([], []) is None


def test_pairs_count_not_means():
    hard = np.linspace(50.0, 90.0, 12)  # seeds differ far more than methods do
    p = paired_p((hard + 0.3).tolist(), hard.tolist())
    assert p is not None
    assert p < 0.01
