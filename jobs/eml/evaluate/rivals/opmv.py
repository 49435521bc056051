"""OPMV, one-pass multi-view learning.

Y. Zhu, W. Gao, Z.-H. Zhou: "One-Pass Multi-View Learning", Asian Conference on Machine Learning, 2015.

Built by `methods`; keeps no sample at all. Its update was not to be had in full, only that the views' objectives are
met jointly in one pass under linear constraints of consistency; what follows is the plain reading of that.

Two views of a sample have a linear classifier each, u and v, learnt in one pass under the constraint that they agree
on every sample: uᵀx = vᵀz. Each sample's composite objective is met by the method of multipliers, a step of u, a step
of v, a step of the multiplier α:

    u = argmin  ½ (uᵀx - y)² + α (uᵀx - vᵀz) + ½ ρ (uᵀx - vᵀz)² + ½ λ ||u||² + ½ κ ||u - u'||²,   v likewise,
    α = α' + ρ (uᵀx - vᵀz)

The EML paper "regards the features in T-stage and I-stage as the first and second views".

Readings: a sample has of the other stage's view only what survives, and the mean where a feature is missing; so v
learns in the T-stage, with the survivors, to say what u says with all features, and u goes on in the I-stage. Where
the switch is not announced v begins at it, with u's weights of the survivors. Squared loss, one classifier per class
and view against the rest, the sum of both views decides. Every sample has a constraint of its own and is seen once,
so its multiplier starts at zero, and a few rounds of the three steps meet it. κ = √t at the t-th sample, also after a
switch, lest the first new samples undo what all before them taught. Further evolutions: of each two neighbouring stages
the earlier is the first view.
"""

from collections.abc import Sequence

import numpy as np

from eml.core import FeatureSpace
from eml.evaluate.controls import Label
from eml.evaluate.datasets import Floats
from eml.evaluate.rivals.linear import Classes, RunningStandard, survivors

AGREEMENT = 1.0  # ρ: the constraint weighs as much as the loss
RIDGE = 1e-3  # λ
ROUNDS = 3  # of the three steps with each sample


class View:
    """One feature space's classifiers: weights (classes, features + 1), the last for the constant."""

    def __init__(self, space: FeatureSpace, classes: int) -> None:
        self.space = space
        self.weights = np.zeros((classes, len(space) + 1))

    def inherit(self, other: "View") -> None:
        """Begin with the other view's weights of the features both have."""
        theirs, mine = shared(other.space, self.space)
        self.weights[:, mine] = other.weights[:, theirs]
        self.weights[:, -1] = other.weights[:, -1]

    def rows(self, rows: Floats, space: FeatureSpace) -> Floats:
        """Standardised rows of `space` as this view has them: 0, the mean, where a feature is missing.

        Divided by the root of the number of features, so that a sample's size, and with it a step's, is about 1.
        """
        theirs, mine = shared(space, self.space)
        seen = np.zeros((len(rows), len(self.space) + 1))
        seen[:, mine] = rows[:, theirs]
        seen[:, -1] = 1.0
        return np.asarray(seen / np.sqrt(seen.shape[1]))


def shared(left: FeatureSpace, right: FeatureSpace) -> tuple[list[int], list[int]]:
    """Columns in both spaces of the features they share; either may be the newer one."""
    forth, back = survivors(left, right), survivors(right, left)
    return forth if len(forth[0]) >= len(back[0]) else (back[1], back[0])  # only the newer one knows former names


def stepped(weights: Floats, row: Floats, goal: Floats, pull: float, inertia: float) -> Floats:
    """Minimiser of ½ pull (wᵀx)² - goal wᵀx + ½ λ ||w||² + ½ κ ||w - w'||² for each class; κ is `inertia`.

    It lies in the span of w' and x, so that only its product with x has to be solved for.
    """
    size = float(row @ row)
    score = (inertia * (weights @ row) + goal * size) / (inertia + RIDGE + pull * size)
    return np.asarray((inertia * weights + np.outer(goal - pull * score, row)) / (inertia + RIDGE))


class Opmv:
    """OPMV behind the harness's four calls; `agreement`: ρ, 0 for two views that know nothing of each other."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int, *, agreement: float = AGREEMENT) -> None:
        del seed, memory  # nothing is drawn, and no sample is kept
        self._agreement = agreement
        self._space: FeatureSpace
        self._scale: RunningStandard
        self._classes: Classes
        self._count: int  # samples so far: steps become smaller with it
        self.views: list[View]
        self._begin(space)

    def announce(self, space: FeatureSpace) -> None:
        """From now on the current features are the first view, and those of `space` the second."""
        current = self._view(self._space)
        if any(view.space == space for view in self.views) or not shared(self._space, space)[0]:
            return
        coming = View(space, len(self._classes))
        coming.inherit(current)
        self.views = [current, coming]

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """One pass over the batch."""
        if not len(rows):
            return
        self._scale.update(rows)
        targets = 2.0 * self._classes.indicators(labels) - 1.0  # one class against the rest: 1 and -1
        self._meet()
        seen = [view.rows(self._scale.apply(rows), self._space) for view in self.views]
        for *views, target in zip(*seen, targets, strict=True):
            self._count += 1
            self._step(views, target)

    def evolve(self, space: FeatureSpace) -> None:
        """Go over to the second view; where nothing survives, begin anew."""
        old, new = shared(self._space, space)
        if not old:
            self._begin(space)
            return
        self.announce(space)
        self._scale.move(old, new, len(space))
        self._space = space

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return the class with the largest sum of scores, None before any label."""
        if not len(self._classes):
            return [None] * len(rows)
        return self._classes.best(np.sum(self.scores(rows), axis=0))

    def scores(self, rows: Floats) -> list[Floats]:
        """Each view's scores (rows, classes)."""
        standard = self._scale.apply(rows)
        return [view.rows(standard, self._space) @ view.weights.T for view in self.views]

    def _begin(self, space: FeatureSpace) -> None:
        self._space = space
        self._scale = RunningStandard(len(space))
        self._classes = Classes()
        self._count = 0
        self.views = [View(space, 0)]

    def _view(self, space: FeatureSpace) -> View:
        return next(view for view in self.views if view.space == space)

    def _meet(self) -> None:
        """Give classes that came for the first time their row of weights in every view."""
        for view in self.views:
            missing = len(self._classes) - len(view.weights)
            view.weights = np.vstack([view.weights, np.zeros((missing, view.weights.shape[1]))])

    def _step(self, rows: list[Floats], target: Floats) -> None:
        """The three steps, a few times; with one view only its loss."""
        inertia = float(np.sqrt(self._count))
        starts = [view.weights for view in self.views]
        if len(self.views) == 1:
            self.views[0].weights = stepped(starts[0], rows[0], target, 1.0, inertia)
            return
        first, second = self.views
        multiplier = np.zeros_like(target)
        pull = 1.0 + self._agreement
        for _ in range(ROUNDS):
            there = second.weights @ rows[1]
            first.weights = stepped(starts[0], rows[0], target - multiplier + self._agreement * there, pull, inertia)
            here = first.weights @ rows[0]
            second.weights = stepped(starts[1], rows[1], target + multiplier + self._agreement * here, pull, inertia)
            multiplier = multiplier + self._agreement * (here - second.weights @ rows[1])
