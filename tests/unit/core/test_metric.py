"""The step of a metric: it exists, whatever the scale; it is the same in either form; it is never d x d."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core.metric import EXPLODED, SafeStep, acceptable, edges, frobenius, laplacian, low_rank
from tests.unit.core.helpers import Values

Parts = tuple[Values, Values, Values, Values]


def matrices(n: int, d: int, k: int, seed: int = 0) -> Parts:
    """L, X, and pulls and pushes of a random graph with the embedding they stand on: (L, X, A, R)."""
    random = np.random.default_rng(seed)
    L, X = random.normal(size=(k, d)), random.normal(size=(n, d))
    rows, columns = random.integers(0, n, size=(2, 4 * n))
    pull = laplacian(rows, columns, random.random(4 * n), n).toarray()
    push = laplacian(columns, rows[::-1], random.random(4 * n), n)
    return L, X, pull, push @ (X @ L.T)


def dense(step: SafeStep, parts: Parts, H: tuple[Values, Values], gamma: float) -> Values:
    """The step as the equation says, with the d x d matrix."""
    L, X, A, R = parts
    V, h = H
    g = gamma / step.unit
    inverse = np.linalg.inv(np.eye(X.shape[1]) + V.T @ np.diag(h) @ V + g * X.T @ A @ X)
    return np.asarray((L + g * R.T @ X) @ inverse)


# -- graphs --------------------------------------------------------------------------------------------------------


def test_a_laplacian_weighs_squared_differences_along_edges():
    rows, columns = np.array([0, 0, 2, 3, 0]), np.array([1, 2, 3, 0, 1])  # one edge twice
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    z = np.random.default_rng(0).normal(size=4)
    expected = sum(w * (z[i] - z[j]) ** 2 for i, j, w in zip(rows, columns, weights, strict=True))
    np.testing.assert_allclose(z @ laplacian(rows, columns, weights, 4) @ z, expected)


def test_an_edge_of_a_sample_to_itself_weighs_nothing():
    assert not laplacian(np.array([1]), np.array([1]), np.array([7.0]), 3).toarray().any()


def test_edges_are_directed_and_add_up():
    W = edges(np.array([[0, 1], [0, 2]]), np.array([[1, 0], [1, 2]]), np.array([[1.0, 2.0], [3.0, 4.0]]), 3)
    np.testing.assert_array_equal(W.toarray(), [[0, 4, 0], [2, 0, 0], [0, 0, 4]])


# -- the low-rank term ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "d", "rank"), [(3, 8, 3), (8, 3, 3), (5, 9, 2)])
def test_the_low_rank_weight_turns_a_quadratic_form_into_the_trace_norm(k, d, rank):
    random = np.random.default_rng(0)
    L = random.normal(size=(k, rank)) @ random.normal(size=(rank, d))
    V, h = low_rank(L)
    s = np.linalg.svd(L, compute_uv=False)[:rank]
    H = V.T @ np.diag(h) @ V
    np.testing.assert_allclose(np.trace(L @ H @ L.T) / s.mean(), s.sum(), rtol=1e-6)


def test_the_low_rank_weight_leaves_directions_outside_the_rows_alone():
    L = np.random.default_rng(0).normal(size=(2, 5))
    V, h = low_rank(L)
    outside = np.linalg.svd(L)[2][2:]
    np.testing.assert_allclose(V.T @ np.diag(h) @ V @ outside.T, 0.0, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_low_rank_weight_has_no_unit(scale):
    L = np.random.default_rng(0).normal(size=(3, 6))
    (V, h), (scaled_V, scaled_h) = low_rank(L), low_rank(scale * L)
    np.testing.assert_allclose(scaled_V.T @ np.diag(scaled_h) @ scaled_V, V.T @ np.diag(h) @ V, rtol=1e-6)


def test_the_low_rank_term_shrinks_weak_directions_more_than_strong_ones_and_frobenius_all_alike():
    L = np.diag([4.0, 1.0])
    for weigh, expected in ((low_rank, [2.5 / 4.0, 2.5]), (frobenius, [1.0, 1.0])):
        V, h = weigh(L)
        np.testing.assert_allclose(np.diag(V.T @ np.diag(h) @ V), expected)


# -- the step ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.01, 0.3, 10.0])
@pytest.mark.parametrize(("n", "d", "k"), [(30, 6, 4), (10, 40, 4), (10, 14, 4), (10, 15, 4)])
def test_the_step_solves_its_equation_in_either_form(n, d, k, gamma):
    parts = matrices(n, d, k)
    V, h = low_rank(parts[0])
    H = (V, 0.2 * h)
    step = SafeStep(*parts, H)
    assert step.narrow == (d <= n + k)
    np.testing.assert_allclose(step(gamma), dense(step, parts, H, gamma), rtol=1e-8, atol=1e-10)


def test_the_narrow_and_the_woodbury_form_are_the_same_step():
    L, X, A, R = matrices(10, 40, 4)
    V, h = low_rank(L)
    wide = SafeStep(L, X, A, R, (V, 0.2 * h))
    n, padded = len(X), 40  # samples at the origin without ties make the same step narrow
    A_padded = np.zeros((padded, padded))
    A_padded[:n, :n] = A
    below = ((0, padded - n), (0, 0))
    narrow = SafeStep(L, np.pad(X, below), A_padded, np.pad(R, below), (V, 0.2 * h))
    assert narrow.narrow
    assert not wide.narrow
    np.testing.assert_allclose(wide.unit, narrow.unit)
    np.testing.assert_allclose(wide(0.7), narrow(0.7), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("d", [5, 60])
def test_a_small_step_goes_down_the_gradient(d):
    L, X, A, R = matrices(20, d, 3)
    step = SafeStep(L, X, A, R, (np.zeros((0, d)), np.zeros(0)))
    gamma = 1e-6
    gradient = (A @ (X @ L.T) - R).T @ X
    np.testing.assert_allclose((step(gamma) - L) / (gamma / step.unit), -gradient, rtol=1e-3, atol=1e-3)


def test_a_step_over_wide_samples_never_holds_a_square_of_the_width():
    n, d, k = 40, 20_000, 8
    parts = matrices(n, d, k)
    H = low_rank(parts[0])
    tracemalloc.start()
    try:
        stepped = SafeStep(*parts, H)(0.3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert stepped.shape == (k, d)
    assert np.isfinite(stepped).all()
    assert peak < 8 * (n + k) * d * 8  # a few times the samples themselves; d x d would be 3,200,000,000 bytes


EXPONENTS = st.integers(-12, 12)


@given(of_x=EXPONENTS, of_l=EXPONENTS, of_gamma=st.integers(-6, 6), d=st.sampled_from([4, 40]))
def test_the_step_exists_for_huge_and_tiny_scales(of_x, of_l, of_gamma, d):
    L, X, A, R = matrices(12, d, 3)
    L, X, R = L * 10.0**of_l, X * 10.0**of_x, R * 10.0 ** (of_x + of_l)
    V, h = low_rank(L)
    stepped = SafeStep(L, X, A, R, (V, 1e-3 * h))(10.0**of_gamma)
    assert acceptable(stepped, L)


@pytest.mark.parametrize("d", [4, 40])
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_step_has_no_unit(scale, d):
    L, X, A, R = matrices(12, d, 3)
    V, h = low_rank(L)
    H = (V, 1e-3 * h)
    stepped = SafeStep(L, X, A, R, H)(0.3)
    np.testing.assert_allclose(SafeStep(L, scale * X, A, scale * R, H)(0.3), stepped, rtol=1e-6)
    np.testing.assert_allclose(SafeStep(L, X, scale * A, scale * R, H)(0.3), stepped, rtol=1e-6)
    np.testing.assert_allclose(SafeStep(scale * L, X, A, scale * R, H)(0.3), scale * stepped, rtol=1e-6)


@pytest.mark.parametrize("d", [4, 40])
def test_where_nothing_pulls_the_metric_stays(d):
    L, X, A, R = matrices(12, d, 3)
    np.testing.assert_array_equal(SafeStep(L, X, 0.0 * A, R, low_rank(L))(0.3), L)
    np.testing.assert_array_equal(SafeStep(L, 0.0 * X, A, 0.0 * R, low_rank(L))(0.3), L)


# -- refusal -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ([[1.0, 2.0]], True),
        ([[1e-9, 0.0]], True),
        ([[np.nan, 2.0]], False),
        ([[1.0, np.inf]], False),
        ([[-np.inf, np.inf]], False),
        ([[0.0, 0.0]], False),
        ([[2.0 * EXPLODED, 0.0]], False),
        ([[1e200, 1e200]], False),
        ([[1e308, 1e308]], False),
    ],
)
def test_a_metric_that_is_not_finite_or_exploded_is_not_acceptable(new, expected):
    assert acceptable(np.array(new), np.array([[1.0, 0.0]])) is expected


def test_what_exploding_means_depends_on_the_last_good_metric():
    new = np.full((2, 2), 1e6)
    assert acceptable(new, new / (0.5 * EXPLODED))
    assert not acceptable(new, new / (2 * EXPLODED))
