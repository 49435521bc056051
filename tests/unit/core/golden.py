"""The golden snapshot: a learner in the middle of everything, as this version of the format writes it.

A released version stays readable: this file is written once per version of the format, never again after its
release. To write it anew while the version is not released yet, from the root of the project:

    .venv/bin/python -m tests.unit.core.golden
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.core.column_names import code_column
from eml.core.snapshot import VERSION
from tests.unit.core.helpers import World, space

FIXTURES = Path(__file__).parents[2] / "fixtures"
CONFIG = LearnerConfig(
    memory_size=36, rank=4, neighbours=3, batch=12, replay=8, pool=12, warm_up=24, catch_up=1, longest_rest=0
)
WORLD = World(features=9, classes=3, gap=0.8)
CLASSES = ("ash", 7, True)  # every kind of label


def snapshot_file(version: int) -> Path:
    """Where the golden snapshot of a version is."""
    return FIXTURES / f"learner-v{version}.emls"


def record_file(version: int) -> Path:
    """Where the predictions it must give are."""
    return FIXTURES / f"learner-v{version}.json"


def learner() -> EvolvingMetricLearner:
    """Two evolutions, two views, a T-stage under way, retired columns, a code, values missing and cut."""
    levels = tuple(code_column("f3", level) for level in (0, 1, 2))
    made = EvolvingMetricLearner(FeatureSpace(("f0", "f1", "f2", *levels, "f4")), CONFIG, seed=3)
    for seed, columns in ((1, (0, 1, 2, 3, 4)), (2, (2, 3, 4, 5, 6)), (3, (3, 4, 5, 6, 7, 8))):
        if seed > 1:
            aliases = {"f8": ("f8_raw",)} if seed == 3 else {}
            made.evolve(space(*columns, aliases=aliases))
        X, y = WORLD.draw(48 // seed, seed, columns)
        X[:, columns.index(3)] = X[:, columns.index(3)] % 3.0 // 1.0
        X[5, 1] = np.nan
        X[30 % len(X), 0] = 1e9
        made.learn(X, [CLASSES[c] for c in y])
    made.announce(FeatureSpace(("f5", "f6", "f7", "f8", "new"), {"new": ("former",)}))
    X, y = WORLD.draw(12, 4, (3, 4, 5, 6, 7, 8))
    X[:, 0] = X[:, 0] % 3.0 // 1.0
    made.learn(X, [CLASSES[c] for c in y])
    return made


def record(made: EvolvingMetricLearner) -> dict[str, Any]:
    """Samples, and what the learner says of them."""
    X, _ = WORLD.draw(12, 5, (3, 4, 5, 6, 7, 8))
    X = X.round(3)
    X[:6, 0] = X[:6, 0] % 3.0 // 1.0
    X[2, 3] = np.nan
    many = made.predict_many(X)
    return {
        "X": [[None if np.isnan(value) else value for value in row] for row in X.tolist()],
        "labels": many.labels,
        "scores": many.scores.round(9).tolist(),
        "explanation": {"stage": made.stage, "revision": made.explain().revision, "space": list(made.space.names)},
    }


def main() -> None:
    """Write both files."""
    made = learner()
    FIXTURES.mkdir(exist_ok=True)
    snapshot_file(VERSION).write_bytes(made.snapshot())
    record_file(VERSION).write_text(json.dumps(record(made), indent=1) + "\n")


if __name__ == "__main__":
    main()
