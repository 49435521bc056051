"""What missing values cost a prediction and an update, and a small window learnt beside River."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from eml.core import LearnerConfig
from tests.bench.measure import Comparison, in_turn, milliseconds
from tests.bench.streams import Array, mixture, names_of
from tests.bench.throughput import one_versus_rest
from tests.bench.width import full, updates

NULLS = 0.1  # of all values
WINDOW = 32  # labels
ONE_BY_ONE = 32  # records of a measured call


def with_holes(X: Array, share: float = NULLS) -> Array:
    """The samples with a share of their values gone, in a pattern of its own for every sample."""
    X = X.copy()
    X[np.random.default_rng(5).random(X.shape) < share] = np.nan
    return X


def predictions_with_nulls(
    d: int = 64, batches: Sequence[int] = (64, 143), repetitions: int = 51, config: LearnerConfig | None = None
) -> list[Comparison]:
    """Predictions with nulls against complete ones, one by one and in batches; full memory."""
    learner, _ = full(d, config or LearnerConfig(), 0)
    X, _ = mixture(max(*batches, ONE_BY_ONE), d, d // 2, seed=6)
    holes = with_holes(X)

    def one_by_one(rows: Array) -> None:
        for row in rows:
            learner.predict_one(row)

    calls: list[tuple[str, Callable[[Array], object], int]] = [("one by one", one_by_one, ONE_BY_ONE)]
    calls += [(f"in batches of {size}", learner.predict_many, size) for size in batches]
    return [
        _against_complete(f"predict {how}, d = {d}", call, X[:size], holes[:size], repetitions)
        for how, call, size in calls
    ]


def _against_complete(what: str, call: Callable[[Array], object], X: Array, holes: Array, rounds: int) -> Comparison:
    """The fastest calls of each: of a millisecond, the median on a busy machine tells of the others on it."""
    took = in_turn({"nulls": lambda: call(holes), "complete": lambda: call(X)}, rounds, warm_up=3, of=min)
    return Comparison(
        f"{what}, {NULLS:.0%} nulls against none: times as long",
        took["nulls"] / took["complete"],
        milliseconds(took["nulls"], took["complete"]),
        at_most=2.0,
    )


def window_against_river(d: int = 64, repetitions: int = 25, config: LearnerConfig | None = None) -> list[Comparison]:
    """A window of labels learnt with a full memory and a step in each, with and without nulls, beside River."""
    config = replace(config or LearnerConfig(), batch=WINDOW, longest_rest=0)
    X, y = mixture(WINDOW, d, d // 2, seed=7)
    records = [dict(zip(names_of(d), row, strict=True)) for row in X.tolist()]
    model = one_versus_rest()

    def river() -> None:
        for x, label in zip(records, y.tolist(), strict=True):
            model.learn_one(x, label)

    rivals = {
        "EML": updates(d, config, repetitions + 1),
        "nulls": updates(d, config, repetitions + 1, with_holes),
        "River": river,
    }
    took = in_turn(rivals, repetitions)
    return [
        Comparison(
            f"learn {WINDOW} records, d = {d}, against River's logistic regression: times as long",
            took["EML"] / took["River"],
            milliseconds(took["EML"], took["River"]),
        ),
        Comparison(
            f"learn {WINDOW} records, d = {d}, {NULLS:.0%} nulls against none: times as long",
            took["nulls"] / took["EML"],
            milliseconds(took["nulls"], took["EML"]),
            at_most=2.0,
        ),
    ]
