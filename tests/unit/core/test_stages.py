"""The stages as steps of matrices: what falls, what rises, what is kept."""

import numpy as np
import pytest

from eml.core import stages
from eml.core.arrays import Array, Index, squared_distances
from eml.core.metric import SafeStep
from eml.core.stages import Objective, hinges, improve, principal, t_hinges, transform
from eml.core.triplets import Triplets, local_triplets
from tests.unit.core.helpers import World, one_nearest

OBJECTIVE = Objective()
WORLD = World(features=20, classes=3, gap=1.0, noise=12)
SURVIVED = np.arange(2, 13)


def labelled(n: int, seed: int, world: World = WORLD) -> tuple[Array, Index]:
    X, y = world.draw(n, seed)
    return X, np.array(y)


def triplets_of(Z: Array, y: Index, anchors: Index) -> Triplets:
    return local_triplets(squared_distances(Z[anchors], Z), anchors, y, OBJECTIVE.signature)


# -- the T-stage ---------------------------------------------------------------------------------------------------


def t_objective(La: Array, Ls: Array, X: Array, triplets: Triplets) -> float:
    """Eq. 4 and 5: own hinges of both spaces, and rho times both consistency hinges; La keeps its size."""
    own_a, own_s, first, second = t_hinges(X @ La.T, X[:, SURVIVED] @ Ls.T, triplets, OBJECTIVE)
    return own_a.loss + own_s.loss + OBJECTIVE.rho * (first.loss + second.loss)


@pytest.mark.parametrize("gamma", [0.05, 0.3, 1.0])
def test_the_objective_falls_over_a_t_stage(gamma):
    X, y = labelled(200, 3)
    anchors = np.arange(0, 200, 2)
    La = principal(X, 20)
    Ls, _ = stages.distil(La, X, SURVIVED)
    triplets = triplets_of(X @ La.T, y, anchors)
    losses = [t_objective(La, Ls, X, triplets)]
    for _ in range(6):
        ((La, Ls),) = transform(La, Ls, X, X[:, SURVIVED], y, anchors, (gamma,), OBJECTIVE)
        losses.append(t_objective(La, Ls, X, triplets))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < (0.9 if gamma < 0.1 else 0.75) * losses[0]


def test_a_t_stage_makes_the_survivors_neighbours_better():
    X, y = labelled(200, 3)
    La = principal(X, 20)
    Ls, _ = stages.distil(La, X, SURVIVED)
    unseen, truth = labelled(400, 4)
    before = one_nearest(unseen[:, SURVIVED] @ Ls.T, truth)
    for _ in range(8):
        ((La, Ls),) = transform(La, Ls, X, X[:, SURVIVED], y, np.arange(0, 200, 2), (0.3,), OBJECTIVE)
    assert one_nearest(unseen[:, SURVIVED] @ Ls.T, truth) > before


def test_the_consistency_hinges_bring_the_two_spaces_together():
    X, y = labelled(200, 3)
    La = principal(X, 20)
    random = np.random.default_rng(0)
    Ls = stages.distil(La, X, SURVIVED)[0] + 0.3 * random.normal(size=(20, len(SURVIVED)))

    def apart(rho: float) -> float:
        a, s = La, Ls
        for _ in range(6):
            ((a, s),) = transform(a, s, X, X[:, SURVIVED], y, np.arange(0, 200, 2), (0.5,), Objective(rho=rho))
        Za, Zs = X @ a.T, X[:, SURVIVED] @ s.T
        return float(((Za - Zs) ** 2).sum() / (Za**2).sum())

    assert apart(1.0) < apart(0.0)


def test_both_metrics_of_a_t_stage_step_are_brought_back_to_size_by_one_factor(monkeypatch):
    X, y = labelled(200, 3)
    La = principal(X, 20)
    Ls, _ = stages.distil(La, X, SURVIVED)
    for La_new, _ in transform(La, Ls, X, X[:, SURVIVED], y, np.arange(0, 200, 2), (0.05, 1.0), OBJECTIVE):
        np.testing.assert_allclose(np.linalg.norm(La_new), np.linalg.norm(La))
    monkeypatch.setattr(SafeStep, "__call__", lambda step, _: 0.25 * step.L)
    ((La_new, Ls_new),) = transform(La, Ls, X, X[:, SURVIVED], y, np.arange(0, 200, 2), (0.3,), OBJECTIVE)
    np.testing.assert_allclose(La_new, La)
    np.testing.assert_allclose(Ls_new, Ls)  # the two stay in one space


