"""How the cost of one batch update grows with the number of features."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from tests.bench.measure import Comparison, in_turn, milliseconds
from tests.bench.streams import mixture, names_of

INFORMATIVE = 64  # the same for every width: the wider stream has more noise, not more to learn


def wide_against_narrow(
    wide: int = 4096, narrow: int = 256, repetitions: int = 15, config: LearnerConfig | None = None
) -> Comparison:
    """One piece learnt in the steady stage with a full memory, at two widths."""
    config = replace(config or LearnerConfig(), longest_rest=0)  # every measured piece takes its step, at both widths
    update = {str(d): _updates(d, config, repetitions + 1) for d in (wide, narrow)}
    took = in_turn(update, repetitions)
    return Comparison(
        f"learn {config.batch} records, d = {wide} against d = {narrow}: times as long",
        took[str(wide)] / took[str(narrow)],
        milliseconds(took[str(wide)], took[str(narrow)]),
        at_most=20.0,
    )


def _updates(d: int, config: LearnerConfig, count: int) -> Callable[[], None]:
    """A learner with a full memory; every call learns the next piece."""
    learner = EvolvingMetricLearner(FeatureSpace(names_of(d)), config, seed=1)
    first = config.memory_size + config.batch
    X, y = mixture(first + count * config.batch, d, min(INFORMATIVE, d), seed=2)
    learner.learn(X[:first], y[:first].tolist())
    if learner.stage != "steady" or sum(learner.explain().exemplars.values()) != config.memory_size:
        raise RuntimeError("the measured update must be one in the steady stage with a full memory")
    pieces: Iterator[int] = iter(range(first, len(X), config.batch))

    def update() -> None:
        start = next(pieces)
        learner.learn(X[start : start + config.batch], y[start : start + config.batch].tolist())

    return update
