"""The roll-out: counts of devices over time, from changes in any order."""

import random

import pytest

from eml.watch.rollout import MOST, OTHERS, SHOWN, RolloutLog

BEGIN_MS = 1_763_270_000_000
HOUR_MS = 3_600_000


def _changes(devices: int, span_ms: int) -> list[tuple[int, int | None, int]]:
    rng = random.Random(7)  # noqa: S311
    changes: list[tuple[int, int | None, int]] = []
    for _ in range(devices):
        first, second = sorted(BEGIN_MS + rng.randrange(span_ms) for _ in range(2))
        changes += [(first, None, 1), (second, 1, 2)]
    return changes


@pytest.mark.parametrize("span_ms", [1_000, HOUR_MS, 700 * HOUR_MS])
def test_counts_are_those_of_each_moment(span_ms):
    changes = _changes(50, span_ms)
    log = RolloutLog()
    for change in changes:
        log.change(*change)
    rollout = log.view(str)
    assert len(rollout.times_ms) <= MOST
    for number, begin in enumerate(rollout.times_ms):
        step = rollout.times_ms[1] - rollout.times_ms[0] if len(rollout.times_ms) > 1 else span_ms
        now = [change for change in changes if change[0] < begin + step]
        ones = sum(new == 1 for _, _, new in now) - sum(old == 1 for _, old, _ in now)
        assert (rollout.devices["1"][number], rollout.devices["2"][number]) == (ones, sum(new == 2 for *_, new in now))


def test_a_window_begins_with_the_devices_there_were():
    log = RolloutLog(HOUR_MS)
    for number in range(100):
        log.change(BEGIN_MS + number * HOUR_MS // 10, None, 1)
    log.change(BEGIN_MS, 1, 2)  # read late
    rollout = log.view(str)
    assert HOUR_MS <= rollout.times_ms[-1] - rollout.times_ms[0] < 1.1 * HOUR_MS
    assert rollout.devices["1"][0] + rollout.devices["2"][0] in (89, 90)
    assert (rollout.devices["1"][-1], rollout.devices["2"][-1]) == (99, 1)


def test_time_goes_on_where_nothing_changes():
    log = RolloutLog()
    log.reach(BEGIN_MS)
    assert log.view(str).times_ms == []
    log.change(BEGIN_MS, None, 1)
    log.reach(BEGIN_MS + HOUR_MS)
    rollout = log.view(str)
    assert rollout.times_ms[-1] > BEGIN_MS + 0.9 * HOUR_MS
    assert set(rollout.devices["1"]) == {1}


def test_of_many_versions_the_largest_are_shown_and_the_rest_together():
    log = RolloutLog()
    for version in range(40):
        for _ in range(version + 1):
            log.change(BEGIN_MS, None, version)
    devices = log.view(str).devices
    assert len(devices) == SHOWN
    assert devices["39"] == [40]
    assert sum(counts[0] for counts in devices.values()) == 820
    assert devices[OTHERS] == [sum(range(1, 40 - SHOWN + 2))]
