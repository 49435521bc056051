r"""Smoothed Wasserstein distances for all pairs of signatures of a batch at once.

Called by `stages` with the costs of many small pairs; calls POT for the hard ones. It knows costs and plans,
not features or classes.

For a pair with costs $D \in R^{m \times n}$ and uniform weights the smoothed distance is (paper, Eq. 2)

$$ W_\sigma = \min_{F \in U(\mu, \nu)} \langle D, F \rangle - \sigma h(F), \quad h(F) = -\langle F, \log F \rangle $$

so the value is $\langle D,F\rangle + \sigma\langle F,\log F\rangle$. POT's `sinkhorn2` returns only
$\langle D,F\rangle$; here both are given and named apart.

References
----------
[1] Cuturi, Sinkhorn distances: lightspeed computation of optimal transport, NIPS 2013.
[2] Rolet, Cuturi, Peyre, Fast dictionary learning with a smoothed Wasserstein loss, AISTATS 2016.
"""

from dataclasses import dataclass

import numpy as np
import ot

from eml.core.arrays import Array

MAX_ITERATIONS = 21  # small local pairs are near enough by then
LOOKED_AT = 10  # iterations between two looks at the error
TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class Plans:
    """The transport plans of B pairs and what they cost."""

    F: Array  # (B, m, n)
    linear: Array  # (B,) <D, F>
    value: Array  # (B,) <D, F> + sigma <F, log F>: the smoothed distance as the paper defines it

    def part(self, start: int, end: int) -> "Plans":
        """The plans of pairs `start` to `end`."""
        return Plans(self.F[start:end], self.linear[start:end], self.value[start:end])


def solve(D: Array, sigma: float, iterations: int = MAX_ITERATIONS) -> Plans:
    """Smoothed Wasserstein plans of B cost matrices `D` (B, m, n); `sigma` is relative to their mean.

    Plain Sinkhorn first: it is several times faster. Where it underflows (one cost far above the
    mean, see tests/unit/core/test_transport.py) those pairs alone are solved in the log domain.
    """
    unit = float(D.mean())
    if not unit > 0.0:  # all samples coincide: every plan is optimal, the uniform one has most entropy
        return uniform(D)
    cost = (D - D.min(axis=(1, 2), keepdims=True)) / unit  # a constant moves no plan but saves from underflow
    F = _scaled(cost, sigma, iterations)
    bad = ~np.isfinite(F).all(axis=(1, 2))
    if bad.any():
        F[bad] = _in_log_domain(cost[bad], sigma, iterations)
    return _plans(D, F, sigma * unit)


def uniform(D: Array) -> Plans:
    """Plain mean distances: every sample of one signature against every sample of the other.

    The control for the ablation without Wasserstein.
    """
    return _plans(D, np.full(D.shape, 1.0 / (D.shape[1] * D.shape[2])), 0.0)


def _scaled(cost: Array, sigma: float, iterations: int) -> Array:
    """Plans by plain scaling; not finite where it underflows.

    The same as POT's `solve_batch`, with the pairs in the last axis: several times faster for small pairs.
    """
    K = np.exp(np.ascontiguousarray(cost.transpose(1, 2, 0)) / -sigma)  # (m, n, B)
    m, n, _ = K.shape
    f, g = np.ones(K.shape[::2]), np.ones(K.shape[1:])
    with np.errstate(all="ignore"):  # underflow is expected and looked for by the caller
        for i in range(iterations):
            f = 1.0 / m / (K * g).sum(axis=1)
            g = 1.0 / n / (K * f[:, None]).sum(axis=0)
            if i % LOOKED_AT == 0:
                error = np.square(f * (K * g).sum(axis=1) - 1.0 / m).sum(axis=0).max()
                if error < TOLERANCE**2:
                    break
        return np.ascontiguousarray((K * f[:, None] * g).transpose(2, 0, 1))


def _in_log_domain(cost: Array, sigma: float, iterations: int) -> Array:
    result = ot.solve_batch(cost, reg=sigma, method="log_sinkhorn", max_iter=iterations, tol=TOLERANCE, grad="detach")
    return np.asarray(result.plan)


def _plans(D: Array, F: Array, sigma: float) -> Plans:
    linear = np.einsum("bij,bij->b", D, F)
    entropy = -np.einsum("bij,bij->b", F, np.log(np.maximum(F, 1e-300)))
    return Plans(F, linear, linear - sigma * entropy)
