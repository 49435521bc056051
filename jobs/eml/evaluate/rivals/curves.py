"""Curves θ(t) = Σ_k t^k θ_k and samples' positions along them, with the gradient by the curves.

Called by `cdml` only; knows no labels. Arrays: curves m, features d, order c, rows n; θ is (m, d, c). Only products of
the coefficients with each other (m, c, c) and with the rows (n, m, c) are needed, so d enters two products and no more.
"""

from collections.abc import Callable

import numpy as np

from eml.evaluate.datasets import Floats

# Gauss-Legendre nodes on [0, 1]; a curve of low order has a smooth speed, for which 12 give eight digits and more.
_NODES, _SHARES = (0.5 * (x + shift) for x, shift in zip(np.polynomial.legendre.leggauss(12), (1.0, 0.0), strict=True))
_STARTS = np.linspace(-1.0, 1.0, 41) * np.abs(np.linspace(-1.0, 1.0, 41))  # closer where most points are, near 0
_NEWTON = 8  # refinements of it; each doubles the digits
_FLAT = 1e-3  # below this share of the squared speed the nearest point is about to jump: no derivative

PullBack = Callable[[Floats], Floats]


def powers(t: Floats, order: int, derivative: int = 0) -> Floats:
    """t^1 .. t^c along a new last axis, or their first or second derivatives."""
    k = np.arange(1, order + 1)
    factor = np.prod([k - j for j in range(derivative)], axis=0) * np.ones(order)
    stages = [np.ones_like(t)]
    for _ in range(order):  # products, for a general power costs ten times as much
        stages.append(stages[-1] * t)
    return np.stack([factor[i] * stages[max(k[i] - derivative, 0)] for i in range(order)], axis=-1)


def positions(theta: Floats, rows: Floats) -> Floats:
    """Arc length from the origin to each row's nearest point (n, m), times the length of the curve's first unit."""
    gram, images = _products(theta, rows)
    t = nearest(gram, images, np.linalg.norm(rows, axis=1))
    return np.asarray(unit_lengths(gram) * _arcs(gram, t))


def unit_lengths(gram: Floats) -> Floats:
    """Length of each curve from t = 0 to 1 (m,)."""
    return np.asarray(_arcs(gram, np.ones((1, len(gram))))[0])


def positions_with_gradient(theta: Floats, rows: Floats) -> tuple[Floats, PullBack]:
    """`positions`, and a function from a loss's derivative by them (n, m) to its derivative by θ (m, d, c)."""
    gram, images = _products(theta, rows)
    t = nearest(gram, images, np.linalg.norm(rows, axis=1))
    arcs, unit = _arcs(gram, t), unit_lengths(gram)

    def pull_back(slope: Floats) -> Floats:
        # an arc moves with the curve between its ends, and with its end, the nearest point
        first_unit = (slope * arcs).sum(axis=0, keepdims=True)
        between = _arc_moments(gram, t, slope * unit) + _arc_moments(gram, np.ones_like(first_unit), first_unit)
        by_curve, by_row = _end_moments(gram, images, t, slope * unit)
        pulled = (rows.T @ by_row.reshape(len(rows), -1)).reshape(-1, len(theta), theta.shape[2])
        return np.asarray(theta @ (between + by_curve) + pulled.transpose(1, 0, 2))

    return unit * arcs, pull_back


def nearest(gram: Floats, images: Floats, norms: Floats) -> Floats:
    """Each row's nearest point on each curve, as its t (n, m): the best of a grid, refined by Newton's method.

    Fine enough for order 2, where at most two points are nearer than all around them; of more it may miss one.
    """
    order = gram.shape[-1]
    best = _best(gram, images, (_reach(gram) * norms[:, None])[..., None] * _STARTS)
    t = best
    for _ in range(_NEWTON):
        first, second = powers(t, order, 1), powers(t, order, 2)
        slope = _form(first, gram, powers(t, order)) - (first * images).sum(axis=2)
        bend = _form(first, gram, first)
        whole = bend + _form(second, gram, powers(t, order)) - (second * images).sum(axis=2)
        # where the distance is not convex a step by the squared speed alone still goes down
        t = t - slope / np.maximum(np.where(whole > _FLAT * bend, whole, bend), np.finfo(np.float64).tiny)
    return _best(gram, images, np.stack([best, t], axis=2))  # Newton's method may also go astray


