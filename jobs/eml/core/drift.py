"""How the learner reacts to concept drift: errors have risen while the features stayed the same.

Called by the learner's `react`; changes its state only. Drift is detected elsewhere (ADWIN in `stream`). Both reactions
end the pauses between metric steps, as an evolution does. The model stays: the next prediction is made as usual.

    step      for a while, a larger step of the metric is on offer
    memory    a few old exemplars of each class stay, and new samples replace them
"""

from typing import Literal, get_args

import numpy as np

from eml.core.errors import FeatureError
from eml.core.state import State

Reaction = Literal["step", "memory"]

WIDER = 1.0  # a step size on offer beside the usual ones; 3.0 is better for some drifts and worse for others
WIDENED = 16  # batches for which it is on offer
SHARE = 1 / 16  # of the memory that stays: a quarter outweighs new exemplars for longer, half of this is hardly better


def react(state: State, how: Reaction, neighbours: int) -> None:
    """Make what was learnt easier to replace; at least `neighbours` exemplars of each class stay."""
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
