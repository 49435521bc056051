"""The controls: the memory is bounded and balanced, the neighbour is the nearest, and only survivors are compared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import FeatureSpace
from eml.evaluate.controls import Exemplars, NearestNeighbour, RunningScale

OLD, NEW = FeatureSpace(("a", "b", "c")), FeatureSpace(("b", "c", "d"))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=200), st.integers(4, 40))
def test_memory_is_bounded_and_no_class_crowds_out_another(labels, budget):
    memory = Exemplars(budget, seed=0)
    for place, label in enumerate(labels):
        memory.add(np.array([float(place)]), label)
    rows, kept = memory.arrays()
    room = budget // len(set(labels))
    assert len(rows) == len(kept) <= budget
    for label in set(labels):
        # a class that came when there was more room was cut to its share; none is emptied
        assert 1 <= kept.count(label) <= room
    assert all(labels[int(row[0])] == label for row, label in zip(rows, kept, strict=True))


def test_memory_samples_the_whole_past_evenly():
    means = []
    for seed in range(40):
        memory = Exemplars(20, seed)
        for place in range(400):
            memory.add(np.array([float(place)]), "x")
        means.append(memory.arrays()[0].mean())
    assert np.mean(means) == pytest.approx(199.5, abs=4 * 115 / np.sqrt(40 * 20))  # 115: deviation of 0..399


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(0, 1000))
def test_running_deviation_is_that_of_all_batches_together(sizes, seed):
    random = np.random.default_rng(seed)
    batches = [random.normal(5.0, 2.0, size=(size, 3)) for size in sizes]
    scale = RunningScale(3)
    for batch in batches:
        scale.update(batch)
    expected = np.concatenate(batches).std(axis=0)
    np.testing.assert_allclose(scale.deviation(), np.where(expected > 0, expected, 1.0), rtol=1e-9)


def test_a_feature_that_never_moved_is_left_as_it_is():
    scale = RunningScale(1)
    scale.update(np.full((5, 1), 7.0))
    assert scale.deviation().tolist() == [1.0]


def control(*, scaled=False, keep=True, memory=100):
    return NearestNeighbour(OLD, seed=0, memory=memory, scaled=scaled, keep=keep)


def test_before_any_label_it_cannot_tell():
    assert control().predict(np.zeros((2, 3))) == [None, None]


def test_the_nearest_exemplar_is_found():
    random = np.random.default_rng(2)
    known, asked = 1e4 + random.normal(size=(50, 3)), 1e4 + random.normal(size=(20, 3))
    method = control()
    method.learn(known, list(range(50)))
    nearest = np.argmin(((asked[:, None] - known[None]) ** 2).sum(axis=2), axis=1)
    assert method.predict(asked) == nearest.tolist()


def test_scaling_changes_what_is_near():
    known = np.array([[0.0, 0.0, 0.0], [1.0, 1000.0, 0.0]])
    asked = np.array([[0.0, 501.0, 0.0]])
    for scaled, label in ((False, "far"), (True, "near")):
        method = control(scaled=scaled)
        method.learn(known, ["near", "far"])
        assert method.predict(asked) == [label]


def test_after_an_evolution_only_survived_features_are_compared():
    method = control()
    method.learn(np.array([[9.0, 0.0, 0.0], [0.0, 5.0, 5.0]]), ["low", "high"])
    method.evolve(NEW)
    assert method.predict(np.array([[0.1, 0.2, 1e6]])) == ["low"]
    method.learn(np.array([[2.0, 2.0, 1e6]]), ["middle"])
    assert method.predict(np.array([[2.1, 2.1, -1e6], [4.9, 4.9, 0.0]])) == ["middle", "high"]


def test_the_next_evolution_keeps_the_exemplars_that_have_its_survivors():
    method = control()
    method.learn(np.array([[0.0, 0.0, 0.0]]), ["first"])  # has neither d nor e
    method.evolve(NEW)
    method.learn(np.array([[0.0, 0.0, 7.0]]), ["second"])
    method.evolve(FeatureSpace(("d", "e")))
    assert method.predict(np.array([[0.0, 0.0]])) == ["second"]


def test_without_survivors_it_begins_anew():
    method = control()
    method.learn(np.zeros((1, 3)), ["old"])
    method.evolve(FeatureSpace(("x", "y")))
    assert method.predict(np.zeros((1, 2))) == [None]


def test_the_batch_control_forgets_and_compares_all_new_features():
    method = control(keep=False)
    method.learn(np.zeros((1, 3)), ["old"])
    method.evolve(NEW)
    assert method.predict(np.zeros((1, 3))) == [None]
    method.learn(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 9.0]]), ["low", "high"])
    assert method.predict(np.array([[0.0, 0.0, 8.0]])) == ["high"]
