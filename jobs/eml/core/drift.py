"""What a learner does when it is told that its errors have risen while its features stayed the same.

Called by the learner; changes its state only. Who tells, and how they know, is not known here. Both reactions end the
rests between steps, as an evolution does, and neither takes the model away: the next prediction is made as always.

    step      the metric may change further with each step, for a while
    memory    a few old exemplars of each class stay, and the next samples take their places
"""

from typing import Literal, get_args

import numpy as np

from eml.core.errors import FeatureError
from eml.core.state import State

Reaction = Literal["step", "memory"]

WIDER = 1.0  # a step size on offer beside the usual ones; 3.0 is better for some drifts and worse for others
WIDENED = 16  # batches for which it is
SHARE = 1 / 16  # of the memory that stays: a quarter outweighs new exemplars for longer, half of this is hardly better


def react(state: State, how: Reaction, neighbours: int) -> None:
    """Make what was learnt easier to replace; `neighbours` exemplars of each class are enough to predict with."""
    if how not in get_args(Reaction):
        raise FeatureError(f"a learner reacts to drift by {' or '.join(get_args(Reaction))}, not by {how!r}")
    state.since = state.rest = state.resting = 0
    if how == "step":
        state.widened = WIDENED
    else:
        _age_memory(state, neighbours)


def _age_memory(state: State, neighbours: int) -> None:
    """Thin the memory evenly and mark what stays: each new sample takes the place of a marked one of its class."""
    memory = state.memory
    classes = len(np.unique(memory.y))
    memory.keep(memory.sample(max(int(SHARE * len(memory)), neighbours * classes), state.rng))
    memory.stale[:] = True
    memory.seen = np.bincount(memory.y, minlength=len(memory.seen)).astype(np.int64)
    state.refresh()
