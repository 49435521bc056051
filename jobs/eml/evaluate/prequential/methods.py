"""Our own methods in the stream: the learner, driven as the job drives it, and what it is measured against.

Built by `trial`, driven by `play`. Labelled records are learnt in windows of the job's size (`eml.core.windows`), but
never by time: these streams have no clock. Every record is predicted by the model as it is at that record.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from eml.core import EvolvingMetricLearner, FeatureSpace
from eml.core.windows import window_size
from eml.evaluate.ablations import config_without
from eml.evaluate.catalogue import ABLATIONS
from eml.evaluate.datasets import Floats
from eml.evaluate.prequential.play import StreamMethod

# Labelled records per update, as in the job; tests/unit/evaluate/prequential/test_methods.py compares them.
LARGEST_WINDOW = 32

Factory = Callable[[FeatureSpace, int, int], StreamMethod]  # first space, seed, memory in exemplars


class Eml:
    """The project's learner; nobody tells it of a switch before it comes. `without`: the part that is turned off."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int, *, without: str | None = None) -> None:
        self._config, self._seed = config_without(without, memory), seed
        self._learner = self._fresh(space)
        self._rows: list[Floats] = []
        self._labels: list[int] = []

    @property
    def room(self) -> int:
        """Labelled records until the window is full."""
        return window_size(self._learner.age, LARGEST_WINDOW) - len(self._labels)

    def predict(self, rows: Floats) -> list[int | None]:
        """Return a class for each row."""
        return [None if label is None else int(label) for label in self._learner.predict_many(rows).labels]

    def learn(self, rows: Floats, labels: Sequence[int]) -> None:
        """Put records into the window; learn it when it is full."""
        self._rows.append(rows)
        self._labels += labels
        if self.room <= 0:
            self._learn_window()

    def announce(self, space: FeatureSpace) -> None:
        """Ignored."""

    def evolve(self, space: FeatureSpace) -> None:
        """Learn what is pending, for it is of the old space; then evolve."""
        self._learn_window()
        self._learner.evolve(space)

    def _learn_window(self) -> None:
        if self._labels:
            self._learner.learn(np.concatenate(self._rows), self._labels)
            self._rows, self._labels = [], []

    def _fresh(self, space: FeatureSpace) -> EvolvingMetricLearner:
        return EvolvingMetricLearner(space, self._config, self._seed)


class Announced(Eml):
    """The learner where the next features are known some time before the switch."""

    def announce(self, space: FeatureSpace) -> None:
        """Start the T-stage."""
        self._learner.announce(space)


class Restart(Eml):
    """A cold restart: a new learner at each switch, which knows nothing of what came before."""

    def evolve(self, space: FeatureSpace) -> None:
        """Forget everything."""
        self._rows, self._labels = [], []
        self._learner = self._fresh(space)


class DropOnly(Eml):
    """The learner on the features of the first stage: it drops what vanishes and never learns what is new."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        super().__init__(space, seed, memory)
        self._first = frozenset(space.names)
        self._columns = list(range(len(space)))

    def predict(self, rows: Floats) -> list[int | None]:
        """Return a class for each row, by the features it knows."""
        return super().predict(rows[:, self._columns])

    def learn(self, rows: Floats, labels: Sequence[int]) -> None:
        """Learn the features it knows."""
        super().learn(rows[:, self._columns], labels)

    def evolve(self, space: FeatureSpace) -> None:
        """Go on with what is left of the first space."""
        left = tuple(name for name in space.names if name in self._first)
        super().evolve(FeatureSpace(left))
        self._columns = space.columns(left)


REGISTRY: Mapping[str, Factory] = MappingProxyType(
    {
        "eml": Eml,
        "eml-announced": Announced,
        "restart": Restart,
        "drop-only": DropOnly,
        **{name: partial(Eml, without=part) for name, part in ABLATIONS.items()},
    }
)
