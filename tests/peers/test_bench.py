"""The benchmark runs, on sizes too small to measure anything; and what it compares is the same thing."""

import numpy as np
import pytest

from eml.core import LearnerConfig
from eml.core.stages import Objective, own_ties
from tests.bench.closed_form import literal, literal_G, problem, safe, safe_against_literal
from tests.bench.measure import Comparison, in_turn
from tests.bench.nulls import predictions_with_nulls, window_against_river, with_holes
from tests.bench.throughput import PAIRS, against_river
from tests.bench.width import switch_against_update, wide_against_narrow

TINY = LearnerConfig(memory_size=64, batch=16, replay=8, pool=32, warm_up=32, rank=8)


def test_rivals_take_turns():
    calls = []
    took = in_turn({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repetitions=2)
    assert calls == ["a", "b"] * 3
    assert took.keys() == {"a", "b"}


@pytest.mark.parametrize(
    ("aim", "verdict"),
    [({}, ""), ({"at_most": 2.0}, "PASS"), ({"at_most": 1.0}, "MISS"), ({"at_least": 2.0}, "MISS")],
)
def test_verdict(aim, verdict):
    comparison = Comparison("speed", 1.5, "3 ms, 2 ms", **aim)
    assert comparison.verdict == verdict
    assert "1.5" in str(comparison)


def test_update_at_two_widths():
    assert wide_against_narrow(wide=48, narrow=16, repetitions=2, config=TINY).ratio > 0.0


def test_switch_beside_an_update():
    assert switch_against_update(d=16, repetitions=2, config=TINY).ratio > 0.0


def test_predictions_with_nulls_beside_complete_ones():
    assert np.isnan(with_holes(np.zeros((50, 20)))).any(axis=1).mean() > 0.5
    comparisons = predictions_with_nulls(d=16, batches=(8, 20), repetitions=1, config=TINY)
    assert [comparison.at_most for comparison in comparisons] == [2.0, 2.0, 2.0]


def test_a_window_of_labels_beside_river():
    beside_river, with_nulls = window_against_river(d=16, repetitions=1, config=TINY)
    assert beside_river.ratio > 0.0
    assert with_nulls.at_most == 2.0


def test_step_against_the_closed_form():
    as_printed, without_H = safe_against_literal(d=96, repetitions=1, config=TINY)
    assert as_printed.at_least == 20.0
    assert without_H.ratio > 0.0


def test_closed_form_and_safe_step_have_the_same_triplets():
    p = problem(96, TINY, Objective(wasserstein=False))  # plans with exact marginals: the terms of P cancel, as printed
    ties = own_ties(p.hinge, p.triplets, len(p.X))
    np.testing.assert_allclose(literal_G(p), p.X.T @ ((ties.pull - ties.push) @ p.X), atol=1e-9)
    assert literal(p).shape == safe(p).shape == p.L.shape


def test_throughput_beside_river():
    comparisons, lines = against_river(count=128, features=8, repetitions=1)
    assert len(comparisons) == len(PAIRS)
    assert all("accuracy" in line for line in lines)
