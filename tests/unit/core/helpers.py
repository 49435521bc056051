"""Synthetic worlds that the tests of the core share: classes as clouds, features by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.core import EvolvingMetricLearner, FeatureSpace, Label, LearnerConfig
from eml.core.arrays import Array, Index

Values = NDArray[Any]

# Small enough that a batch takes a millisecond; every mechanism is on.
SMALL = LearnerConfig(
    memory_size=120, rank=8, neighbours=5, batch=32, replay=16, pool=64, warm_up=64, catch_up=3, retired_features=12
)

METRIC_ALONE = replace(SMALL, linear=False, fresh=False)  # the paper's method, without the views beside it


def space(*columns: int, aliases: Mapping[str, tuple[str, ...]] | None = None) -> FeatureSpace:
    """The space of some of a world's features, named f0, f1, ..."""
    return FeatureSpace(tuple(f"f{column}" for column in columns), aliases or {})


@dataclass(frozen=True)
class World:
    """Classes as Gaussian clouds of deviation 1 over features f0, f1, ...; the last `noise` of them tell nothing."""

    features: int = 12
    classes: int = 3
    gap: float = 1.5
    noise: int = 0
    seed: int = 1

    def draw(self, n: int, seed: int, columns: Sequence[int] | None = None) -> tuple[Array, list[int]]:
        """`n` labelled samples, all features or some."""
        centres = self.gap * np.random.default_rng(self.seed).normal(size=(self.classes, self.features))
        if self.noise:
            centres[:, -self.noise :] = 0.0
        random = np.random.default_rng(seed)
        y = random.integers(0, self.classes, n)
        X = centres[y] + random.normal(size=(n, self.features))
        return (X if columns is None else X[:, list(columns)]), y.tolist()


LETTER_FEATURES, LETTERS = 12, 5


def letters(count: int, seed: int, columns: Sequence[int] = range(8)) -> tuple[Array, list[int]]:
    """Codes 1 to 5: each of three classes likes two letters of every feature, next to each other or not."""
    world, random = np.random.default_rng(3), np.random.default_rng(seed)
    liked = world.random((3, LETTER_FEATURES, LETTERS)).argsort(axis=2)[:, :, :2]
    y = random.integers(0, 3, count)
    chosen = liked[y[:, None], np.arange(LETTER_FEATURES), random.integers(0, 2, (count, LETTER_FEATURES))]
    noise = random.integers(0, LETTERS, (count, LETTER_FEATURES))
    codes = 1.0 + np.where(random.random((count, LETTER_FEATURES)) < 0.6, chosen, noise)
    return codes[:, list(columns)], y.tolist()


def accuracy(learner: EvolvingMetricLearner, X: Array, y: Sequence[Label]) -> float:
    """Share of right predictions."""
    return float(np.mean([got == want for got, want in zip(learner.predict_many(X).labels, y, strict=True)]))


def taught(
    world: World, columns: Sequence[int], n: int = 256, config: LearnerConfig = SMALL, seed: int = 0
) -> EvolvingMetricLearner:
    """A learner of some of a world's features that has seen `n` samples."""
    learner = EvolvingMetricLearner(space(*columns), config, seed)
    learner.learn(*world.draw(n, 1000 + seed, columns))
    return learner


def one_nearest(Z: Array, y: Index) -> float:
    """Leave-one-out accuracy of the nearest neighbour."""
    D = ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    return float(np.mean(y[D.argmin(axis=1)] == y))
