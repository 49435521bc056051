"""A step of the metric with a batch of labelled samples, and when the next one is due.

Called by `learning` with every batch; `transforming` makes the step. Steps are what costs most, so a metric that has
settled makes fewer of them.
"""

import numpy as np

from eml.core import transforming
from eml.core.arrays import Array, Index
from eml.core.config import LearnerConfig
from eml.core.fitting import Fitter
from eml.core.new_metric import trusted
from eml.core.state import State

STEP_AFTER = 8  # least number of labelled samples between two steps, however small the batches
MATURE = 16  # batches of a space after which only every second one makes a step
LEAST_POOL = 320  # exemplars to draw triplets from, if there are few classes


def is_due(state: State, labels: int) -> bool:
    """Whether to make a step with this batch: enough labels have come, and no pause is running."""
    state.unstepped += labels
    if state.unstepped < STEP_AFTER:
        return False
    state.unstepped = 0
    if state.resting:
        state.resting -= 1
        return False
    return True


def take(state: State, config: LearnerConfig, X: Array, y: Index, rows: Index, fitter: Fitter) -> None:
    """One step, with exemplars beside the samples, which are the memory's `rows`; a T-stage step if it runs."""
    newest = state.newest
    if newest is None or not 0 < len(newest.columns) == len(state.space) or len(state.classes) < 2:
        return
    wanted = 2 * config.replay + max(LEAST_POOL, config.pool * len(state.classes))
    others = np.setdiff1d(state.memory.sample(wanted + len(y), state.rng, trusted(state)), rows)
    others = state.rng.permutation(others)[:wanted]
    transforming.step(
        state,
        np.concatenate([X, state.memory.samples(others, newest.columns)]),
        np.concatenate([y, state.memory.y[others]]),
        len(y) + 2 * config.replay,
        fitter,
        transform=config.transform,
    )
    _plan_next(state, config, stepped=fitter.taken > 0)


def _plan_next(state: State, config: LearnerConfig, *, stepped: bool) -> None:
    """A step with every batch at first, fewer later; pauses double while no step is taken."""
    usual = min(int(np.log2(1 + state.since / (MATURE * config.batch))), config.longest_rest)
    state.rest = usual if stepped else min(max(2 * state.rest + 1, usual), config.longest_rest)
    state.resting = state.rest
