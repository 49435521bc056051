"""Smoothed Wasserstein plans of many pairs at once, beside POT's solvers of one."""

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import transport
from eml.core.transport import solve, uniform
from tests.unit.core.helpers import Values

MANY = 3000
SIGMA = 0.1


@pytest.fixture
def exact(monkeypatch):
    """Plans solved to the end, to be compared with other exact ones."""
    monkeypatch.setattr(transport, "TOLERANCE", 1e-14)


def clouds(pairs: int, m: int, n: int, seed: int = 0) -> Values:
    """Costs (pairs, m, n) between clouds at various distances."""
    random = np.random.default_rng(seed)
    P = random.normal(size=(pairs, m, 3))
    Q = random.normal(size=(pairs, n, 3)) + random.uniform(0, 3, size=(pairs, 1, 1))
    return np.asarray(((P[:, :, None] - Q[:, None]) ** 2).sum(axis=3))


def far_row(pairs: int = 200) -> Values:
    """Costs of which one pair has a sample far from everything: its row of the kernel is zero in floats."""
    D = clouds(pairs, 4, 4)
    D[7, 2] = 1e4
    return D


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(("m", "n"), [(4, 4), (3, 5), (1, 4), (6, 2)])
def test_plans_have_the_marginals_of_uniform_signatures(m, n):
    F = solve(clouds(20, m, n), SIGMA, MANY).F
    assert (F >= 0.0).all()
    np.testing.assert_allclose(F.sum(axis=2), 1 / m, atol=1e-10)
    np.testing.assert_allclose(F.sum(axis=1), 1 / n, atol=1e-10)


def test_the_few_iterations_of_the_learner_are_near_enough():
    D = clouds(100, 4, 4)
    quick, thorough = solve(D, SIGMA), solve(D, SIGMA, MANY)
    np.testing.assert_allclose(quick.F.sum(axis=1), 1 / 4, atol=1e-12)
    assert np.abs(quick.F.sum(axis=2) - 1 / 4).max() < 0.05
    np.testing.assert_allclose(quick.value, thorough.value, rtol=0.05, atol=0.01 * D.mean())


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(("m", "n"), [(4, 4), (3, 5)])
def test_plans_and_both_values_are_those_of_a_solver_of_one_pair(m, n):
    D = clouds(8, m, n, seed=3)
    plans = solve(D, SIGMA, MANY)
    regularisation = SIGMA * D.mean()
    a, b = np.full(m, 1 / m), np.full(n, 1 / n)
    for i, cost in enumerate(D):
        F = ot.sinkhorn(a, b, cost, regularisation, numItermax=MANY, stopThr=1e-14)
        linear = ot.sinkhorn2(a, b, cost, regularisation, numItermax=MANY, stopThr=1e-14)
        np.testing.assert_allclose(plans.F[i], F, atol=1e-9)
        np.testing.assert_allclose(plans.linear[i], linear, rtol=1e-8)
        entropy = -(F * np.log(F)).sum()
        np.testing.assert_allclose(plans.value[i], (F * cost).sum() - regularisation * entropy, rtol=1e-8)


@pytest.mark.usefixtures("exact")
def test_no_other_plan_of_these_marginals_has_a_smaller_smoothed_cost():
    D = clouds(1, 4, 4, seed=5)
    plans = solve(D, SIGMA, MANY)
    F, sigma = plans.F[0], SIGMA * D.mean()
    random = np.random.default_rng(0)
    for _ in range(100):
        other = F.copy()
        i, k = random.choice(4, 2, replace=False)
        j, q = random.choice(4, 2, replace=False)
        moved = 0.9 * random.random() * min(other[i, j], other[k, q])
        other[[i, k], [j, q]] -= moved  # a cycle: the marginals stay
        other[[i, k], [q, j]] += moved
        assert (D[0] * other).sum() + sigma * (other * np.log(other)).sum() >= plans.value[0] - 1e-12


