"""FIRF: the old stage's forest over the survivors, and beside it trees with the new features, joined by their votes.

Built by `methods`; grows scikit-learn's forests on what `two_stages` remembers. Reference:
C. Hu, Y. Chen, X. Peng, H. Yu, C. Gao, L. Hu, "A novel feature incremental learning method for sensor-based activity
recognition", IEEE TKDE 2018. Only its abstract was at hand (a diversity strategy by mutual information, and trees that
grow on with new features), so this is the plain reading of a feature incremental forest:

- The forest of the old stage is grown over the survivors, on remembered rows, and kept.
- Trees over the features of the new space are grown on the rows of the new stage, again as these become more. Random
  features at every split are what makes trees differ; mutual information is not used.
- Votes are joined with the weights of SAMME (log-odds of being right): the old forest's from the new stage's rows,
  which it has not seen, the new one's from those rows of a tree's own that it was not grown on (out of bag).
- Forests take several classes and any scale as they are: neither one-vs-rest nor standardising.
"""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from eml.core import FeatureSpace
from eml.evaluate.controls import Exemplars, Label
from eml.evaluate.datasets import Floats
from eml.evaluate.errors import EvaluationError
from eml.evaluate.rivals.linear import Classes, survivors
from eml.evaluate.rivals.two_stages import TwoStages

_TREES = 100  # scikit-learn's own default
_FEWEST = 20  # rows of the new stage below which their score says too little: the old forest speaks alone


class Firf:
    """Two forests, and the bounded memories they are grown on."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        self._grow = _forests()
        self._seed = seed
        self._space = space
        self._survived: list[int] = []  # columns that the old forest sees
        self._classes = Classes()
        self._stages = TwoStages(memory, seed)
        self._old: Any = None
        self._new: Any = None
        self._grown = False  # whether the new forest knows all rows of its stage

    def announce(self, space: FeatureSpace) -> None:
        """Nothing to prepare."""

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Remember the batch as one of the current stage."""
        self._stages.add(rows, self._classes.numbers(labels))
        self._grown = self._grown and not len(rows)

    def evolve(self, space: FeatureSpace) -> None:
        """Grow the old forest over the survivors; the new stage begins without rows."""
        old, new = survivors(self._space, space)
        self._stages.move(old, new, len(space))
        self._space, self._survived = space, new
        self._old, self._new, self._grown = self._forest(self._stages.source, new), None, True

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return the class with most of the weighed votes, None where there is no tree yet."""
        if not self._grown:
            self._new, self._grown = self._forest(self._stages.target, range(len(self._space))), True
        if self._old is None and self._new is None:
            return [None] * len(rows)
        weights = self.weights()
        votes = weights[0] * self._votes(self._old, rows[:, self._survived]) + weights[1] * self._votes(self._new, rows)
        return self._classes.best(votes)

    def weights(self) -> tuple[float, float]:
        """Weights of the old and of the new forest."""
        if self._old is None or self._new is None:
            return float(self._old is not None), float(self._new is not None)
        rows, numbers = self._stages.target.arrays()
        if len(numbers) < _FEWEST:
            return 1.0, 0.0
        unseen = float(np.mean(self._old.predict(rows[:, self._survived]) == numbers))
        old, new = (_log_odds(right, len(numbers), len(self._classes)) for right in (unseen, self._new.oob_score_))
        return (old, new) if max(old, new) > 0 else (1.0, 1.0)  # neither knows more than chance: evenly

    def _forest(self, exemplars: Exemplars, columns: Sequence[int]) -> Any:  # noqa: ANN401 (a class of scikit-learn)
        """A forest over `columns` of the exemplars, None without any."""
        rows, numbers = exemplars.arrays()
        if not (numbers and columns):
            return None
        scored = len(numbers) >= _FEWEST
        forest = self._grow(n_estimators=_TREES, oob_score=scored, random_state=self._seed, n_jobs=1)
        return forest.fit(rows[:, list(columns)], numbers)

    def _votes(self, forest: Any, rows: Floats) -> Floats:  # noqa: ANN401 (a class of scikit-learn)
        """Mean votes of a forest's trees, 0 for the classes it does not know: (rows, classes)."""
        votes = np.zeros((len(rows), len(self._classes)))
        if forest is not None:
            votes[:, forest.classes_] = forest.predict_proba(rows)
        return votes


def _forests() -> Any:  # noqa: ANN401 (a class of scikit-learn)
    """scikit-learn's random forest, or say where it is."""
    try:
        return importlib.import_module("sklearn.ensemble").RandomForestClassifier
    except ModuleNotFoundError as error:
        raise EvaluationError(
            "FIRF grows scikit-learn's forests, and scikit-learn is not installed: install eml with its extra, "
            "eml[evaluate]"
        ) from error


def _log_odds(right: float, count: int, classes: int) -> float:
    """SAMME's weight of a voter: log(right / wrong) + log(classes - 1), never negative; smoothed, so never infinite."""
    hits = right * count + 1.0
    return max(0.0, float(np.log(hits / (count + 2.0 - hits) * max(1, classes - 1))))
