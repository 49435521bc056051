"""Rows, products and nearest neighbours: what everything else stands on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eml.core import EvolvingMetricLearner, LearnerConfig
from eml.core.arrays import nearest, squared_distances, stable_product
from eml.core.neighbours import EMPTY, Embedded, held_out_distances, log_scores
from tests.unit.core.helpers import Values, World, space

# Few values, so that there are ties; zeros of both signs; what overflows single precision; subnormals.
ENTRIES = st.sampled_from([0.0, -0.0, 1e-45, 1e-40, 0.5, 1.0, np.nextafter(np.float32(1), 2), 3e38, np.inf])
TABLES = arrays(np.float32, st.tuples(st.integers(1, 6), st.integers(1, 20)), elements=ENTRIES.map(np.float32))
WIDTHS = [3, 64, 400, 700]


@given(D=TABLES, data=st.data())
def test_the_nearest_are_those_of_a_stable_sort(D, data):
    count = data.draw(st.integers(1, D.shape[1]))
    columns, values = nearest(D, count)
    np.testing.assert_array_equal(columns, np.argsort(D, axis=1, kind="stable")[:, :count])
    np.testing.assert_array_equal(values, np.sort(D, axis=1)[:, :count])


@given(arrays(np.float64, (4, 30), elements=st.floats(0, 1e30)), st.integers(1, 30))
def test_the_nearest_of_doubles_are_those_of_their_single_values(D, count):
    columns, values = nearest(D, count)
    single = D.astype(np.float32)
    np.testing.assert_array_equal(columns, np.argsort(single, axis=1, kind="stable")[:, :count])
    np.testing.assert_array_equal(values, np.take_along_axis(single, columns, axis=1))


def test_looking_for_the_nearest_leaves_the_distances_alone():
    D = np.array([[3.0, 1.0, 2.0]], dtype=np.float32)
    nearest(D, 2)
    assert D.tolist() == [[3.0, 1.0, 2.0]]


@given(
    arrays(np.float64, (5, 3), elements=st.floats(-100, 100)), arrays(np.float64, (4, 3), elements=st.floats(-100, 100))
)
def test_squared_distances_are_those_of_the_definition_and_never_negative(A, B):
    D = squared_distances(A, B)
    assert (D >= 0.0).all()
    np.testing.assert_allclose(D, ((A[:, None] - B[None]) ** 2).sum(axis=2), atol=1e-9)


# -- bits ----------------------------------------------------------------------------------------------------------


def pieces(n: int, random: np.random.Generator) -> list[Values]:
    """The rows 0..n cut at random places."""
    cuts = np.sort(random.choice(np.arange(1, n), size=6, replace=False))
    return np.split(np.arange(n), cuts)


@pytest.mark.parametrize("m", [1, 5, 64, 333])
@pytest.mark.parametrize("d", WIDTHS)
def test_a_row_of_a_product_has_the_same_bits_whatever_batch_it_came_in(d, m):
    random = np.random.default_rng(d)
    A, B = (random.normal(size=(rows, d)).astype(np.float32) for rows in (75, m))
    whole = stable_product(A, B)
    np.testing.assert_allclose(whole, A.astype(np.float64) @ B.T.astype(np.float64), rtol=1e-3, atol=1e-3)
    for row in range(75):
        np.testing.assert_array_equal(stable_product(A[row : row + 1], B)[0], whole[row])
    for _ in range(5):
        np.testing.assert_array_equal(np.concatenate([stable_product(A[p], B) for p in pieces(75, random)]), whole)
        order = random.permutation(75)
        np.testing.assert_array_equal(stable_product(A[order], B), whole[order])


def test_a_product_of_no_rows_is_empty():
    assert stable_product(np.zeros((0, 3), dtype=np.float32), np.ones((4, 3), dtype=np.float32)).shape == (0, 4)


def same_bits(learner: EvolvingMetricLearner, X: Values, random: np.random.Generator) -> None:
    whole = learner.predict_many(X)
    parts = [whole.scores, whole.margin, whole.novelty]
    n = len(X)
    cuts = [pieces(n, random), [np.array([row]) for row in range(n)], [random.permutation(n)]]
    for cut in cuts:
        many = [learner.predict_many(X[rows]) for rows in cut]
        got = [np.concatenate(each) for each in zip(*((p.scores, p.margin, p.novelty) for p in many), strict=True)]
        order = np.concatenate(cut)
        for mine, theirs in zip(got, parts, strict=True):
            np.testing.assert_array_equal(mine, theirs[order])
        assert [label for p in many for label in p.labels] == [whole.labels[row] for row in order]


@pytest.mark.parametrize("holes", [False, True], ids=["complete", "with holes"])
@pytest.mark.parametrize("evolved", [False, True], ids=["one view", "two views"])
@pytest.mark.parametrize("d", WIDTHS)
def test_a_prediction_has_the_same_bits_whatever_batch_it_came_in(d, evolved, holes):
    world = World(features=d + 2, classes=3, gap=0.5)
    config = LearnerConfig(memory_size=90, rank=32, batch=32, replay=8, pool=32, warm_up=64, catch_up=1)
    learner = EvolvingMetricLearner(space(*range(d)), config)
    learner.learn(*world.draw(128, 1, range(d)))
    if evolved:
        learner.evolve(space(*range(2, d + 2)))
        learner.learn(*world.draw(40, 2, range(2, d + 2)))
        assert set(learner.explain().views) == {"survived", "joint", "linear", "fresh"}
    X, _ = world.draw(45, 3, range(2, d + 2) if evolved else range(d))
    random = np.random.default_rng(0)
    if holes:
        X[::2][random.random((23, d)) < 0.3] = np.nan
        X[5] = np.nan
        X[7] = np.inf
    same_bits(learner, X, random)


# -- distances to classes ------------------------------------------------------------------------------------------


def to_means(z: Values, exemplars: Values, r: int) -> float:
    """The distance of one sample to one class, as the docstring says it."""
    order = np.argsort(((exemplars - z) ** 2).sum(axis=1))[:r]
    total, weights = 0.0, 0.0
    for j in range(1, len(order) + 1):
        total += ((z - exemplars[order[:j]].mean(axis=0)) ** 2).sum() / j
        weights += 1 / j
    return total / weights


def each_alone(z: Values, exemplars: Values, r: int) -> float:
    """The cheaper distance."""
    near = np.sort(((exemplars - z) ** 2).sum(axis=1))[:r]
    ranks = np.arange(1, len(near) + 1)
    return float((near / ranks).sum() / (1 / ranks).sum())


def embedded(n: int = 50, classes: int = 4) -> tuple[Embedded, Values, Values]:
    """Class 1 has two exemplars, class 3 has none."""
    random = np.random.default_rng(0)
    labels = random.choice([0, 2], size=n)
    labels[[4, 9]] = 1
    Z = random.normal(size=(n, 6)).astype(np.float32)
    return Embedded.build(Z, labels, classes), Z, labels


@pytest.mark.parametrize("r", [1, 3, 7, 100])
def test_class_distances_are_those_of_a_loop(r):
    fast, Z, labels = embedded()
    Q = np.random.default_rng(1).normal(size=(20, 6)).astype(np.float32)
    D = fast.class_distances(Q, r)
    for c in range(3):
        np.testing.assert_allclose(D[:, c], [to_means(q, Z[labels == c], r) for q in Q], rtol=1e-4, atol=1e-5)
    assert np.isinf(D[:, 3]).all()


@pytest.mark.parametrize("r", [1, 3, 7])
def test_held_out_distances_are_those_of_a_loop_without_the_sample_itself(r):
    _, Z, labels = embedded()
    rows = np.array([4, 0, 30, 9])
    labels = np.append(labels, 4)  # class 3 has none, class 4 one
    Z = np.concatenate([Z, np.zeros((1, 6), dtype=np.float32)])
    other, D = held_out_distances(np.stack([2.0 * Z, Z]), labels, rows, r)
    np.testing.assert_allclose(other, 4.0 * D, rtol=1e-5)
    for i, row in enumerate(rows):
        rest = np.arange(len(Z)) != row
        for c in range(3):
            expected = each_alone(Z[row], Z[rest & (labels == c)], r)
            np.testing.assert_allclose(D[i, c], expected, rtol=1e-4, atol=1e-5)
    assert np.isinf(D[:, 3]).all()


def test_the_last_exemplar_of_a_class_is_infinitely_far_from_its_own_class_when_held_out():
    Z = np.eye(3, dtype=np.float32)
    ((D,),) = held_out_distances(Z[None], np.array([0, 0, 1]), np.array([2]), 3)
    assert np.isinf(D[1])
    assert np.isfinite(D[0])


def test_a_sample_amid_its_exemplars_is_nearer_than_to_any_one_of_them():
    Z = np.array([[1.0, 0.0], [-1.0, 0.0], [3.0, 0.0], [3.0, 0.1]], dtype=np.float32)
    near, far = Embedded.build(Z, np.array([0, 0, 1, 1]), 2).class_distances(np.zeros((1, 2), dtype=np.float32), 2)[0]
    assert near < 1.0
    assert far > 4.0


def test_scores_rank_classes_by_distance_and_are_centred():
    D = np.array([[1.0, 4.0, 2.0], [1e-40, 1.0, 1e30]])
    scores = log_scores(D)
    np.testing.assert_array_equal(np.argsort(-scores, axis=1), np.argsort(D, axis=1))
    np.testing.assert_allclose(scores.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(scores[0, 0] - scores[0, 1], np.log(4.0))


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_scores_do_not_depend_on_the_scale_of_distances(scale):
    D = np.array([[1.0, 4.0, 2.0]])
    np.testing.assert_allclose(log_scores(scale * D), log_scores(D), atol=1e-12)


def test_a_class_without_exemplars_scores_far_below_the_others():
    scores = log_scores(np.array([[1.0, np.inf, 2.0]]))[0]
    np.testing.assert_allclose(scores.min(), scores[2] - EMPTY)
    assert scores.argmin() == 1


def test_scores_are_finite_where_no_class_has_exemplars_or_all_distances_are_nothing():
    assert not log_scores(np.full((1, 3), np.inf)).any()
    assert not log_scores(np.zeros((1, 3))).any()


def test_the_embedding_groups_rows_by_class_and_remembers_where_they_were():
    fast, Z, labels = embedded()
    np.testing.assert_array_equal(fast.Z, Z[fast.order])
    assert (np.diff(labels[fast.order]) >= 0).all()
    sizes = np.diff(fast.starts)
    np.testing.assert_array_equal(sizes, np.bincount(labels, minlength=4))
    assert fast.classes == 4
