"""Our own methods in the benchmark: the learner record by record, and the plainest of baselines.

Built by `trial`, driven by the stream's `play`. The learner is made for all columns at once and shown NaN for what is
not there; it is given every label at once, for these streams are too short for windows.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

from eml.core import EvolvingMetricLearner, FeatureSpace
from eml.evaluate.ablations import config_without
from eml.evaluate.catalogue import ABLATIONS, HAPHAZARD_ABLATIONS
from eml.evaluate.datasets import Floats
from eml.evaluate.prequential.methods import Factory


class Eml:
    """The project's learner; `without`: the part of it that is turned off."""

    room = 1

    def __init__(self, space: FeatureSpace, seed: int, memory: int, *, without: str | None = None) -> None:
        self._learner = EvolvingMetricLearner(space, config_without(without, memory), seed)

    def predict(self, rows: Floats) -> list[int | None]:
        """Return a class for each row."""
        labels = [self._learner.predict_one(row).label for row in rows]
        return [None if label is None else int(label) for label in labels]

    def learn(self, rows: Floats, labels: Sequence[int]) -> None:
        """Learn each record at once."""
        for row, label in zip(rows, labels, strict=True):
            self._learner.learn(row[None, :], [label])

    def announce(self, space: FeatureSpace) -> None:
        """There is one space in these streams."""

    def evolve(self, space: FeatureSpace) -> None:
        """There is one space in these streams."""


class Majority:
    """The class that was most frequent so far: what can be had without looking at a record."""

    room = 1

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        del space, seed, memory
        self._seen: Counter[int] = Counter()

    def predict(self, rows: Floats) -> list[int | None]:
        """Return the same class for each row; None before the first label."""
        likely = max(self._seen, key=lambda label: (self._seen[label], -label), default=None)
        return [likely] * len(rows)

    def learn(self, rows: Floats, labels: Sequence[int]) -> None:
        """Count the labels."""
        del rows
        self._seen.update(labels)

    def announce(self, space: FeatureSpace) -> None:
        """There is one space in these streams."""

    def evolve(self, space: FeatureSpace) -> None:
        """There is one space in these streams."""


REGISTRY: Mapping[str, Factory] = MappingProxyType(
    {
        "eml": Eml,
        **{name: partial(Eml, without=ABLATIONS[name]) for name in HAPHAZARD_ABLATIONS},
        "majority": Majority,
    }
)
PEERS: Mapping[str, str] = MappingProxyType({"river-lr": "river-lr-two-classes"})  # as `prequential.peer` names them
