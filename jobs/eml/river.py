"""The learner as a River classifier: dictionaries in, one record at a time, features free to come and go.

Called by users of River; calls `core`. Nothing else of the package imports it.

A record of River names no schema, so what is a missing value and what is an evolution is decided here, from labelled
records alone (a prediction changes nothing):

    a finite number        a value; booleans count
    a text                 a symbol of a category, which is a feature of its own beside the key's numbers, if it has any
    anything else          as good as absent
    a key is absent        a missing value
    ... for `patience` labelled records in a row      it has vanished: the space evolves without it
    a new key              ignored, in predictions too, until `KNOWN_AFTER` records had it: then the space evolves
    more than `max_features` keys     those unseen for longest go

The space changes between two batches only, so a change costs at most one evolution per batch, and a key that comes
once costs none. The first batch is special: it is learnt anew whenever it doubled, so that predictions start with
the first label, and all its keys are features.
"""

import math
import secrets
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from river import base

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.core.arrays import Array
from eml.core.hashed_symbols import hash_symbol

KNOWN_AFTER = 8  # the I-stage asks for that many samples of a new feature: an earlier evolution gains nothing

TEXT = " (text)"  # behind a key's name where its texts are the feature

Record = dict[str, float]  # what is known of a record: its finite numbers, and the numbers of its texts


class EMLClassifier(base.Classifier):
    """Evolving metric learning: nearest neighbours under a metric that follows drift and a changing set of features.

    Parameters
    ----------
    batch
        Labelled records that are gathered before they are learnt together.
    patience
        Labelled records in a row without a key after which it has vanished, and is no mere missing value.
    max_features
        Keys in use at most; those unseen for longest go first.
    config
        Settings of the learner; its defaults if None.
    seed
        Seed of all that is random; None for another one each time.

    Examples
    --------
    >>> from eml.river import EMLClassifier
    >>> from river import datasets, evaluate, metrics

    >>> model = EMLClassifier(seed=42)
    >>> metric = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> metric.get() > 0.88
    True

    """

    def __init__(
        self,
        batch: int = 32,
        patience: int = 256,
        max_features: int = 1024,
        config: LearnerConfig | None = None,
        seed: int | None = None,
    ) -> None:
        for name, value in (("batch", batch), ("patience", patience), ("max_features", max_features)):
            if value < 1:
                raise ValueError(f"{name} must be positive, not {value}")
        self.batch = batch
        self.patience = patience
        self.max_features = max_features
        self.config = config
        self.seed = seed
        self._actual_seed = secrets.randbits(32) if seed is None else seed
        self._labels: dict[Hashable, int] = {}  # label -> its number, under which the learner knows it
        self._frequency: list[int] = []  # by number
        self._keys = Keys(patience, max_features)
        self._pending: list[tuple[Record, int]] = []  # with the number of the label
        self._learner: PortableLearner | None = None
        self._begun = False  # the first batch is complete

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        # Small enough that features vanish and that not all of them fit, in River's short test streams.
        yield {"batch": 8, "patience": 16, "max_features": 7, "config": LearnerConfig(memory_size=64, warm_up=16)}

    @property
    def learner(self) -> EvolvingMetricLearner | None:
        """What it has learnt, to explain it; its labels are numbers, in the order in which they came."""
        return self._learner

    def learn_one(self, x: Mapping[Hashable, object], y: Hashable) -> None:
        """Take a labelled record; learn it with its batch."""
        label = self._labels.setdefault(y, len(self._labels))
        self._frequency += [0] * (label == len(self._frequency))
        self._frequency[label] += 1
        record = values_of(x)
        self._keys.see(record)
        self._pending.append((record, label))
        size = len(self._pending)
        if size >= self.batch or (not self._begun and size.bit_count() == 1):
            self._learn()
            if size >= self.batch:
                self._begun = self._learner is not None
                self._pending.clear()

    def predict_proba_one(self, x: Mapping[Hashable, object], **_: Any) -> dict[Hashable, float]:  # noqa: ANN401
        """Probability of every label seen; their frequencies for a record without a known feature."""
        if self._learner is not None:
            row = row_of(values_of(x), self._learner.space.names)
            if not np.isnan(row).all():
                scores = self._learner.predict_one(row).scores
                return {label: scores.get(number, 0.0) for label, number in self._labels.items()}
        total = sum(self._frequency)
        return {label: self._frequency[number] / total for label, number in self._labels.items()}

    def _learn(self) -> None:
        """Bring the space up to date, then learn what is pending and shows any of it."""
        names = self._keys.settle(everything=not self._begun)
        rows = np.array([row_of(record, names) for record, _ in self._pending])
        labels = np.array([label for _, label in self._pending])
        useful = ~np.isnan(rows).all(axis=1)
        if not useful.any():
            return
        space = FeatureSpace(names, categories=frozenset(name for name in names if name.endswith(TEXT)))
        if not self._begun or self._learner is None:
            self._learner = PortableLearner(space, self.config, self._actual_seed)
        elif space != self._learner.space:
            self._learner.evolve(space)
        self._learner.learn(rows[useful], labels[useful].tolist())


class PortableLearner(EvolvingMetricLearner):
    """A learner that is pickled and copied as its snapshot: exact, and readable by later releases."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).restore, (self.snapshot(),)


@dataclass(slots=True)
class Keys:
    """Which keys are features, from when each was last seen; no more than `most`, whatever comes."""

    patience: int
    most: int
    features: tuple[str, ...] = ()
    now: int = 0  # labelled records so far
    last: dict[str, int] = field(default_factory=dict)  # key -> the last record that had it
    newcomers: dict[str, int] = field(default_factory=dict)  # key that is no feature -> records that had it

    def see(self, record: Record) -> None:
        """Note the keys of a labelled record."""
        self.now += 1
        known = set(self.features)
        for key in record:
            self.last[key] = self.now
            if key not in known:
                self.newcomers[key] = self.newcomers.get(key, 0) + 1

    def settle(self, *, everything: bool) -> tuple[str, ...]:
        """The features from now on, newcomers behind (`everything`: all of them); never none once there were some."""
        there = {key for key, seen in self.last.items() if self.now - seen < self.patience}
        stay = [key for key in self.features if key in there]
        join = sorted(k for k, count in self.newcomers.items() if k in there and (everything or count >= KNOWN_AFTER))
        best = set(self._latest([*stay, *join]))
        self.features = tuple(key for key in [*stay, *join] if key in best) or self.features
        waiting = self._latest(sorted(self.newcomers.keys() & there - best))
        self.newcomers = {key: self.newcomers[key] for key in sorted(waiting)}
        self.last = {key: self.last[key] for key in [*self.features, *self.newcomers]}
        return self.features

    def _latest(self, keys: list[str]) -> list[str]:
        """As many as fit of those seen last; features before newcomers, and those before rarer ones."""
        return sorted(keys, key=lambda key: (-self.last[key], -self.newcomers.get(key, math.inf)))[: self.most]


def values_of(x: Mapping[Hashable, object]) -> Record:
    """The finite numbers and the symbols of a record, by name."""
    record = {}
    for key, value in x.items():
        if isinstance(value, str):
            record[f"{key}{TEXT}"] = hash_symbol(value)
        elif isinstance(value, (float, int, np.bool_, Real)):
            try:
                number = float(value)
            except OverflowError:  # an integer beyond all floats
                continue
            if math.isfinite(number):
                record[str(key)] = number
    return record


def row_of(record: Record, names: tuple[str, ...]) -> Array:
    """A record as the learner takes it: NaN for a missing value, nothing for an unknown key."""
    return np.array([record.get(name, math.nan) for name in names])
