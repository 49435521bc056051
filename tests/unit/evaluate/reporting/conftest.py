"""Kept trials that were never run: figures of a seeded generator, so that nothing in a report can be known before."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from eml.evaluate.kept_trials.store import Line

Draw = Callable[..., list[Line]]


def kept(scenario: str, dataset: str, method: str, seed: int, outcome: dict[str, Any], **more: Any) -> Line:
    """A line as a scenario keeps it."""
    trial = {"scenario": scenario, "dataset": dataset, "seed": seed, "method": method, "memory": 64, **more}
    return Line(trial, {"sources": "abc"}, outcome, 1.0)


@pytest.fixture
def draw() -> Draw:
    """One-shot trials: `means` by method, the same noise for every method of a seed and some of its own."""

    def make(
        means: dict[str, float],
        seeds: int = 8,
        cells: tuple[tuple[str, int], ...] = (("Satimage", 60),),
        noise: int = 0,
    ) -> list[Line]:
        random = np.random.default_rng(noise)
        return [
            kept(
                "one-shot",
                dataset,
                method,
                seed,
                {"accuracy": mean + random.normal(), "by_stage": {"2": 0.0}, "seconds": 1.0 + random.random()},
                batch=batch,
            )
            for dataset, batch in cells
            for seed in range(seeds)
            for method, mean in means.items()
        ]

    return make


def stream_line(dataset: str, method: str, seed: int, level: float, switches: int = 2) -> Line:
    """A stream trial whose curve climbs from `level` by one point a tenth in every stage."""
    curve = [[level + tenth for tenth in range(10)] for _ in range(switches + 1)]
    figures = {"early": level + 0.5, "after": level + 4.5, "balanced": level + 4.0, "before": level + 4.5}
    outcome = {**figures, "right": [1] * (switches + 1), "curve": curve, "seconds": 0.5}
    plan = {"switches": switches, "total": None, "labelled": 1.0, "notice": 0.25}
    return kept("stream", dataset, method, seed, outcome, **plan)
