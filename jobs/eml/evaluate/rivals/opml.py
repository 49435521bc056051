"""OPML, one-pass metric learning in closed form.

W. Li, Y. Gao, L. Wang, L. Zhou, J. Huo, Y. Shi: "OPML: A One-Pass Closed-Form Solution for Online Metric Learning",
Pattern Recognition 75, 2018.

Built by `methods` through `metric_space`, which has the exemplars and says what happens at an evolution.

With each sample comes one triplet: the sample, the latest one of its class, and the latest one of another class. With
p and q its differences from these two, and where the triplet violates its margin, the metric's factor L becomes

    argmin  ½ ||L - L'||² + ½ γ (1 + ||L p||² - ||L q||²)  =  L' (I + γ (p pᵀ - q qᵀ))⁻¹

from the L' before. The inverse is of the identity and two outer products, so it costs O(d²).

Readings: the closed form is a minimiser as long as γ ||q||² < 1, which the reference ensures by samples of norm at
most 1 and γ < ¼; here samples are divided by the largest norm that has come so far, which is the same. Its γ is chosen
by cross-validation, for which a stream has no time: one value for all data. Where no other class has come yet there
is no triplet and nothing is learnt (the reference's COPML, for that case, is not what the EML paper compares with).
"""

from collections.abc import Sequence

import numpy as np

from eml.core import FeatureSpace
from eml.evaluate.controls import Label
from eml.evaluate.datasets import Floats
from eml.evaluate.rivals.metric_space import MetricMethod

STEP = 0.1  # γ: in the middle of what is allowed, (0, ¼)


class OnePassMetric:
    """The factor L (d, d) of the metric, and of each class the latest sample."""

    def __init__(self, width: int, _seed: int) -> None:
        self.factor = np.eye(width)
        self._latest: dict[Label, Floats] = {}  # the class that came last stands last
        self._reach = 0.0  # largest norm so far

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """One triplet with each row, where there is one."""
        for row, label in zip(rows, labels, strict=True):
            self._reach = max(self._reach, float(np.linalg.norm(row)))
            same = self._latest.pop(label, None)
            other = next(reversed(self._latest.values()), None)
            self._latest[label] = row
            if same is not None and other is not None and self._reach > 0:
                self.factor = updated(self.factor, (row - same) / self._reach, (row - other) / self._reach, STEP)

    def fit(self, rows: Floats, labels: Sequence[Label]) -> None:
        """One pass is all there is."""

    def embed(self, rows: Floats) -> Floats:
        """Return L x for each row x."""
        return rows @ self.factor.T

    def keep(self, columns: Sequence[int]) -> None:
        """Go on with these features: their columns of L."""
        self.factor = self.factor[:, list(columns)]
        self._latest = {label: row[list(columns)] for label, row in self._latest.items()}


def updated(factor: Floats, same: Floats, other: Floats, step: float) -> Floats:
    """L' (I + γ (p pᵀ - q qᵀ))⁻¹ by Woodbury's identity, or L' where the margin is kept; p is `same`, q `other`."""
    pair = np.stack([same, other], axis=1)  # (d, 2)
    images = factor @ pair
    near, far = (images**2).sum(axis=0)
    if 1.0 + near - far <= 0.0:
        return factor
    small = np.diag([1.0 / step, -1.0 / step]) + pair.T @ pair  # (2, 2)
    return np.asarray(factor - images @ np.linalg.solve(small, pair.T))


class Opml(MetricMethod):
    """OPML behind the harness's four calls."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        super().__init__(space, seed, memory, OnePassMetric)
