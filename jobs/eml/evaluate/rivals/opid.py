"""OPID: one-pass least squares that compresses vanished features into survived ones, then expands to new ones.

Built by `methods`, and extended by `opide`. Reference: C. Hou, Z.-H. Zhou, "One-pass learning with incremental and
decremental features", IEEE TPAMI 2018 (arXiv 1605.09082). Its full text was not at hand; the readings:

- Compressing, until the switch: a classifier w of all features and one, v, of the survivors are fitted together,
  min ||X w - Y||² + ||X_s v - Y||² + α ||X w - X_s v||² + ρ (||w||² + ||v||²), one linear system in the scatter of all
  rows seen. (Without ρ the α term changes nothing: v is then the least-squares classifier of the survivors.)
- Expanding, after it: rows become [X_s v, X_a], the scores of the compressed classifier beside the new features, and a
  ridge regression is fitted to them, whose penalty draws it to the compressed classifier instead of to 0: with fewer
  rows than new features it would else forget what it inherits. Before the first new label that speaks alone.
- At the next evolution the stacked rows take the place of all features.
- ρ is chosen by generalised cross-validation from the same moments, for the reference's setting is not known.
- Several classes: one-vs-rest targets. Rows, and stacked rows, are standardised by the same running moments.
- The whole scatter is kept, so survivors need not be known before the switch: an announcement changes nothing.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import solve

from eml.core import FeatureSpace
from eml.evaluate.controls import Label
from eml.evaluate.datasets import Floats
from eml.evaluate.rivals.linear import Classes, Linear, Moments, chosen_penalty, ridge, selection, survivors

AGREEMENT = 1.0  # α: to agree with the classifier of all features counts as much as to be right


class Opid:
    """The stage's classifier, and the one that the former stage left behind."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        del seed, memory  # nothing is random, and no row is kept
        self._space = space
        self._classes = Classes()
        self._moments = Moments(len(space))
        self._inherited: Linear | None = None  # over all columns of the space, 0 for the new ones
        self._new = list(range(len(space)))  # columns that the inherited classifier does not know

    def announce(self, space: FeatureSpace) -> None:
        """Nothing to prepare: the scatter holds what any survivors will need."""

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Take the batch into the moments."""
        if len(rows):
            self._moments.update(rows, self._classes.indicators(labels))

    def evolve(self, space: FeatureSpace) -> None:
        """Compress what was learnt into the survivors, and begin to expand."""
        old, new = survivors(self._space, space)
        place = selection(new, len(space))  # (new features, survived)
        self._inherited = self._carried(old, place) if old else None
        self._space, self._moments = space, Moments(len(space), len(self._classes))
        self._new = [column for column in range(len(space)) if self._inherited is None or column not in set(new)]

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return the class of the largest score, None where there is no classifier yet."""
        model = self.model()
        return [None] * len(rows) if model is None else self._classes.best(model.scores(rows))

    def model(self) -> Linear | None:
        """The classifier of the current space: expanded, or inherited as long as the space has no labels."""
        if not self._moments.count:
            return self._inherited
        self._moments.widen(len(self._classes))
        stack = self._stack()
        start = np.zeros((stack.shape[1], len(self._classes)))
        inherited = stack.shape[1] - len(self._new)  # its scores come first, one for each class it knew
        start[:inherited, :inherited] = np.eye(inherited)
        stacked = ridge(self._moments.mapped(stack), start)
        return Linear(stack @ stacked.weights, stacked.intercept)

    def _stack(self) -> Floats:
        """The matrix that makes stacked rows [X_s v, X_a] of raw ones; the scores' constant is left to the means."""
        new = selection(self._new, len(self._space))
        return new if self._inherited is None else np.hstack([self._inherited.weights, new])

    def _carried(self, old: list[int], place: Floats) -> Linear | None:
        """The classifier of the survivors alone, laid out over the new space's columns."""
        if not self._moments.count:
            return None if self._inherited is None else _placed(self._inherited, old, place)
        return _placed(compress(self._moments, self._stack(), old), range(len(old)), place)


def compress(moments: Moments, stack: Floats, survived: Sequence[int]) -> Linear:
    """The classifier v of the survivors from the joint system, over their columns in the order of `survived`.

    [(1+α) A_ww + ρI, -α A_ws; -α A_sw, (1+α) A_ss + ρI] [w; v] = [b_w; b_s], with A and b the scatter of stacked rows
    and survivors with each other and with the targets, all standardised.
    """
    survivor = selection(survived, len(moments.mean))
    both = moments.mapped(np.hstack([stack, survivor]))
    deviation = both.deviation()
    gram = both.scatter / np.outer(deviation, deviation)
    width = stack.shape[1]
    of_all = np.arange(len(deviation)) < width
    same = of_all[:, None] == of_all[None, :]
    weighed = np.where(same, 1.0 + AGREEMENT, -AGREEMENT) * gram
    few = moments.mapped(survivor)
    weighed += chosen_penalty(few) * np.eye(len(deviation))
    joint = solve(weighed, both.cross / deviation[:, None], assume_a="pos") / deviation[:, None]
    return few.through_means(joint[width:])


def _placed(model: Linear, columns: Sequence[int], place: Floats) -> Linear:
    """Move a model's `columns` to their places in another space."""
    return Linear(place @ model.weights[list(columns)], model.intercept)