def test_plain_sinkhorn_underflows_for_a_far_sample_and_the_log_domain_takes_over():
    D = far_row()
    cost = (D - D.min(axis=(1, 2), keepdims=True)) / D.mean()
    with np.errstate(all="ignore"):
        plain = ot.solve_batch(cost, reg=SIGMA, method="sinkhorn", max_iter=21, tol=1e-3, grad="detach").plan
    lost = ~np.isfinite(plain).all(axis=(1, 2))
    assert lost.nonzero()[0].tolist() == [7]

    plans = solve(D, SIGMA)
    assert all(np.isfinite(part).all() for part in (plans.F, plans.linear, plans.value))
    np.testing.assert_allclose(plans.F[7].sum(axis=1), 1 / 4, atol=1e-3)
    np.testing.assert_allclose(plans.F[7].sum(axis=0), 1 / 4, atol=1e-12)
    np.testing.assert_allclose(plans.F[~lost], plain[~lost], rtol=1e-12)


def test_only_the_pairs_that_underflow_pay_for_the_log_domain(monkeypatch):
    asked, in_log_domain = [], transport._in_log_domain

    def spy(cost, sigma, iterations):
        asked.append(len(cost))
        return in_log_domain(cost, sigma, iterations)

    monkeypatch.setattr(transport, "_in_log_domain", spy)
    solve(far_row(), SIGMA)
    assert asked == [1]


@pytest.mark.usefixtures("exact")
def test_a_pair_that_underflows_gets_the_plan_of_a_log_domain_solver():
    D = far_row()
    a = np.full(4, 1 / 4)
    expected = ot.sinkhorn(a, a, D[7], SIGMA * D.mean(), method="sinkhorn_log", numItermax=MANY, stopThr=1e-14)
    np.testing.assert_allclose(solve(D, SIGMA, MANY).F[7], expected, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12])
def test_smoothing_is_relative_so_a_unit_changes_no_plan(scale):
    D = far_row()
    plans, scaled = solve(D, SIGMA), solve(scale * D, SIGMA)
    np.testing.assert_allclose(scaled.F, plans.F, atol=1e-12)
    np.testing.assert_allclose(scaled.linear, scale * plans.linear, rtol=1e-9)
    np.testing.assert_allclose(scaled.value, scale * plans.value, rtol=1e-9)


def test_less_smoothing_comes_nearer_to_the_unsmoothed_distance():
    D = clouds(5, 4, 4)
    emd = np.array([ot.emd2(np.full(4, 0.25), np.full(4, 0.25), cost) for cost in D])
    loose, tight = (np.abs(solve(D, sigma, MANY).linear - emd).max() for sigma in (1.0, 0.05))
    assert tight < 0.2 * loose


def test_coincident_samples_have_no_distance_and_the_even_plan():
    plans = solve(np.zeros((3, 4, 2)), SIGMA)
    np.testing.assert_array_equal(plans.F, 1 / 8)
    np.testing.assert_array_equal(plans.linear, 0.0)
    np.testing.assert_array_equal(plans.value, 0.0)


def test_a_pair_of_coincident_samples_among_others_has_the_even_plan():
    D = clouds(6, 4, 4)
    D[2] = 0.0
    plans = solve(D, SIGMA)
    np.testing.assert_allclose(plans.F[2], 1 / 16, atol=1e-15)
    assert plans.linear[2] == 0.0


def test_uniform_plans_give_mean_distances():
    D = clouds(7, 4, 3)
    plans = uniform(D)
    np.testing.assert_allclose(plans.F, 1 / 12)
    np.testing.assert_allclose(plans.linear, D.mean(axis=(1, 2)))
    np.testing.assert_array_equal(plans.value, plans.linear)  # nothing is smoothed


def test_a_part_of_the_plans_is_the_plans_of_those_pairs():
    plans = solve(clouds(7, 4, 3), SIGMA)
    part = plans.part(2, 5)
    for mine, all_of_them in ((part.F, plans.F), (part.linear, plans.linear), (part.value, plans.value)):
        np.testing.assert_array_equal(mine, all_of_them[2:5])


@given(seed=st.integers(0, 10_000), far=st.floats(0, 12), sigma=st.sampled_from([0.01, 0.1, 1.0]))
def test_plans_are_always_finite_and_keep_one_marginal(seed, far, sigma):
    D = clouds(5, 3, 3, seed)
    D[seed % 5, seed % 3] *= 10.0**far
    plans = solve(D, sigma)
    assert all(np.isfinite(part).all() for part in (plans.F, plans.linear, plans.value))
    np.testing.assert_allclose(plans.F.sum(axis=1), 1 / 3, atol=1e-9)
