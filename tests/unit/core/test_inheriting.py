"""The I-stage's parts: estimates for exemplars that lack the new features, stacking, folding."""

import numpy as np
import pytest

from eml.core.fitting import Fitter, scaling
from eml.core.imputation import impute
from eml.core.inheriting import ENOUGH_DONORS, FEWEST_DONORS, Exemplars, Inheritance, Stack, donors_of, inherit
from eml.core.stages import Objective
from eml.core.views import View
from tests.unit.core.helpers import Values

FITTER_STEPS = (0.05, 0.3)


def problem(
    donors: int, n: int = 120, seed: int = 0, tells: tuple[float, float] = (0.5, 5.0)
) -> tuple[Exemplars, Values, Values]:
    """Two survivors that tell little, two new features that tell all; the first `donors` exemplars have them."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    truth = np.outer(y, np.repeat(tells, 2)) + random.normal(size=(n, 4))
    observed = np.ones((n, 4), dtype=np.bool_)
    observed[donors:, 2:] = False
    return Exemplars(np.where(observed, truth, 0.0), y, observed, truth.std(axis=0)), y, truth


def run(exemplars: Exemplars, returned: dict[int, Values] | None = None) -> Inheritance | None:
    survived = View("survived", np.array([0, 1]), np.eye(2))
    fitter = Fitter(Objective(), FITTER_STEPS, 5, 8)
    return inherit(exemplars, survived, returned or {}, 4.0, fitter, 20, np.random.default_rng(0))


# -- completion ----------------------------------------------------------------------------------------------------


def test_estimates_come_from_the_nearest_fellows_of_the_same_class():
    Z = np.array([[0.0], [0.1], [9.0], [0.05]])
    values = np.array([[10.0], [0.0], [20.0], [99.0]])
    y = np.array([0, 0, 0, 1])
    done = impute(Z, values, np.array([False, True, False, False]), y, np.array([0, 2, 3]))
    assert done[1, 0] == pytest.approx(10.0, abs=0.2)  # row 0 is near; row 2 is far; row 3 is nearer but no fellow
    np.testing.assert_array_equal(done[[0, 2, 3]], values[[0, 2, 3]])


def test_estimates_are_means_of_what_donors_have():
    random = np.random.default_rng(0)
    Z, values = random.normal(size=(60, 2)), random.normal(size=(60, 3))
    y, receivers = np.arange(60) % 2, np.arange(60) >= 20
    done = impute(Z, values, receivers, y, np.arange(20))
    for c in range(2):
        given, got = values[:20][y[:20] == c], done[receivers & (y == c)]
        assert (got >= given.min(axis=0) - 1e-6).all()
        assert (got <= given.max(axis=0) + 1e-6).all()


def test_a_class_without_donors_takes_from_all():
    done = impute(
        np.zeros((3, 1)),
        np.array([[1.0], [3.0], [0.0]]),
        np.array([False, False, True]),
        np.array([0, 0, 1]),
        np.array([0, 1]),
    )
    assert done[2, 0] == pytest.approx(2.0)


def test_completing_leaves_its_input_alone():
    values = np.array([[1.0], [0.0]])
    impute(np.zeros((2, 1)), values, np.array([False, True]), np.array([0, 0]), np.array([0]))
    np.testing.assert_array_equal(values, [[1.0], [0.0]])


def test_donors_have_more_than_half_of_the_new_features():
    observed = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 1, 1]], dtype=np.bool_)
    assert donors_of(observed, np.array([1, 2])).tolist() == [0, 3]


# -- stacking ------------------------------------------------------------------------------------------------------


def test_folding_the_stacked_metric_gives_one_metric_over_the_space():
    random = np.random.default_rng(0)
    stack = Stack(random.normal(size=(3, 6)), np.array([1, 4]), np.array([2.0, 0.5]))
    Lz, X = random.normal(size=(4, 5)), random.normal(size=(10, 6))
    np.testing.assert_allclose(X @ stack.fold(Lz).T, stack.embed(X) @ Lz.T)


@pytest.mark.parametrize(("donors", "least"), [(20, 0.5), (60, 0.65)])
def test_the_joint_metric_uses_the_new_features_and_the_better_view_gets_the_weight(donors, least):
    exemplars, y, truth = problem(donors)
    inheritance = run(exemplars)
    assert inheritance is not None
    Z = truth @ inheritance.L.T
    centres = [Z[y == c].mean(axis=0) for c in range(2)]
    right = np.linalg.norm(Z - centres[0], axis=1) > np.linalg.norm(Z - centres[1], axis=1)
    assert np.mean(right == y) > 0.95
    assert inheritance.pooling.shares[1] > least  # donors are asked with their own values


def test_observed_values_stay_and_missing_ones_are_estimated():
    exemplars, y, truth = problem(40)
    inheritance = run(exemplars)
    assert inheritance is not None
    np.testing.assert_array_equal(inheritance.imputed[exemplars.observed], truth[exemplars.observed])
    estimated = inheritance.imputed[40:, 2:]
    assert np.abs(estimated[y[40:] == 1].mean() - 5.0) < 1.0
    assert np.abs(estimated[y[40:] == 0].mean()) < 1.0


def test_too_few_donors_or_donors_of_one_class_wait_for_more():
    assert run(problem(FEWEST_DONORS - 1)[0]) is None
    exemplars, y, _ = problem(40)
    exemplars.observed[(y == 1), 2:] = False
    assert run(exemplars) is None
    assert run(problem(FEWEST_DONORS)[0]) is not None


def test_a_handful_of_donors_must_show_that_the_new_features_help():
    useless, seeds = (2.0, 0.0), range(12)
    waiting = [run(problem(12, seed=seed, tells=useless)[0]) is None for seed in seeds]
    assert np.mean(waiting) > 0.7  # the rest by chance
    assert all(run(problem(12, seed=seed)[0]) is not None for seed in seeds)
    assert all(run(problem(ENOUGH_DONORS, seed=seed, tells=useless)[0]) is not None for seed in seeds)
    assert all(run(problem(12, n=24, seed=seed, tells=useless)[0]) is not None for seed in seeds)  # a small memory


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_the_new_features_does_not_matter(scale):
    exemplars, _, truth = problem(40)
    unit = np.array([1.0, 1.0, scale, scale])
    scaled = Exemplars(exemplars.X * unit, exemplars.y, exemplars.observed, exemplars.deviation * unit)
    one, other = run(exemplars), run(scaled)
    assert one is not None
    assert other is not None
    np.testing.assert_allclose((truth * unit) @ other.L.T, truth @ one.L.T, atol=1e-4 * np.abs(truth @ one.L.T).max())


def test_a_feature_that_returns_may_bring_its_columns():
    exemplars, _, _ = problem(40)
    inheritance = run(exemplars, {2: np.array([3.0, 0.0]), 3: np.array([0.0, 3.0])})
    assert inheritance is not None
    assert np.isfinite(inheritance.L).all()
    assert (np.abs(inheritance.L[:, 2:]).max(axis=0) > 0.0).all()


# -- choosing ------------------------------------------------------------------------------------------------------


def test_scaling_is_relative_to_the_widest_feature_and_drops_what_never_varied():
    deviation = np.array([4.0, 1.0, 0.0])
    np.testing.assert_allclose(scaling(deviation, 1.0), [1.0, 4.0, 0.0])
    np.testing.assert_allclose(scaling(deviation, 0.5), [1.0, 2.0, 0.0])
    np.testing.assert_allclose(scaling(deviation, 0.0), [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(scaling(np.zeros(2), 1.0), [1.0, 1.0])


def tells_and_noise(wide: str, seed: int = 0) -> tuple[Values, Values]:
    """Four features that tell two classes apart, thirty that do not; one kind is thirty times as wide."""
    random = np.random.default_rng(seed)
    y = np.arange(200) % 2
    tells, noise = 1.5 * y[:, None] + random.normal(size=(200, 4)), random.normal(size=(200, 30))
    return np.hstack([30.0 * tells, noise] if wide == "tells" else [tells, 30.0 * noise]), y


@pytest.mark.parametrize(("wide", "most"), [("tells", 0.5), ("noise", 10.0)])
def test_the_first_metric_takes_the_scaling_that_neighbours_like(wide, most):
    X, y = tells_and_noise(wide)
    widths = X.std(axis=0)
    L = Fitter(Objective(), FITTER_STEPS, 5, 40).first(X, y, widths)
    parts = (np.linalg.norm(L, axis=0) * widths) ** 2
    assert parts[4:].sum() < most * parts[:4].sum()  # as they are: 0.01 and 7,000; all on one scale: 7.5


def test_a_step_that_does_not_help_held_out_samples_is_not_taken(monkeypatch):
    X, y = tells_and_noise("noise")
    better, worse = np.diag([1.0] * 4 + [0.01] * 30), np.diag([0.01] * 4 + [1.0] * 30)
    L, fitter = np.diag([1.0] * 4 + [0.03] * 30), Fitter(Objective(), FITTER_STEPS, 5, 40)
    halves = np.arange(100), np.arange(100, 200)
    monkeypatch.setattr("eml.core.stages.improve", lambda *_: [worse, worse])
    assert fitter.improve(L, X, y, *halves) is L
    assert (fitter.taken, fitter.refused) == (0, 0)
    monkeypatch.setattr("eml.core.stages.improve", lambda *_: [worse, better])
    assert fitter.improve(L, X, y, *halves) is better
    assert (fitter.taken, fitter.refused) == (1, 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e9])
def test_an_unsound_step_is_refused_and_counted(monkeypatch, bad):
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(size=(40, 2)) + 2.0 * y[:, None]
    fitter = Fitter(Objective(), FITTER_STEPS, 5, 8)
    monkeypatch.setattr("eml.core.stages.improve", lambda *_: [np.full((2, 2), bad)] * 2)
    L = np.eye(2)
    assert fitter.improve(L, X, y, np.arange(20), np.arange(20, 40)) is L
    assert fitter.refused == 2
