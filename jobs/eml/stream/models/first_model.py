"""The model that every new key begins with, where one was made beforehand: a file with a learner's snapshot.

Named by `learning.first_model`, checked when the job starts, read once per task. `version_routing` asks for a copy
when a key is new; a key with other features than the snapshot's begins with an empty model, as without the setting.
"""

import logging
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

from eml.core import EvolvingMetricLearner, FeatureSpace, SnapshotError

log = logging.getLogger(__name__)

FEATURES_SHOWN = 5  # in the log, of those that differ


class FirstModel:
    """A learner to copy."""

    def __init__(self, learner: EvolvingMetricLearner) -> None:
        if learner.upcoming is not None:
            learner.announce(learner.space)  # a switch that it prepared for is not known here
        self._learner = learner
        self._refused: set[FeatureSpace] = set()

    def copy_for(self, space: FeatureSpace) -> EvolvingMetricLearner | None:
        """A learner of the key's own, in the order of its features; None where the features are others."""
        if self._learner.space.diff(space).is_evolution:
            self._log_once(space)
            return None
        learner = deepcopy(self._learner)  # half the time of restoring its bytes
        if learner.space != space:
            learner.evolve(space)
        return learner

    def _log_once(self, space: FeatureSpace) -> None:
        """Once for each space that does not fit."""
        if space in self._refused:
            return
        self._refused.add(space)
        others = sorted(set(space.names) ^ set(self._learner.space.names))
        log.warning(
            "learning.first_model has other features than these keys, which begin without it: %s%s",
            ", ".join(others[:FEATURES_SHOWN]),
            ", ..." if len(others) > FEATURES_SHOWN else "",
        )


@lru_cache(maxsize=1)
def first_model(path: str) -> FirstModel | None:
    """The model in a file; None, with a line in the log, where this machine cannot read it."""
    try:
        return FirstModel(EvolvingMetricLearner.restore(Path(path).read_bytes()))
    except (OSError, SnapshotError) as error:
        log.error("learning.first_model cannot be read here, and keys begin without it: %s", error)  # noqa: TRY400
        return None
