"""OPIDe: OPID, and beside it the classifier of the survivors, in an ensemble.

Built by `methods`; extends `opid`. Reference: C. Hou, Z.-H. Zhou, "One-pass learning with incremental and decremental
features", IEEE TPAMI 2018. Its full text was not at hand; the readings:

- The two classifiers after a switch: OPID's expanded one, and one of the survived features only, which goes on
  learning: least squares over the rows of both stages.
- The ensemble is the weighted mean of their scores, each weighted by the inverse of its mean squared error on rows
  that it had not learnt yet. So the squared error of the ensemble is never above the larger one of the two.
- Before an evolution there is one classifier, and OPIDe is OPID.
"""

from collections.abc import Sequence

import numpy as np

from eml.core import FeatureSpace
from eml.evaluate.controls import Label
from eml.evaluate.datasets import Floats
from eml.evaluate.rivals.linear import Linear, Moments, ridge, selection, survivors
from eml.evaluate.rivals.opid import Opid

# Rows scored before they are learnt, at a time: in one batch the expanded classifier has learnt nothing before it.
_CHUNK = 16


class Opide(Opid):
    """OPID with a second opinion."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        super().__init__(space, seed, memory)
        self._survived: list[int] = []  # columns of the second classifier
        self._second = Moments(0)  # of their rows, in the stage before the switch and after it
        self._errors = np.zeros(2)  # sums of squared errors: expanded, survivors

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Score both classifiers on the batch, and teach it to both, a few rows at a time."""
        for start in range(0, len(rows), _CHUNK):
            some, targets = rows[start : start + _CHUNK], self._classes.indicators(labels[start : start + _CHUNK])
            if self._second.count:
                self._judge(some, targets)
                self._second.update(some[:, self._survived], targets)
            self._moments.update(some, targets)

    def evolve(self, space: FeatureSpace) -> None:
        """Compress; the second classifier starts with the moments of the survivors."""
        old, new = survivors(self._space, space)
        self._survived, self._second = new, self._moments.mapped(selection(old, len(self._space)))
        self._errors = np.zeros(2)
        super().evolve(space)

    def model(self) -> Linear | None:
        """The weighted mean of the two."""
        models = self.pair()
        if models is None:
            return super().model()
        first, second = models
        share = self.share()
        return Linear(
            share * first.weights + (1.0 - share) * second.weights,
            share * first.intercept + (1.0 - share) * second.intercept,
        )

    def pair(self) -> tuple[Linear, Linear] | None:
        """The expanded classifier and the survivors', both over the whole space; None where there are not two."""
        first = super().model()
        if first is None or not (self._survived and self._second.count):
            return None
        self._second.widen(len(self._classes))
        second = ridge(self._second, np.zeros_like(self._second.cross))
        weights = selection(self._survived, len(self._space)) @ second.weights
        return _wide(first, len(self._classes)), Linear(weights, second.intercept)

    def share(self) -> float:
        """Weight of the expanded classifier: 1/e₁ against 1/e₂, so e₂ / (e₁ + e₂); even before the first error."""
        total = float(self._errors.sum())
        return float(self._errors[1]) / total if total > 0 else 0.5

    def _judge(self, rows: Floats, targets: Floats) -> None:
        """Add up the errors of both on rows that they have not learnt.

        Scores are cut to where targets lie: a line that runs on to far rows would else be judged by a single one.
        """
        models = self.pair()
        if models is not None:
            self._errors += [((np.clip(model.scores(rows), 0.0, 1.0) - targets) ** 2).sum() for model in models]


def _wide(model: Linear, classes: int) -> Linear:
    """Give a model of fewer classes a score of 0 for those it does not know."""
    more = classes - len(model.intercept)
    return Linear(np.pad(model.weights, ((0, 0), (0, more))), np.pad(model.intercept, (0, more)))
