"""The figures of an evolution, and that they survive being written down."""

import pytest

from eml.stream.models.recovery import FEWEST, MOVING, Recovery, Scores


def played(right: str, cold: str | None = None, before: float | None = 0.8, horizon: int = 10) -> Recovery:
    recovery = Recovery(horizon, before, compared=cold is not None)
    for number, digit in enumerate(right):
        recovery.add(right=digit == "1", cold=cold is not None and cold[number] == "1")
    return recovery


def test_figures_are_shares_of_what_was_scored():
    figures = played("1101111111", "0001010111").figures()
    assert (figures.scored, figures.first_records) == (10, 2)
    assert figures.accuracy_first == 1.0
    assert figures.cold_accuracy_first == 0.0
    assert figures.accuracy == pytest.approx(0.9)
    assert figures.regret == 5 - 9, "carrying over was worth four right answers"


def test_without_a_cold_restart_there_is_no_regret():
    figures = played("11").figures()
    assert figures.cold_accuracy_first is None
    assert figures.regret is None


def test_it_ends_with_the_horizon():
    recovery = Recovery(3, None, compared=False)
    assert [recovery.add(right=True, cold=False) for _ in range(3)] == [False, False, True]


def test_accuracy_is_back_when_a_moving_share_of_scores_is():
    horizon = 10 * MOVING
    bad, good = "0" * 60, "1" * 100
    figures = played(bad + good, before=0.9, horizon=horizon).figures()
    assert figures.back_after == 60 + 44, "44 of the last 50 are within 0.02 of 0.9"
    assert played(bad, before=0.9, horizon=horizon).figures().back_after is None
    assert played(good, before=None, horizon=horizon).figures().back_after is None, "back to what?"


def test_what_was_before_is_the_latest_scores():
    scores = Scores(100)
    for number in range(60):
        scores.add(right=number >= 40, cold=False, of_newest=True)
    assert scores.accuracy() == 1.0, "of the last 20"
    few = Scores(100)
    for _ in range(FEWEST - 1):
        few.add(right=True, cold=False, of_newest=True)
    assert few.accuracy() is None


def test_only_the_newest_version_counts_for_its_recovery():
    scores = Scores(2)
    scores.begin(compared=False)
    assert scores.add(right=True, cold=False, of_newest=False) is None
    assert scores.add(right=True, cold=False, of_newest=True) is None
    figures = scores.add(right=False, cold=False, of_newest=True)
    assert figures is not None
    assert figures.accuracy == 0.5
    assert scores.recovery is None


def test_it_may_end_early_and_may_have_nothing_to_tell():
    scores = Scores(10)
    assert scores.end() is None
    scores.begin(compared=True)
    assert scores.end() is None
    scores.begin(compared=True)
    scores.add(right=True, cold=True, of_newest=True)
    figures = scores.end()
    assert figures is not None
    assert (figures.scored, figures.regret) == (1, 0)
    none = Scores(0)
    none.begin(compared=True)
    assert none.recovery is None


@pytest.mark.parametrize("count", [0, 1, 30])
def test_it_is_the_same_through_plain_values(count):
    scores = Scores(50)
    for number in range(25):
        scores.add(right=number % 3 > 0, cold=False, of_newest=True)
    scores.begin(compared=True)
    for number in range(count):
        scores.add(right=number % 2 > 0, cold=number % 5 > 0, of_newest=True)
    assert Scores.load(50, [list(part) if isinstance(part, tuple) else part for part in scores.dump()]) == scores
