"""What the job must say, computed with the learner alone: one record at a time, no micro-batch, no state, no Flink."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig, Prediction

WINDOW = 32
SHARE = 4  # until then a window is this part of what its space has seen, one at least
WINDOW_MS = 60_000


@dataclass(frozen=True)
class Sample:
    """A record as a plain reading."""

    space: FeatureSpace
    values: list[float]
    label: str | None
    timestamp_ms: int


def predictions(samples: Iterable[Sample], config: LearnerConfig | None = None) -> Iterator[Prediction]:
    """Predict each record, then learn it in its window; spaces only ever move on."""
    learner: EvolvingMetricLearner | None = None
    window: list[Sample] = []

    def learn() -> None:
        if learner is not None and window:
            learner.learn([sample.values for sample in window], [str(sample.label) for sample in window])
            window.clear()

    for sample in samples:
        if learner is None:
            learner = EvolvingMetricLearner(sample.space, config)
        if window and sample.timestamp_ms - window[0].timestamp_ms >= WINDOW_MS:
            learn()
        if sample.space.names != learner.space.names:
            learn()
            learner.evolve(sample.space)
        yield learner.predict_one(sample.values)
        if sample.label is not None:
            window.append(sample)
            if len(window) >= min(WINDOW, max(1, learner.age // SHARE)):
                learn()
