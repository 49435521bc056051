"""CDML: straight curves are a linear metric, arcs and nearest points are right, and so is the gradient."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.evaluate.rivals import cdml, curves
from eml.evaluate.rivals.cdml import CurvilinearMetric, loss, straight


def bent(seed, order=3, bend=0.1):
    random = np.random.default_rng(seed)
    line, rest = random.normal(size=(3, 5, 1)), bend * random.normal(size=(3, 5, order - 1))
    return np.concatenate([line, rest], axis=2), random.normal(size=(12, 5))


def on_curve(theta, t):
    """Points (t, d) of one curve (d, c)."""
    return sum(np.outer(t**power, theta[:, power - 1]) for power in range(1, theta.shape[1] + 1))


@pytest.mark.parametrize("order", [1, 2, 3])
@given(seed=st.integers(0, 1000))
def test_without_curvature_it_is_a_linear_metric(order, seed):
    theta, rows = bent(seed, order, bend=0.0)
    np.testing.assert_allclose(curves.positions(theta, rows), rows @ theta[:, :, 0].T, rtol=1e-8, atol=1e-10)


def test_a_fit_of_order_one_stays_linear():
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(60, 4)), random.integers(0, 2, size=60).tolist()
    linear, curved = CurvilinearMetric(4, 0, order=1), CurvilinearMetric(4, 0, order=2)
    for metric in (linear, curved):
        metric.fit(rows, labels)

    def bend(metric):
        ends = metric.embed(rows[:20]) + metric.embed(rows[20:40])
        return np.abs(metric.embed(rows[:20] + rows[20:40]) - ends).max()

    assert bend(linear) < 1e-8
    assert bend(curved) > 1e-3


@given(st.integers(0, 1000))
def test_no_point_of_the_curve_is_nearer(seed):
    theta, rows = bent(seed, order=cdml.ORDER)
    gram = np.einsum("mdk,mdl->mkl", theta, theta)
    found = curves.nearest(gram, np.einsum("nd,mdk->nmk", rows, theta), np.linalg.norm(rows, axis=1))
    grid = np.linspace(-20.0, 20.0, 4001)
    for place, curve in enumerate(theta):
        nearest = ((rows[:, None] - on_curve(curve, grid)[None]) ** 2).sum(axis=2).min(axis=1)
        ours = ((rows - on_curve(curve, found[:, place])) ** 2).sum(axis=1)
        assert (ours <= nearest + 1e-9).all()


def test_a_position_is_the_length_of_the_way_along_the_curve():
    theta, rows = bent(4)
    gram = np.einsum("mdk,mdl->mkl", theta, theta)
    found = curves.nearest(gram, np.einsum("nd,mdk->nmk", rows, theta), np.linalg.norm(rows, axis=1))
    positions = curves.positions(theta, rows)

    def length(curve, end):
        points = on_curve(curve, np.linspace(0.0, end, 20001))
        return np.linalg.norm(np.diff(points, axis=0), axis=1).sum()

    for place, curve in enumerate(theta):
        expected = [np.sign(end) * length(curve, end) * length(curve, 1.0) for end in found[:, place]]
        np.testing.assert_allclose(positions[:, place], expected, rtol=1e-4)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_gradient_is_that_of_the_loss(order):
    theta, rows = bent(0, order)
    classes = np.arange(12) % 2
    alike = classes[:, None] == classes[None, :]
    slope = loss(theta, rows, alike)[1]
    random = np.random.default_rng(1)
    for _ in range(10):
        way = random.normal(size=theta.shape)
        ahead, behind = (loss(theta + step * way, rows, alike)[0] for step in (1e-6, -1e-6))
        assert (ahead - behind) / 2e-6 == pytest.approx((slope * way).sum(), rel=1e-4)


def test_a_fit_lessens_the_loss():
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, size=80)
    rows = random.normal(size=(80, 6)) + labels[:, None] * np.array([2.0, 0, 0, 0, 0, 0])
    metric = CurvilinearMetric(6, 0)
    metric.fit(rows, labels.tolist())
    assert metric.curves is not None
    alike = labels[:, None] == labels[None, :]
    scaled = rows / metric.scale
    assert loss(metric.curves, scaled, alike)[0] < 0.9 * loss(straight(scaled), scaled, alike)[0]


@pytest.mark.parametrize("seed", range(3))
def test_curvature_fits_what_no_line_does(seed):
    random = np.random.default_rng(seed)
    along = random.uniform(-1.5, 1.5, size=150)
    labels = np.arange(150) % 2
    rows = np.column_stack([along, along**2 + np.where(labels, 0.5, -0.5)])  # one parabola above the other
    alike = labels[:, None] == labels[None, :]
    left = {}
    for order in (1, 2):
        metric = CurvilinearMetric(2, 0, order=order)
        metric.fit(rows, labels.tolist())
        assert metric.curves is not None
        left[order] = loss(metric.curves, rows / metric.scale, alike)[0]
    assert left[2] < 0.95 * left[1]
