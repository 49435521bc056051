"""How the cost of one batch update grows with the number of features, and what a switch costs beside it."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from tests.bench.measure import Comparison, in_turn, milliseconds
from tests.bench.streams import Array, Index, mixture, names_of

INFORMATIVE = 64  # the same for every width: the wider stream has more noise, not more to learn


def wide_against_narrow(
    wide: int = 4096, narrow: int = 256, repetitions: int = 15, config: LearnerConfig | None = None
) -> Comparison:
    """One piece learnt in the steady stage with a full memory, at two widths."""
    config = replace(config or LearnerConfig(), longest_rest=0)  # every measured piece takes its step, at both widths
    update = {str(d): updates(d, config, repetitions + 1) for d in (wide, narrow)}
    took = in_turn(update, repetitions)
    return Comparison(
        f"learn {config.batch} records, d = {wide} against d = {narrow}: times as long",
        took[str(wide)] / took[str(narrow)],
        milliseconds(took[str(wide)], took[str(narrow)]),
        at_most=20.0,
    )


def switch_against_update(d: int = 256, repetitions: int = 9, config: LearnerConfig | None = None) -> Comparison:
    """An evolution that nobody announced, half of the features swapped, beside one piece learnt; full memory."""
    config = replace(config or LearnerConfig(), longest_rest=0)
    learner, _ = full(d, config, 0)
    kept, names = learner.snapshot(), names_of(d + d // 2)
    switched = FeatureSpace(names[d // 2 :])
    learners = iter([EvolvingMetricLearner.restore(kept) for _ in range(repetitions + 1)])
    rivals = {"switch": lambda: next(learners).evolve(switched), "update": updates(d, config, repetitions + 1)}
    took = in_turn(rivals, repetitions)
    return Comparison(
        f"unannounced switch against learning {config.batch} records, d = {d}: times as long",
        took["switch"] / took["update"],
        milliseconds(took["switch"], took["update"]),
        at_most=20.0,
    )


def updates(
    d: int, config: LearnerConfig, count: int, changed: Callable[[Array], Array] = lambda X: X
) -> Callable[[], None]:
    """A learner with a full memory; every call learns the next piece, of samples that may be `changed` before."""
    learner, (X, y) = full(d, config, count)
    X = changed(X)
    first = len(X) - count * config.batch
    pieces: Iterator[int] = iter(range(first, len(X), config.batch))

    def update() -> None:
        start = next(pieces)
        learner.learn(X[start : start + config.batch], y[start : start + config.batch].tolist())

    return update


def full(d: int, config: LearnerConfig, pieces: int) -> tuple[EvolvingMetricLearner, tuple[Array, Index]]:
    """A learner in the steady stage with a full memory, and a stream of which `pieces` are left to learn."""
    learner = EvolvingMetricLearner(FeatureSpace(names_of(d)), config, seed=1)
    first = config.memory_size + config.batch
    X, y = mixture(first + pieces * config.batch, d, min(INFORMATIVE, d), seed=2)
    learner.learn(X[:first], y[:first].tolist())
    if learner.stage != "steady" or sum(learner.explain().exemplars.values()) != config.memory_size:
        raise RuntimeError("the measured update must be one in the steady stage with a full memory")
    return learner, (X, y)
