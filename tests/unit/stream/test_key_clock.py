"""A key's time: fault 13 of issue 14, a wrong timestamp, a clock that is set back or ahead for good."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.settings import KafkaSettings, LearningSettings
from eml.stream.key_clock import CONFIRMED, LEAP_MS, KeyClock
from eml.stream.keys import KeyName
from eml.stream.labels.label_join import LabelCounts
from eml.stream.models.key_model import KeyModel
from eml.stream.records import Raw
from tests.unit.stream.models.test_key_model import SETTINGS, look_up, records, run
from tests.unit.stream.models.test_late_labels import SETTINGS as WITH_LABELS
from tests.unit.stream.models.test_late_labels import Stream
from tests.unit.stream.models.test_late_labels import run as run_with_labels

YEAR_MS = 365 * 86_400_000
NOW_MS = 1_763_270_000_000


def shown(timestamps: Sequence[int]) -> list[int]:
    clock = KeyClock()
    return [clock.advance(NOW_MS + each) - NOW_MS for each in timestamps]


def test_it_shows_the_largest_timestamp_so_far():
    assert shown([0, 5, 3, 9, 9, LEAP_MS, 7]) == [0, 5, 5, 9, 9, LEAP_MS, LEAP_MS]


@pytest.mark.parametrize("wrong", [YEAR_MS, -YEAR_MS, -NOW_MS])
def test_wrong_timestamps_change_nothing_until_enough_agree(wrong):
    few = [wrong + i for i in range(CONFIRMED - 1)]
    assert shown([0, *few, 20, 21]) == [0] * CONFIRMED + [20, 21]


def test_a_clock_that_is_set_ahead_for_good_is_believed_soon():
    assert shown([0, *(YEAR_MS + i for i in range(CONFIRMED + 2))])[-3:] == [YEAR_MS, YEAR_MS + 8, YEAR_MS + 9]


def test_a_clock_that_is_set_back_for_good_goes_on_from_where_it_was():
    times = shown([100, *(i - YEAR_MS for i in range(CONFIRMED + 5))])
    assert times == [100] * CONFIRMED + [100, 101, 102, 103, 104, 105]


def test_a_clock_that_was_set_back_and_is_right_again_has_lost_nothing():
    times = shown([100, *(i - YEAR_MS for i in range(20)), 150, 151])
    assert times[-2:] == [150, 151]


def test_one_of_two_devices_with_a_clock_of_its_own_does_not_move_the_other():
    times = shown([offset + i for i in range(200) for offset in (0, YEAR_MS)])
    assert max(times) == 199


def test_two_devices_in_turns_move_the_clock_once():
    bursts = [offset + 1000 * number + i for number in range(10) for offset in (0, YEAR_MS) for i in range(50)]
    assert max(shown(bursts)) < YEAR_MS + 100_000


def test_a_device_that_sends_once_a_day_is_a_few_records_behind():
    days = [86_400_000 * i for i in range(40)]
    assert all(0 <= day - now <= CONFIRMED * 86_400_000 for day, now in zip(days, shown(days), strict=True))


def test_no_timestamp_is_no_time():
    clock = KeyClock()
    assert [clock.advance(-1), clock.advance(7), clock.advance(-1)] == [0, 7, 7]


@given(st.lists(st.integers(-1, 2 * YEAR_MS) | st.integers(0, 10), max_size=60), st.integers(0, 60))
def test_it_never_goes_back_and_is_the_same_through_its_state(timestamps, cut):
    clock, times = KeyClock(), []
    for number, each in enumerate(timestamps):
        if number == cut:
            clock = KeyClock.load(clock.dump())
        times.append(clock.advance(each))
    assert times == sorted(times)
    whole = KeyClock()
    assert times == [whole.advance(each) for each in timestamps]
    assert len(clock.dump()) <= 2 + CONFIRMED


# -- what depends on it ------------------------------------------------------------------------------------------------


def late(raws: Sequence[Raw], number: int, by_ms: int) -> None:
    raws[number].position.timestamp_ms += by_ms


def former(model: KeyModel) -> int:
    assert model.state.models is not None
    return len(model.state.models.others)


@pytest.mark.parametrize("number", [60, 80, 119])
def test_a_timestamp_a_year_ahead_drops_no_former_model(number):
    raws = records([1] * 60 + [2] * 60, labelled=1.0)
    late(raws, number, YEAR_MS)
    model = KeyModel(KeyName("pump"), SETTINGS)
    model.step(raws, look_up)
    assert former(model) == 1


def test_former_models_of_a_device_whose_clock_is_set_ahead_for_good_go_after_a_few_records():
    raws = records([1] * 60 + [2] * 60, labelled=1.0)
    for number in range(80, 120):
        late(raws, number, YEAR_MS)
    model = KeyModel(KeyName("pump"), SETTINGS)
    model.step(raws[:80], look_up)
    assert former(model) == 1
    model.step(raws[80 : 80 + CONFIRMED], look_up)
    assert former(model) == 0


QUICK = replace(SETTINGS, learning=LearningSettings(window_ms=5_000, window_records=10_000, recovery_records=0))


@pytest.mark.parametrize("labelled", [1.0, 0.3])
def test_a_clock_that_goes_back_keeps_no_window_from_closing_by_time(labelled):
    raws = records([1] * 120, labelled=labelled)
    for number in range(120):
        late(raws, number, NOW_MS if number < 60 else NOW_MS - YEAR_MS)
    revisions = [said.model_revision for said in run(raws, QUICK).predictions]
    plain = [said.model_revision for said in run(records([1] * 120, labelled=labelled), QUICK).predictions]
    assert revisions[119] - revisions[60 + CONFIRMED] >= plain[119] - plain[60 + CONFIRMED] - 2


def test_a_timestamp_a_year_ahead_keeps_no_window_from_closing_by_time():
    raws = records([1] * 120, labelled=1.0)
    late(raws, 60, YEAR_MS)  # amid a window: the next one begins with 62
    revisions = [said.model_revision for said in run(raws, QUICK).predictions]
    assert revisions == [said.model_revision for said in run(records([1] * 120, labelled=1.0), QUICK).predictions]


def test_a_timestamp_a_year_ahead_empties_no_join_of_labels():
    stream, plain = Stream(), Stream()
    for each in (stream, plain):
        ids = each.readings(1, 60)
        each.labels(ids[:10])
        each.labels(ids[10:])
    late(stream.raws, 30, YEAR_MS)
    late(stream.raws, 65, YEAR_MS)
    patient = replace(WITH_LABELS, learning=LearningSettings(window_ms=10**9))
    assert run_with_labels(stream.raws, settings=patient).labels == LabelCounts(joined=60)


@pytest.mark.parametrize("cut", [1, 7])
@pytest.mark.parametrize("reload", [False, True])
def test_results_depend_neither_on_the_cut_nor_on_reloads_whatever_the_clocks_say(cut, reload):
    raws = records([1] * 60 + [2] * 40 + [1] * 12 + [2] * 30 + [1] * 40, labelled=0.4)
    for number in (5, 61, 70, *range(90, 104), 150):
        late(raws, number, YEAR_MS)
    for number in (20, *range(120, 140)):
        late(raws, number, -60_000_000)
    settings = replace(SETTINGS, kafka=KafkaSettings(labels_topic="labels"), learning=LearningSettings(window_ms=9_000))
    assert run(raws, settings, cut=cut, reload=reload) == run(raws, settings)
