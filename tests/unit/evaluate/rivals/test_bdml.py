"""BDML: codes are the minimisers they are said to be, the dictionary's gradient is right, and M stays a metric."""

import numpy as np
import pytest

from eml.evaluate.rivals import bdml, sparse_codes
from eml.evaluate.rivals.bdml import BilevelMetric, hinge_edges, laplacian, learnt, nearest_triplets, positive, start
from eml.evaluate.rivals.sparse_codes import LIKENESS, SPARSITY, Lower, solved, unit, upper_slope


@pytest.fixture
def lower(monkeypatch):
    """Six samples in four atoms, coded to the last digit."""
    monkeypatch.setattr(sparse_codes, "ITERATIONS", 5000)
    random = np.random.default_rng(0)
    atoms, rows = unit(random.normal(size=(4, 5))), unit(random.normal(size=(6, 5)))
    around = 0.2 * random.normal(size=(6, 4))
    return Lower(atoms, rows, solved(atoms, rows, around), 1.0), around


def cost(lower, codes, around):
    rest = ((lower.rows - codes @ lower.atoms) ** 2).sum() + LIKENESS * ((codes - around) ** 2).sum()
    return 0.5 * rest + SPARSITY * np.abs(codes).sum()


def test_a_code_is_the_minimiser_and_sparse(lower):
    found, around = lower
    least = cost(found, found.codes, around)
    random = np.random.default_rng(1)
    for size in (1e-4, 1e-2, 1.0):
        assert cost(found, found.codes + size * random.normal(size=found.codes.shape), around) > least
    assert (found.codes == 0.0).any()
    assert (found.codes != 0.0).any()


def test_the_dictionarys_gradient_is_that_of_the_upper_loss(lower):
    found, around = lower
    random = np.random.default_rng(2)
    by_codes = random.normal(size=found.codes.shape)  # of a loss that is linear in the codes
    slope = upper_slope(found, by_codes)
    for _ in range(5):
        way = random.normal(size=found.atoms.shape)
        ahead, behind = (
            (by_codes * solved(found.atoms + step * way, found.rows, around)).sum() for step in (1e-6, -1e-6)
        )
        assert (ahead - behind) / 2e-6 == pytest.approx((slope * way).sum(), rel=1e-3, abs=1e-6)


def test_codes_of_like_samples_are_drawn_together(monkeypatch):
    random = np.random.default_rng(3)
    rows = unit(random.normal(size=(40, 6)))
    spreads = []
    for likeness in (1e-9, 1.0):
        monkeypatch.setattr(sparse_codes, "LIKENESS", likeness)
        found = sparse_codes.begin(rows, 10, seed=0)
        around = sparse_codes.neighbours(found.rows, found.rows) @ found.codes
        spreads.append(((found.codes - around) ** 2).sum() / (found.codes**2).sum())
    assert spreads[1] < 0.8 * spreads[0]


def two_clouds(seed=0, rows=60):
    random = np.random.default_rng(seed)
    classes = np.arange(rows) % 2
    return random.normal(size=(rows, 6)) + 1.5 * classes[:, None] * np.array([1.0, 1.0, 0, 0, 0, 0]), classes


def test_triplets_are_of_the_nearest_of_both_kinds():
    rows, classes = two_clouds()
    triplets = nearest_triplets(rows, classes)
    anchor, friend, foe = triplets.T
    assert (classes[anchor] == classes[friend]).all()
    assert (classes[anchor] != classes[foe]).all()
    assert (anchor != friend).all()
    distances = np.linalg.norm(rows[0] - rows, axis=1)
    foes = np.flatnonzero(classes != classes[0])
    assert set(foe[anchor == 0]) == set(foes[np.argsort(distances[foes])[: bdml.FOES]])


def hinge(metric, codes, triplets):
    def squares(left, right):
        return np.einsum("nd,de,ne->n", codes[left] - codes[right], metric, codes[left] - codes[right])

    anchor, friend, foe = triplets.T
    return np.maximum(1.0 + squares(anchor, friend) - squares(anchor, foe), 0.0).mean()


def test_the_metrics_gradient_is_that_of_the_hinge():
    rows, classes = two_clouds()
    triplets = nearest_triplets(rows, classes)
    metric = start(rows)
    slope = rows.T @ laplacian(hinge_edges(metric, rows, triplets)) @ rows
    way = positive(np.random.default_rng(0).normal(size=(6, 6)))
    ahead, behind = (hinge(metric + step * way, rows, triplets) for step in (1e-7, -1e-7))
    assert (ahead - behind) / 2e-7 == pytest.approx((slope * way).sum(), rel=1e-4)


def test_learning_lessens_the_hinge_and_the_metric_stays_one():
    rows, classes = two_clouds()
    triplets = nearest_triplets(rows, classes)
    metric = learnt(start(rows), rows, triplets)
    assert hinge(metric, rows, triplets) < 0.95 * hinge(start(rows), rows, triplets)
    np.testing.assert_allclose(metric, metric.T, atol=1e-12)
    assert np.linalg.eigvalsh(metric).min() > -1e-10


def test_a_fit_gives_a_positive_metric_of_bounded_size_that_its_places_obey():
    rows, classes = two_clouds(rows=300)
    metric = BilevelMetric(6, 0)
    metric.fit(rows, classes.tolist())
    assert metric.lower is not None
    assert metric.metric.shape == (bdml.ATOMS, bdml.ATOMS)
    assert len(metric.lower.rows) == bdml.ROWS
    np.testing.assert_allclose(metric.metric, metric.metric.T, atol=1e-12)
    assert np.linalg.eigvalsh(metric.metric).min() > -1e-10
    codes, places = metric.lower.encode(rows[:2]), metric.embed(rows[:2])
    gap = codes[0] - codes[1]
    assert ((places[0] - places[1]) ** 2).sum() == pytest.approx(gap @ metric.metric @ gap)


def test_a_metric_that_would_turn_negative_is_cut_to_the_nearest_one():
    vectors, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    mixed, cut = ((vectors * values) @ vectors.T for values in ([2.0, 1.0, -0.5, -3.0], [2.0, 1.0, 0.0, 0.0]))
    np.testing.assert_allclose(positive(mixed), cut, atol=1e-12)
    np.testing.assert_allclose(positive(cut), cut, atol=1e-12)


def test_learning_keeps_a_metric_where_pulling_would_go_below_zero(monkeypatch):
    monkeypatch.setattr(bdml, "WEIGHT", 1e-3)  # next to nothing holds the metric back
    random = np.random.default_rng(1)
    classes = np.arange(40) % 2
    rows = np.column_stack([classes + 0.1 * random.normal(size=40), 3.0 * random.normal(size=40)])
    metric = learnt(start(rows), rows, nearest_triplets(rows, classes))
    assert np.linalg.eigvalsh(metric).min() > -1e-10