# -- one metric ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_improving_a_metric_makes_neighbours_clearly_better_among_loud_noise(seed):
    noisy = World(features=24, classes=3, gap=1.0, noise=16, seed=seed)
    loud = np.repeat([1.0, 2.0], [8, 16])
    (X, y), (unseen, truth) = labelled(300, 5, noisy), labelled(500, 6, noisy)
    L = np.eye(24)
    before = one_nearest(unseen * loud, truth)
    for _ in range(15):
        (L,) = improve(L, X * loud, y, np.arange(0, 300, 2), (0.3,), OBJECTIVE)
    assert one_nearest(unseen * loud @ L.T, truth) > before + 0.08


def test_the_own_hinge_falls_with_an_improving_step():
    X, y = labelled(200, 3)
    anchors = np.arange(0, 200, 2)
    triplets = triplets_of(X, y, anchors)
    (before,) = hinges([(X, X)], triplets, OBJECTIVE)
    for L in improve(np.eye(20), X, y, anchors, (0.05, 0.3, 1.0), OBJECTIVE):
        Z = X @ L.T
        assert hinges([(Z, Z)], triplets, OBJECTIVE)[0].loss < before.loss


@pytest.mark.parametrize("objective", [OBJECTIVE, Objective(wasserstein=False), Objective(low_rank=False)])
def test_every_ablation_offers_one_sound_candidate_per_step_size(objective):
    X, y = labelled(100, 3)
    candidates = improve(np.eye(20), X, y, np.arange(50), (0.05, 0.3, 1.0), objective)
    assert len(candidates) == 3
    for candidate in candidates:
        assert candidate.shape == (20, 20)
        assert np.isfinite(candidate).all()
        np.testing.assert_allclose(np.linalg.norm(candidate), np.linalg.norm(np.eye(20)))


def test_without_wasserstein_the_plans_are_even_and_with_it_they_are_not():
    X, y = labelled(60, 3)
    triplets = triplets_of(X, y, np.arange(20))
    (even,) = hinges([(X, X)], triplets, Objective(wasserstein=False))
    (smoothed,) = hinges([(X, X)], triplets, OBJECTIVE)
    np.testing.assert_allclose(even.near.F, 1 / OBJECTIVE.signature**2)
    assert (smoothed.near.linear < even.near.linear).all()


def test_the_low_rank_term_drives_the_trace_norm_down():
    X, y = labelled(100, 3)

    def trace_norm(objective: Objective) -> float:
        L = np.eye(20)
        for _ in range(5):
            (L,) = improve(L, X, y, np.arange(50), (0.3,), objective)
        return float(np.linalg.svd(L, compute_uv=False).sum())

    assert trace_norm(Objective(lam=0.1)) < 0.99 * trace_norm(Objective(lam=0.0))


def test_where_every_triplet_is_satisfied_nothing_is_offered():
    X, y = labelled(60, 3, World(features=4, classes=2, gap=50.0))
    assert improve(np.eye(4), X, y, np.arange(60), (0.3,), OBJECTIVE) == []


def test_one_class_offers_nothing():
    X, _ = labelled(30, 3)
    y = np.zeros(30, dtype=np.intp)
    assert improve(np.eye(20), X, y, np.arange(30), (0.3,), OBJECTIVE) == []
    assert transform(np.eye(20), np.eye(20)[:, 2:13], X, X[:, SURVIVED], y, np.arange(30), (0.3,), OBJECTIVE) == []


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_a_step_does_not_depend_on_the_unit_of_the_features(scale):
    X, y = labelled(100, 3)
    (L,) = improve(np.eye(20), X, y, np.arange(50), (0.3,), OBJECTIVE)
    (scaled,) = improve(np.eye(20), scale * X, y, np.arange(50), (0.3,), OBJECTIVE)
    np.testing.assert_allclose(scaled, L, atol=1e-8)


def test_identical_samples_of_two_classes_make_no_step_and_no_fuss():
    X, y = np.ones((20, 3)), np.arange(20) % 2
    for candidate in improve(np.eye(3), X, y, np.arange(20), (0.3,), OBJECTIVE):
        np.testing.assert_allclose(candidate, np.eye(3))


