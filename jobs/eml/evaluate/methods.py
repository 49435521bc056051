"""The methods one can name: the learner, its ablations, the controls, the paper's rivals, behind the same four calls.

Built and called by `trial`. A method never receives a label of a batch before it has predicted it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

from eml.core import EvolvingMetricLearner, FeatureSpace
from eml.evaluate.ablations import config_without
from eml.evaluate.catalogue import ABLATIONS
from eml.evaluate.controls import Label, NearestNeighbour
from eml.evaluate.datasets import Floats
from eml.evaluate.imputing import MeanFilled
from eml.evaluate.rivals.bdml import Bdml
from eml.evaluate.rivals.cdml import Cdml
from eml.evaluate.rivals.firf import Firf
from eml.evaluate.rivals.opid import Opid
from eml.evaluate.rivals.opide import Opide
from eml.evaluate.rivals.opml import Opml
from eml.evaluate.rivals.opmv import Opmv
from eml.evaluate.rivals.pegasos import Pegasos
from eml.evaluate.rivals.tca import Tca


class Method(Protocol):
    """What a protocol asks of a method."""

    def announce(self, space: FeatureSpace) -> None:
        """Learn that the stream will evolve to `space`."""

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Learn from a labelled batch in the current space."""

    def evolve(self, space: FeatureSpace) -> None:
        """Go over to `space`: all later rows have its features."""

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return a label for each row; None: it cannot tell."""


Factory = Callable[[FeatureSpace, int, int], Method]  # first space, seed, memory in exemplars


class Eml:
    """The project's learner; `without`: the part of it, a switch of its settings, that is turned off."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int, *, without: str | None = None) -> None:
        self._learner = EvolvingMetricLearner(space, config=config_without(without, memory), seed=seed)

    def announce(self, space: FeatureSpace) -> None:
        """Learn that the stream will evolve to `space`."""
        self._learner.announce(space)

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Learn from a labelled batch."""
        self._learner.learn(rows, labels)

    def evolve(self, space: FeatureSpace) -> None:
        """Go over to `space`."""
        self._learner.evolve(space)

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return a label for each row."""
        return list(self._learner.predict_many(rows).labels)


class Restart:
    """A cold restart: a new learner at each evolution, which knows nothing of what came before."""

    def __init__(self, space: FeatureSpace, seed: int, memory: int) -> None:
        self._fresh = partial(Eml, seed=seed, memory=memory)
        self._current = self._fresh(space)

    def announce(self, space: FeatureSpace) -> None:
        """Nothing to prepare: all will be forgotten."""

    def learn(self, rows: Floats, labels: Sequence[Label]) -> None:
        """Learn from a labelled batch."""
        self._current.learn(rows, labels)

    def evolve(self, space: FeatureSpace) -> None:
        """Forget everything."""
        self._current = self._fresh(space)

    def predict(self, rows: Floats) -> list[Label | None]:
        """Return a label for each row."""
        return self._current.predict(rows)


_WITHOUT: Mapping[str, str | None] = MappingProxyType({"eml": None, **ABLATIONS})

REGISTRY: Mapping[str, Factory] = MappingProxyType(
    {
        **{name: partial(Eml, without=part) for name, part in _WITHOUT.items()},
        "memory": partial(NearestNeighbour, scaled=True, keep=True),
        "memory-raw": partial(NearestNeighbour, scaled=False, keep=True),
        "memory-batch": partial(NearestNeighbour, scaled=True, keep=False),
        "restart": Restart,
        "opid": Opid,
        "opide": Opide,
        "pegasos": Pegasos,
        "opml": Opml,
        "firf": Firf,
        "opmv": Opmv,
        "tca": Tca,
        "bdml": Bdml,
        "cdml": Cdml,
    }
)


def build(name: str, space: FeatureSpace, seed: int, memory: int) -> Method:
    """Return the method `name`; one that cannot take missing values gets the mean of what it has seen of a feature."""
    method = REGISTRY[name](space, seed, memory)
    return method if name in _WITHOUT or name == "restart" else MeanFilled(method, space)


def settings(name: str, memory: int) -> dict[str, Any]:
    """Return what a method is configured with, for the record."""
    if name in _WITHOUT or name == "restart":
        return asdict(config_without(_WITHOUT.get(name), memory))
    return {"memory_size": memory}
