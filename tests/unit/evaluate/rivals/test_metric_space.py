"""What the rivals with a metric share: the contract of a method, the bound, and what an evolution leaves of them."""

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.evaluate.controls import NearestNeighbour
from eml.evaluate.rivals.bdml import Bdml
from eml.evaluate.rivals.cdml import Cdml
from eml.evaluate.rivals.metric_space import sample
from eml.evaluate.rivals.opml import Opml

NOISE = 8
SPACE = FeatureSpace(tuple("ab") + tuple(f"n{place}" for place in range(NOISE)))
every = pytest.mark.parametrize("build", [Opml, Bdml, Cdml])


def problem(seed, rows=80, labels=("low", "high")):
    """Two features tell the classes apart, the others are noise; features have scales of their own."""
    random = np.random.default_rng(seed)
    places = random.permutation(np.arange(rows) % len(labels))
    samples = random.normal(size=(rows, len(SPACE)))
    samples[:, :2] = 0.5 * samples[:, :2] + np.where(places, 1.0, -1.0)[:, None]
    return 5.0 + samples * np.geomspace(0.1, 10.0, len(SPACE)), [labels[place] for place in places]


def accuracy(method, rows, labels):
    return np.mean([got == true for got, true in zip(method.predict(rows), labels, strict=True)])


@every
def test_before_any_label_it_cannot_tell(build):
    assert build(SPACE, 0, 100).predict(np.zeros((2, len(SPACE)))) == [None, None]


@pytest.mark.slow
@every
def test_learning_is_better_than_neighbours_among_noise(build):
    gains = []
    for seed in range(3):
        known, asked = problem(seed, 160), problem(100 + seed, 160)
        method, plain = build(SPACE, seed, 500), NearestNeighbour(SPACE, seed, 500, scaled=True, keep=False)
        for each in (method, plain):
            each.learn(*known)
        gains.append(accuracy(method, *asked) - accuracy(plain, *asked))
    assert np.mean(gains) > 0.01


@every
def test_the_same_seed_gives_the_same_answers(build):
    answers = []
    for _ in range(2):
        method = build(SPACE, 7, 60)
        method.learn(*problem(1))
        answers.append(method.predict(problem(2)[0]))
    assert answers[0] == answers[1]


@pytest.mark.slow
@every
def test_rows_that_are_asked_about_teach_nothing(build):
    asked = problem(2)[0]
    methods = [build(SPACE, 0, 200) for _ in range(2)]
    for method in methods:
        method.learn(*problem(1))
    methods[0].predict(1e3 * problem(3)[0])
    for method in methods:
        method.learn(*problem(4, rows=20))
    assert methods[0].predict(asked) == methods[1].predict(asked)


@every
def test_an_answer_does_not_depend_on_the_other_rows(build):
    method = build(SPACE, 0, 200)
    method.learn(*problem(1))
    asked = problem(2, rows=20)[0]
    assert [method.predict(row[None])[0] for row in asked] == method.predict(asked)


@every
def test_the_memory_is_bounded(build):
    method = build(SPACE, 0, 30)
    for seed in range(4):
        method.learn(*problem(seed))
    assert len(method._exemplars.arrays()[1]) <= 30
    assert None not in method.predict(problem(9)[0])


@every
def test_one_class_or_one_row_is_enough_to_go_on(build):
    method = build(SPACE, 0, 30)
    rows, _ = problem(0)
    method.learn(rows[:1], ["only"])
    assert method.predict(rows[:3]) == ["only"] * 3
    method.learn(rows, ["only"] * len(rows))
    assert method.predict(rows[:3]) == ["only"] * 3


@every
def test_new_features_begin_anew_with_the_first_batch_that_has_them(build):
    wider = FeatureSpace((*SPACE.names[1:], "new"))
    method, fresh = build(SPACE, 3, 200), build(wider, 3, 200)
    method.learn(*problem(1))
    method.announce(wider)
    method.evolve(wider)
    asked = problem(2)[0]
    assert method.predict(asked) == [None] * len(asked)
    for each in (method, fresh):
        each.learn(*problem(3))
    assert method.predict(asked) == fresh.predict(asked)


@every
def test_what_is_known_stays_where_features_only_vanish(build):
    narrower = FeatureSpace(("a", "b", "n0", "n1"))
    method = build(SPACE, 0, 500)
    method.learn(*problem(1))
    method.evolve(narrower)
    rows, labels = problem(2)
    assert accuracy(method, rows[:, :4], labels) > 0.9


@every
def test_new_names_and_places_change_no_answer(build):
    names = (*SPACE.names[1:], "was_a")
    method = build(SPACE, 0, 500)
    method.learn(*problem(1))
    asked = problem(2)[0]
    before = method.predict(asked)
    method.evolve(FeatureSpace(names, aliases={"was_a": ("a",)}))
    after = method.predict(np.roll(asked, -1, axis=1))
    # the fits go over the same numbers in another order, so that a row on the border may fall to the other side
    assert np.mean([one == other for one, other in zip(before, after, strict=True)]) > 0.97


def test_a_fit_has_a_bounded_number_of_rows_and_knows_each_ones_class():
    rows, labels = np.arange(50.0)[:, None], [1 if place % 2 else "1" for place in range(50)]
    chosen, classes = sample(rows, labels, 20, seed=0)
    assert len(chosen) == len(classes) == 20
    np.testing.assert_array_equal(classes, chosen[:, 0].astype(int) % 2)