def test_the_margin_is_relative_to_the_first_sides_distance_to_other_classes():
    X, y = labelled(60, 3)
    triplets = triplets_of(X, y, np.arange(20))
    (relative,) = hinges([(X, X)], triplets, OBJECTIVE)
    margin = OBJECTIVE.margin * float(np.median(relative.far.linear))
    (given,) = hinges([(X, X)], triplets, OBJECTIVE, margin)
    assert relative.loss == given.loss
    expected = np.maximum(margin + given.near.value - given.far.value, 0.0)
    np.testing.assert_allclose(given.loss, expected.mean())
    np.testing.assert_array_equal(given.active, expected > 0.0)


# -- distillation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [40, 400], ids=["fewer samples than features", "more samples than features"])
def test_survivors_take_over_a_vanished_feature_that_is_a_function_of_them(n):
    random = np.random.default_rng(0)
    Xs = random.normal(size=(n, 3)) @ random.normal(size=(3, 60))  # few directions: 40 samples tell them all
    Xv = Xs @ random.normal(size=(60, 2)) / 5
    X, La = np.hstack([Xs, Xv]), random.normal(size=(4, 62))
    Ls, explained = stages.distil(La, X, np.arange(60), ridge=1e-6)
    assert (explained > 0.99).all()
    Z, Zs = X @ La.T, Xs @ Ls.T
    np.testing.assert_allclose(squared_distances(Zs, Zs), squared_distances(Z, Z), rtol=1e-3, atol=1e-3)


def test_the_learners_ridge_costs_a_function_of_the_survivors_little():
    random = np.random.default_rng(0)
    Xs = random.normal(size=(200, 4))
    X = np.column_stack([Xs, Xs @ random.normal(size=4)])
    _, explained = stages.distil(np.eye(5), X, np.arange(4))
    assert explained[0] > 0.95


def test_survivors_account_for_nothing_of_an_independent_feature():
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 4))
    La = random.normal(size=(2, 4))
    Ls, explained = stages.distil(La, X, np.array([0, 1, 2]))
    assert explained[0] < 0.01
    np.testing.assert_allclose(Ls, La[:, :3], atol=0.1)


def test_what_survivors_account_for_comes_in_the_order_of_the_old_space():
    random = np.random.default_rng(0)
    base = random.normal(size=(2000, 2))
    noise = random.normal(size=(2000, 2))
    X = np.column_stack([noise[:, 0], base[:, 0], 2 * base[:, 1], base[:, 1], noise[:, 1]])
    Ls, explained = stages.distil(np.eye(5), X, np.array([3, 1]))  # survivors in the next space's order
    assert explained.shape == (3,)
    assert explained[1] > 0.95
    assert max(explained[0], explained[2]) < 0.01
    assert Ls.shape == (5, 2)
    assert Ls[3, 0] == pytest.approx(1.0, abs=0.05)
    assert Ls[1, 1] == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("X", "survived"),
    [
        (np.ones((1, 3)), [0, 1]),
        (np.ones((9, 3)), [0, 1]),
        (np.eye(3), []),
        (np.eye(3), [2, 0, 1]),
    ],
    ids=["one sample", "constant features", "no survivor", "nothing vanished"],
)
def test_distillation_without_anything_to_learn_from_keeps_the_columns(X, survived):
    La = np.arange(6.0).reshape(2, 3)
    Ls, explained = stages.distil(La, X, np.array(survived, dtype=np.intp))
    np.testing.assert_array_equal(Ls, La[:, survived])
    np.testing.assert_array_equal(explained, np.zeros(3 - len(survived)))


# -- principal directions ------------------------------------------------------------------------------------------


def test_a_space_that_fits_is_kept_whole():
    X = np.random.default_rng(0).normal(size=(10, 4))
    np.testing.assert_array_equal(principal(X, 4), np.eye(4))


def test_principal_rows_are_orthonormal_and_keep_what_varies_most():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 30)) * np.linspace(3.0, 0.1, 30) + 100.0  # the offset is no variance
    V = principal(X, 5)
    np.testing.assert_allclose(V @ V.T, np.eye(5), atol=1e-12)
    best = np.sort(np.linalg.eigvalsh(np.cov(X.T)))[::-1][:5]
    np.testing.assert_allclose(np.var(X @ V.T, axis=0, ddof=1), best)


def test_principal_rows_have_one_sign_and_are_no_more_than_the_samples():
    X = np.random.default_rng(0).normal(size=(3, 30))
    V = principal(X, 5)
    assert V.shape == (3, 30)
    assert all(row[np.abs(row).argmax()] > 0.0 for row in V[:2])
    np.testing.assert_allclose(principal(-X, 5)[:2], V[:2], atol=1e-9)
