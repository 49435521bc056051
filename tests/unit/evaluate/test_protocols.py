"""Scripts: equal classes, no sample twice, the right features in each stage, one seed one deal."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.evaluate import datasets
from eml.evaluate.datasets import Dataset
from eml.evaluate.errors import EvaluationError
from eml.evaluate.protocols import Announce, Evolve, Learn, Predict, Script, multi_shot, one_shot


def kinds(script: Script) -> list[str]:
    return [type(step).__name__ for step in script.steps]


def samples_of(step: Learn | Predict) -> set[int]:
    return set((step.X[:, 0] // 1000).astype(int).tolist())  # a value tells its row: see conftest


def columns_of(step: Learn | Predict) -> list[int]:
    return [int(value) % 1000 for value in step.X[0]]


def batches(script: Script) -> list[Learn | Predict]:
    return [step for step in script.steps if isinstance(step, Learn | Predict)]


@given(
    counts=st.lists(st.integers(20, 40), min_size=2, max_size=4),
    share=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    scenario=st.sampled_from([one_shot, multi_shot]),
)
def test_classes_are_equal_in_every_batch_and_no_sample_is_in_two(counts, share, seed, scenario):
    labels = np.repeat(np.arange(len(counts)), counts)
    samples = 1000.0 * np.arange(len(labels))[:, None] + np.arange(8)
    batch = share * len(counts)
    script = scenario(Dataset("made", samples, labels, (2, 4, 2), None, (batch,)), batch, seed)
    for step in batches(script):
        assert np.unique(step.y, return_counts=True)[1].tolist() == [share] * len(counts)
        np.testing.assert_array_equal(labels[(step.X[:, 0] // 1000).astype(int)], step.y)
    used = [samples_of(step) for step in batches(script)]
    assert sum(map(len, used)) == len(set().union(*used)) == batch * len(used)


def test_one_shot_learns_T_batches_then_one_I_batch_then_is_tested(make_dataset):
    script = one_shot(make_dataset(total=40), 8, seed=0)
    assert kinds(script) == ["Announce", *["Learn"] * 5, "Evolve", "Learn", "Predict"]
    assert script.notes == ()


def test_one_shot_features_vanish_survive_and_are_new(make_dataset):
    script = one_shot(make_dataset(total=16), 8, seed=0)
    *before, inheriting, testing = batches(script)
    assert all(columns_of(step) == [0, 1, 2, 3, 4, 5] for step in before)
    assert columns_of(inheriting) == columns_of(testing) == [2, 3, 4, 5, 6, 7]
    announced, evolved = script.steps[0], script.steps[3]
    assert isinstance(announced, Announce)
    assert isinstance(evolved, Evolve)
    assert announced.space == evolved.space
    change = script.start.diff(evolved.space)
    assert (len(change.vanished), len(change.survived), len(change.augmented)) == (2, 4, 2)


def test_a_seed_gives_its_split_again_and_another_seed_another(make_dataset):
    dataset = make_dataset()

    def order(seed: int) -> list[float]:
        return list(chain.from_iterable(step.X[:, 0].tolist() for step in batches(one_shot(dataset, 8, seed))))

    assert order(3) == order(3)
    assert order(3) != order(4)


def test_task_I_uses_the_last_two_stages_only_and_the_batches_of_task_II(make_dataset):
    dataset = make_dataset(total=48)
    first, second = multi_shot(dataset, 8, 5, "I"), multi_shot(dataset, 8, 5, "II")
    assert kinds(first) == ["Announce", *["Learn"] * 3, "Evolve", "Learn", "Predict"]
    of_second = [(samples_of(step), columns_of(step)) for step in batches(second)]
    assert all((samples_of(step), columns_of(step)) in of_second for step in batches(first))
    *middle, inheriting, testing = batches(first)
    assert all(columns_of(step) == [2, 3, 4, 5] for step in middle)
    assert columns_of(inheriting) == columns_of(testing) == [4, 5, 6, 7]


def test_task_II_predicts_the_second_batch_of_each_stage_before_learning_it(make_dataset):
    script = multi_shot(make_dataset(total=48), 8, 5, "II")
    stage = ["Learn", "Predict", "Learn", "Learn"]
    assert kinds(script) == ["Announce", *stage, "Evolve", "Announce", *stage, "Evolve", "Learn", "Predict"]
    predicted = [step for step in script.steps if isinstance(step, Predict)]
    assert [(step.stage, step.counts, columns_of(step)) for step in predicted] == [
        (1, False, [0, 1, 2, 3]),
        (2, True, [2, 3, 4, 5]),
        (3, True, [4, 5, 6, 7]),
    ]
    for place, step in enumerate(script.steps):
        if isinstance(step, Predict):
            earlier = [samples_of(past) for past in script.steps[:place] if isinstance(past, Learn)]
            assert not samples_of(step) & set().union(*earlier)


def test_of_an_odd_number_of_T_batches_stage_2_has_one_more(make_dataset):
    script = multi_shot(make_dataset(total=40), 8, 0, "I")
    assert kinds(script).count("Learn") == 3 + 1
    assert script.notes == ("5 T-batches: 2 in stage 1, 3 in stage 2",)


def test_a_class_with_too_few_samples_means_fewer_T_batches_and_a_note(make_dataset):
    script = one_shot(make_dataset(counts=(40, 19), total=40), 8, seed=0)
    assert kinds(script).count("Learn") == 2 + 1
    assert script.notes == ("2 T-batches instead of 5: class 1 has 19 samples",)


def test_a_total_that_is_no_multiple_is_cut_and_noted(make_dataset):
    script = one_shot(make_dataset(total=30), 8, seed=0)
    assert kinds(script).count("Learn") == 3 + 1
    assert script.notes == ("30 is no multiple of 8: 3 T-batches, 24 samples",)


def test_too_few_samples_are_refused_with_a_batch_size_that_fits(make_dataset):
    dataset = make_dataset(counts=(40, 10))
    with pytest.raises(EvaluationError, match="class 1 has 10 samples; a batch of at most 6 would fit"):
        one_shot(dataset, 8, seed=0)
    one_shot(dataset, 6, seed=0)
    with pytest.raises(EvaluationError, match=r"5 batches of 6 are needed.* at most 4 would fit"):
        multi_shot(dataset, 6, 0, "II")
    multi_shot(dataset, 4, 0, "II")


def test_a_total_below_one_batch_is_refused_with_a_batch_size_that_fits(make_dataset):
    dataset = make_dataset(total=7)
    with pytest.raises(EvaluationError, match="total is 7; a batch of at most 6 would fit"):
        one_shot(dataset, 8, seed=0)
    one_shot(dataset, 6, seed=0)


@pytest.mark.parametrize(("batch", "fitting"), [(7, "6 or 8"), (1, "2")])
def test_a_batch_that_cannot_hold_the_classes_equally_is_refused(make_dataset, batch, fitting):
    with pytest.raises(EvaluationError, match=f"; {fitting} would fit"):
        one_shot(make_dataset(), batch, seed=0)


def test_one_class_is_refused(make_dataset):
    dataset = make_dataset()
    with pytest.raises(EvaluationError, match="at least two"):
        one_shot(replace(dataset, y=np.zeros_like(dataset.y)), 8, seed=0)


@pytest.mark.data
def test_usps_has_one_T_batch_fewer_where_the_fives_do_not_suffice():
    dataset = datasets.load("USPS0vs5")
    assert [kinds(one_shot(dataset, batch, 0)).count("Learn") - 1 for batch in dataset.batches] == [8, 6, 3]
    assert one_shot(dataset, 240, 0).notes == ("3 T-batches instead of 4: class 5 has 716 samples",)