def _reach(gram: Floats) -> Floats:
    """How far in t to look for the nearest point of a row of norm 1 (m,).

    The origin is on every curve, so the nearest point is at most twice as far from it as the row; and θ(t) is at least
    |t| times as far from it as θ_1 is from the span of the other coefficients.
    """
    inverse = np.linalg.pinv(gram, hermitian=True)[:, 0, 0]
    return np.asarray(2.0 * np.sqrt(np.maximum(inverse, 0.0)))


def _products(theta: Floats, rows: Floats) -> tuple[Floats, Floats]:
    curves, width, order = theta.shape
    flat = theta.transpose(1, 0, 2).reshape(width, curves * order)
    return theta.transpose(0, 2, 1) @ theta, (rows @ flat).reshape(len(rows), curves, order)


def _form(left: Floats, gram: Floats, right: Floats) -> Floats:
    """leftᵀ G right for each row and curve; `left`, `right`: (n, m, c)."""
    return np.asarray(((left.swapaxes(0, 1) @ gram).swapaxes(0, 1) * right).sum(axis=2))


def _best(gram: Floats, images: Floats, grid: Floats) -> Floats:
    """Of the `grid` (n, m, g) of each row and curve the t with the least distance (n, m)."""
    steps = powers(grid, gram.shape[-1])  # (n, m, g, c)
    squares = ((steps @ gram - 2.0 * images[:, :, None]) * steps).sum(axis=3)
    return np.take_along_axis(grid, squares.argmin(axis=2)[..., None], axis=2)[..., 0]


def _arcs(gram: Floats, t: Floats) -> Floats:
    """Signed arc length from 0 to t (n, m): the integral of |θ'|."""
    return t * (_speeds(gram, t)[0] @ _SHARES)


def _speeds(gram: Floats, t: Floats) -> tuple[Floats, Floats]:
    """|θ'| at the nodes between 0 and t (n, m, g), and the derivatives of the powers there (n, m, g, c)."""
    steps = powers(t[..., None] * _NODES, gram.shape[-1], 1)
    squares = ((steps @ gram) * steps).sum(axis=3)
    return np.sqrt(np.maximum(squares, np.finfo(np.float64).tiny)), steps


def _arc_moments(gram: Floats, t: Floats, slope: Floats) -> Floats:
    """A (m, c, c) such that the derivative by θ of the arcs' sum weighed by `slope`, with their ends held, is θ A."""
    speeds, steps = _speeds(gram, t)
    weighed = ((slope * t)[..., None] * _SHARES / speeds)[..., None] * steps
    return _outer(weighed.swapaxes(0, 1), steps.swapaxes(0, 1))


def _end_moments(gram: Floats, images: Floats, t: Floats, slope: Floats) -> tuple[Floats, Floats]:
    """B (m, c, c) and C (n, m, c) such that the arcs' derivative by way of their ends is θ B + rowsᵀ C.

    From (θ(T) - x)ᵀ θ'(T) = 0: how T moves with θ is the derivative of that by θ over minus its derivative by T.
    """
    order = gram.shape[-1]
    zeroth, first, second = (powers(t, order, derivative) for derivative in range(3))
    bend = _form(first, gram, first)
    whole = bend + _form(second, gram, zeroth) - (second * images).sum(axis=2)
    steady = whole > _FLAT * bend
    rate = np.where(steady, -slope * np.sqrt(bend) / np.where(steady, whole, 1.0), 0.0)
    crossed = _outer((rate[..., None] * first).swapaxes(0, 1), zeroth.swapaxes(0, 1))
    return crossed + crossed.transpose(0, 2, 1), -rate[..., None] * first


def _outer(left: Floats, right: Floats) -> Floats:
    """Sum of outer products of each curve (m, c, c); `left`, `right`: (m, ..., c)."""
    curves, order = len(left), left.shape[-1]
    return np.asarray(left.reshape(curves, -1, order).transpose(0, 2, 1) @ right.reshape(curves, -1, order))
