"""Results of the learner: predictions, evolutions, explanations. Plain values without behaviour."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from eml.core.arrays import Array
from eml.core.features import FeatureChange

Label = str | int | bool
Stage = Literal["initial", "steady", "transforming", "inheriting"]

NO_LABELS = "no labelled sample has been learnt yet"


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions for n samples."""

    labels: list[Label | None]  # None before the first label
    classes: tuple[Label, ...]
    scores: Array  # (n, C) probabilities
    margin: Array  # (n,) best score minus second best
    novelty: (
        Array  # (n,) distance to the nearest class, relative to the typical one: far above 1, unlike all that is known
    )
    fresh: list[Label | None] | None = (
        None  # what a cold restart at the last evolution would predict, while one is kept
    )

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction for one sample."""

    label: Label | None
    scores: Mapping[Label, float]
    margin: float
    novelty: float
    reason: str | None = None  # why there is no label


@dataclass(frozen=True, slots=True)
class Takeover:
    """How far the survivors account for a vanished feature."""

    share: float  # of its variance that survivors account for, 0 to 1
    by: str | None  # the survivor most correlated with it


@dataclass(frozen=True, slots=True)
class Evolution:
    """What happened when the feature space changed."""

    change: FeatureChange
    announced: bool  # the T-stage had run before the switch
    transform_steps: int
    warm: bool  # False: nothing survived, or nothing had been learnt: a cold start
    returned: tuple[str, ...]  # augmented features that were known before
    takeovers: Mapping[str, Takeover]  # by vanished feature


@dataclass(frozen=True, slots=True)
class ViewReport:
    """A view's weight in the prediction, and its recent accuracy."""

    weight: float  # the views' weights add up to one
    score: float | None  # prequential accuracy, recent batches counting more


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the learner predicts as it does."""

    stage: Stage
    revision: int  # batches learnt
    weights: Mapping[str, float]  # share of each feature in typical distances of the newest view
    linear_weights: Mapping[str, float]  # share of each feature in typical log odds of the linear view
    views: Mapping[str, ViewReport]
    evolution: Evolution | None  # the last one
    exemplars: Mapping[Label, int]
    steps_taken: int
    updates_refused: int  # non-finite or exploding: the last good metric was kept
    values_cut: int
    values_missing: int
