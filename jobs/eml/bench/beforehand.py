"""Models made before a run, so that 100,000 keys need no hours of labels: each key begins with a copy.

Called by `stream` and `paced` for the job's `learning.first_model`, and by the peers' processes for theirs.
"""

import numpy as np

from eml.bench.load import NAMES, Load, name_of
from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.core.arrays import Array

FILL = 2  # labelled samples for each exemplar: then the memory is full


def samples(load: Load, count: int) -> tuple[Array, list[str]]:
    """Labelled samples of the load's classes, none of which is among its readings."""
    values, classes = load.draw(np.random.default_rng(load.seed + 2), count)
    return values, [name_of(number) for number in classes]


def snapshot(load: Load, exemplars: int) -> bytes:
    """A learner whose memory is full, as bytes."""
    learner = EvolvingMetricLearner(FeatureSpace(NAMES), LearnerConfig(memory_size=exemplars))
    learner.learn(*samples(load, FILL * exemplars))
    return learner.snapshot()
