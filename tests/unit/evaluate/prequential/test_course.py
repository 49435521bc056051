"""The stream: no record twice, the right features in each stage, one seed one order, a ring of groups."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.evaluate import datasets
from eml.evaluate.datasets import Dataset
from eml.evaluate.errors import EvaluationError
from eml.evaluate.prequential.course import Course, Plan, deal


def columns_of(course: Course) -> list[list[int]]:
    return [[int(name[1:]) for name in stage.space.names] for stage in course.stages]


def test_one_switch_swaps_the_vanished_for_the_new(make_course):
    course = make_course()
    assert columns_of(course) == [[0, 1, 2, 3, 4, 5], [2, 3, 4, 5, 6, 7]]
    change = course.stages[0].space.diff(course.stages[1].space)
    assert (len(change.vanished), len(change.survived), len(change.augmented)) == (2, 4, 2)


def test_with_more_switches_one_group_is_absent_in_turn_and_comes_back(make_course):
    absent = [set(range(8)) - set(columns) for columns in columns_of(make_course(switches=5))]
    assert absent == [{6, 7}, {0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 1}]


@given(seed=st.integers(0, 10**6), switches=st.integers(1, 5), total=st.one_of(st.none(), st.integers(60, 120)))
def test_every_record_comes_once_with_its_own_label_and_values(seed, switches, total):
    labels = np.repeat(["a", "b", "c"], 40)
    samples = 1000.0 * np.arange(120)[:, None] + np.arange(8)  # a value tells its row and column
    course = deal(Dataset("made", samples, labels, (2, 4, 2), None, ()), Plan(switches, total), seed)
    rows = [(stage.X[:, 0] // 1000).astype(int) for stage in course.stages]
    together = np.concatenate(rows)
    assert len(together) == len(np.unique(together)) == (total or 120)
    assert max(map(len, rows)) - min(map(len, rows)) <= 1
    for stage, places, columns in zip(course.stages, rows, columns_of(course), strict=True):
        np.testing.assert_array_equal(stage.X, samples[places][:, columns])
        assert ["abc"[code] for code in stage.y] == labels[places].tolist()


def test_a_seed_gives_its_order_again_and_another_seed_another(make_course):
    first, again, other = (make_course(seed).stages[0].X for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_in_file_order_records_stand_as_they_were_recorded_whatever_the_seed(dataset):
    plan = Plan(total=100, labelled=0.5, order="file")
    for seed in (0, 1):
        stages = deal(dataset, plan, seed).stages
        np.testing.assert_array_equal(np.concatenate([stage.X[:, -4:] for stage in stages])[:50], dataset.X[:50, 2:6])
        assert np.concatenate([stage.y for stage in stages]).tolist() == [0] * 40 + [1] * 40 + [2] * 20
    first, second = (np.concatenate([stage.labelled for stage in deal(dataset, plan, seed).stages]) for seed in (0, 1))
    assert not np.array_equal(first, second)
    turned = replace(dataset, natural=np.arange(120)[::-1])
    assert deal(turned, plan, 0).stages[0].y.tolist() == [2] * 40 + [1] * 10


def test_a_plan_is_kept_as_streams_always_were_unless_it_says_otherwise():
    once = {"switches": 1, "total": None, "labelled": 1.0, "notice": 0.25}
    assert Plan().identity == once
    assert Plan(scheme="sudden", order="file").identity == {**once, "scheme": "sudden", "order": "file"}


def test_labels_are_given_for_a_share_and_features_announced_in_the_last_part(make_course):
    assert all(stage.labelled.all() for stage in make_course().stages)
    few = make_course(labelled=0.3, notice=0.5)
    assert 0.1 < np.concatenate([stage.labelled for stage in few.stages]).mean() < 0.5
    assert [stage.announced for stage in few.stages] == [30, 30]


def test_what_makes_no_stream_is_refused(dataset):
    with pytest.raises(EvaluationError, match="has 120 records"):
        deal(dataset, Plan(total=121), 0)
    with pytest.raises(EvaluationError, match="130 are needed"):
        deal(dataset, Plan(switches=12), 0)
    with pytest.raises(EvaluationError, match="nothing to switch"):
        deal(replace(dataset, split=(0, 8, 0)), Plan(), 0)


@pytest.mark.data
@pytest.mark.parametrize(("name", "side"), [("DSADS", "subject"), ("Gas", "batch")])
def test_what_was_recorded_first_comes_first(name, side):
    dataset = datasets.load(name)
    with np.load(Path(os.environ["EML_DATA"]) / datasets.file_of(name)) as arrays:
        recorded = arrays[side][np.isin(arrays["y"], np.unique(dataset.y))][dataset.order]
    assert (np.diff(recorded.astype(int)) >= 0).all()


@pytest.mark.data
@pytest.mark.parametrize(("name", "unit", "wide"), [("DSADS", 81, 3), ("Gas", 8, 12)])
def test_whole_units_are_swapped(name, unit, wide):
    course = deal(datasets.load(name), Plan(total=200), 0)
    for columns in columns_of(course):
        starts = columns[::unit]
        assert len(columns) == wide * unit
        assert columns == [start + place for start in starts for place in range(unit)]
        assert all(start % unit == 0 for start in starts)
