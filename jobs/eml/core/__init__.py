"""The learner, pure: numpy, scipy, POT and numba; nothing of Kafka, Flink or files."""

from eml.core.config import LearnerConfig
from eml.core.errors import EmlError, FeatureError, SnapshotDamagedError, SnapshotError, SnapshotVersionError
from eml.core.features import FeatureChange, FeatureSpace
from eml.core.learner import EvolvingMetricLearner
from eml.core.report import Evolution, Explanation, Label, Prediction, Predictions, Stage, Takeover, ViewReport

__all__ = [
    "EmlError",
    "Evolution",
    "EvolvingMetricLearner",
    "Explanation",
    "FeatureChange",
    "FeatureError",
    "FeatureSpace",
    "Label",
    "LearnerConfig",
    "Prediction",
    "Predictions",
    "SnapshotDamagedError",
    "SnapshotError",
    "SnapshotVersionError",
    "Stage",
    "Takeover",
    "ViewReport",
]
