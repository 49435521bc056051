"""What a user of the learner alone does, run by `tests/install/check` with nothing but `eml[river]` installed."""

import numpy as np
from numpy.typing import NDArray

from eml import schemas
from eml.core import EvolvingMetricLearner, FeatureSpace
from eml.river import EMLClassifier


def main() -> None:
    """Learn, evolve, restore; the same learner in River; the schemas in the wheel."""
    rng = np.random.default_rng(0)
    old, new = FeatureSpace(("a", "b", "c")), FeatureSpace(("a", "b", "d"))
    learner = EvolvingMetricLearner(old, seed=0)
    first, then = rng.normal(size=(400, 3)), rng.normal(size=(400, 3))
    learner.learn(first[:200], np.where(first[:200, 0] > 0, "high", "low").tolist())
    before = accuracy(learner, first[200:])
    assert before > 0.8, before
    learner.evolve(new)
    learner.learn(then[:200], np.where(then[:200, 0] > 0, "high", "low").tolist())
    after = accuracy(learner, then[200:])
    assert after > 0.8, after
    restored = EvolvingMetricLearner.restore(learner.snapshot())
    assert list(restored.predict_many(then).labels) == list(learner.predict_many(then).labels)
    in_river = EMLClassifier()
    for row in first[:100]:
        in_river.learn_one({"a": row[0], "b": row[1]}, bool(row[0] > 0))
    assert in_river.predict_one({"a": 3.0, "c": 1.0}) is True
    assert '"Reading"' in schemas.text("readings/v1")


def accuracy(learner: EvolvingMetricLearner, samples: NDArray[np.float64]) -> float:
    """Share of right answers to `a > 0`."""
    said = np.asarray(learner.predict_many(samples).labels)
    return float(np.mean(said == np.where(samples[:, 0] > 0, "high", "low")))


if __name__ == "__main__":
    main()
