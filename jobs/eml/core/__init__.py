"""The learner, pure: numpy, scipy, POT and numba; nothing of Kafka, Flink or files."""

from eml.core.later import import_later

import_later("ot")  # before what follows imports it

from eml.core.config import LearnerConfig  # noqa: E402
from eml.core.errors import EmlError, FeatureError, SnapshotDamagedError, SnapshotError, SnapshotVersionError  # noqa: E402
from eml.core.features import FeatureChange, FeatureSpace  # noqa: E402
from eml.core.learner import EvolvingMetricLearner  # noqa: E402
from eml.core.report import Evolution, Explanation, Label, Prediction, Predictions, Stage, Takeover, ViewReport  # noqa: E402

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
