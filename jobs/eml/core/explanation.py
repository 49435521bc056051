"""Why a learner predicts as it does: weights of features and views, the last evolution, counts.

Called by the learner's `explain`; reads its state and changes nothing.
"""

import numpy as np

from eml.core import experts
from eml.core.arrays import TINY
from eml.core.folding import fold_weights
from eml.core.report import Explanation
from eml.core.state import State


def explain(state: State) -> Explanation:
    """Weights of features, weight and accuracy of views, the last evolution, counts of refused updates."""
    counts = np.bincount(state.memory.y, minlength=len(state.classes)).tolist()
    return Explanation(
        stage=state.stage,
        revision=state.revision,
        weights=_feature_weights(state),
        linear_weights=_linear_weights(state),
        views=experts.report(state),
        evolution=state.evolution,
        exemplars=dict(zip(state.classes, counts, strict=True)),
        steps_taken=state.taken,
        updates_refused=state.refused,
        values_cut=state.cut,
        values_missing=state.missing,
    )


def _feature_weights(state: State) -> dict[str, float]:
    """Share of each feature in the distances of typical samples: column norm times standard deviation."""
    view = state.newest
    if view is None:
        return {}
    share = (view.L**2).sum(axis=0) * state.statistics.deviation()[view.columns] ** 2
    total = max(float(share.sum()), TINY)
    names = state.space.names
    return fold_weights({names[c]: float(s) / total for c, s in zip(view.columns, share, strict=True)})


def _linear_weights(state: State) -> dict[str, float]:
    linear, names = state.linear, state.space.names
    return {} if linear is None else fold_weights(dict(zip(names, linear.shares().tolist(), strict=True)))
