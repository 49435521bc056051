"""The model that every new key begins with, where one was made beforehand: a file with a learner's snapshot.

Named by `learning.first_model`, checked when the job starts, read once per task. `version_routing` asks for a copy
when a key is new; a key with other features than the snapshot's begins with an empty model, as without the setting.
Copies share what they are until they learn, also after they were read from state (`state_codec`).
"""

import logging
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path

from eml.core import EvolvingMetricLearner, FeatureSpace, SnapshotError

log = logging.getLogger(__name__)

ORDERS = 16  # of the same features, of which copies are kept
FEATURES_SHOWN = 5  # in the log, of those that differ


class FirstModel:
    """A learner to copy."""

    def __init__(self, learner: EvolvingMetricLearner) -> None:
        if learner.upcoming is not None:
            learner.announce(learner.space)  # a switch that it prepared for is not known here
        self._learner = learner.copy()
        self._learners = OrderedDict({learner.space: self._learner})  # by the order of features that keys have
        self._refused: set[FeatureSpace] = set()

    def copy_for(self, space: FeatureSpace) -> EvolvingMetricLearner | None:
        """A learner of the key's own, in the order of its features; None where the features are others."""
        found = self._learners.get(space)
        if found is None:
            if self._learner.space.diff(space).is_evolution:
                self._log_once(space)
                return None
            found = self._learners[space] = self._learner.copy()
            found.evolve(space)
            if len(self._learners) > ORDERS:
                self._learners.popitem(last=False)
        return found.copy()

    def unchanged(self, snapshot: bytes) -> EvolvingMetricLearner | None:
        """The learner of a snapshot that a copy wrote before it had learnt anything; None where it is another."""
        found = (learner for learner in self._learners.values() if learner.snapshot() == snapshot)
        return next((learner.copy() for learner in found), None)

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
