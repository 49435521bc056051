"""Curves: what was counted stays counted, however time comes, in bounded space."""

import random
from itertools import pairwise

from eml.watch import dips
from eml.watch.curve import Bin, Curve
from eml.watch.lately import Lately

MOST = 16


def _times(count: int, span_ms: int) -> list[int]:
    rng = random.Random(7)  # noqa: S311
    return [1_763_270_000_000 + rng.randrange(span_ms) for _ in range(count)]


def test_every_answer_is_in_the_bin_of_its_time_in_any_order():
    for span_ms in (1, 999, 60_000, 86_400_000, 30 * 86_400_000):
        times = _times(500, span_ms)
        curves = [Curve(MOST), Curve(MOST)]
        for curve, order in zip(curves, (times, sorted(times)), strict=True):
            for time_ms in order:
                curve.add(time_ms, right=time_ms % 3 == 0, cold_right=time_ms % 2 == 0 if time_ms % 5 == 0 else None)
        bins = list(curves[0].bins())
        assert len(bins) <= MOST
        assert all(a.last_ms + 1 == b.first_ms for a, b in pairwise(bins))
        for bin_ in bins:
            inside = [time_ms for time_ms in times if bin_.first_ms <= time_ms <= bin_.last_ms]
            cold = [time_ms for time_ms in inside if time_ms % 5 == 0]
            assert (bin_.scored, bin_.right) == (len(inside), sum(time_ms % 3 == 0 for time_ms in inside))
            assert (bin_.cold_scored, bin_.cold_right) == (len(cold), sum(time_ms % 2 == 0 for time_ms in cold))
        assert bins[0].scored
        assert bins[-1].scored
        assert sum(bin_.scored for bin_ in bins) == len(times)


def test_a_window_keeps_what_is_newest_and_only_that():
    window_ms = 3_600_000
    times = sorted(_times(3_000, 10 * window_ms))
    curve = Curve(MOST, window_ms)
    for time_ms in times:
        curve.add(time_ms, right=True)
    bins = list(curve.bins())
    assert bins[-1].first_ms <= times[-1] <= bins[-1].last_ms
    assert window_ms <= times[-1] - bins[0].first_ms < 1.3 * window_ms
    kept = sum(time_ms >= bins[0].first_ms for time_ms in times)
    assert sum(bin_.scored for bin_ in bins) == kept
    curve.add(times[0], right=True)
    assert list(curve.bins()) == bins, "too old"
    curve.add(times[-1] + 100 * window_ms, right=False)
    assert [(bin_.scored, bin_.right) for bin_ in curve.bins()] == [(1, 0)]


def test_a_bin_without_scores_has_no_accuracy():
    assert Bin(0, 999, 0, 0, 0, 0).accuracy is None
    assert Bin(0, 999, 4, 3, 0, 0).cold_accuracy is None
    assert Bin(0, 999, 4, 3, 2, 1).accuracy == 0.75


def test_lately_is_the_share_of_the_newest():
    answers = [bool(number % 3) for number in range(50)]
    lately = Lately(10)
    assert lately.share is None
    for count, right in enumerate(answers, start=1):
        lately.add(right=right)
        newest = answers[max(0, count - 10) : count]
        assert lately.share == sum(newest) / len(newest)


def _bins(*shares: float) -> list[Bin]:
    return [Bin(1000 * n, 1000 * n + 999, 40, round(40 * share), 0, 0) for n, share in enumerate(shares)]


def test_a_fall_of_accuracy_is_a_dip_with_its_times_and_depth():
    ((first, last, depth),) = dips.find(_bins(0.9, 0.9, 0.9, 0.4, 0.5, 0.9, 0.9))
    assert (first, last) == (3000, 4999)
    assert 0.4 < depth < 0.5


def test_neither_a_model_that_begins_nor_chance_is_a_dip():
    assert dips.find(_bins(0.2, 0.5, 0.8, 0.9, 0.9)) == []
    assert dips.find(_bins(0.9, 0.85, 0.9, 0.82, 0.9)) == []
    assert dips.find([]) == []


def test_a_fall_that_goes_on_is_a_dip_until_now_and_the_newest_comes_first():
    found = dips.find(_bins(0.9, 0.9, 0.4, 0.9, 0.9, 0.3))
    assert [first for first, _, _ in found] == [5000, 2000]
