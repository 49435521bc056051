r"""The T-stage step by step: its objective, and what held-out samples get right (the paper's convergence figure).

Called by `session`, in a worker; drives the learner through the T-batches of the one-shot protocol and reads its
metrics from snapshots, so that nothing in it is changed by being looked at. The objective is that of Eq. 4,

    own hinge of L^a + own hinge of L^s + rho (both consistency hinges) + lambda (trace norms),

over the test batch, which is not learnt: the same samples, triplets and margin at every step, in units of the margin.
The paper's curve is of the samples it learns; of those each step has its own, so it is no curve of one function.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig, snapshot, stages
from eml.core.arrays import Index, squared_distances
from eml.core.state import State
from eml.core.triplets import Triplets, local_triplets
from eml.evaluate.datasets import Floats, Labels
from eml.evaluate.deal import deal
from eml.evaluate.errors import EvaluationError
from eml.evaluate.protocols import space_of
from eml.evaluate.trial import Source, dataset_of


@dataclass(frozen=True, slots=True)
class CurveTrial:
    """A data set at one batch size, a seed."""

    source: Source
    batch: int
    seed: int
    memory: int

    @property
    def label(self) -> str:
        """What the progress bar says of it."""
        return f"{self.source.name} {self.batch}"

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from others, as JSON holds it."""
        return {
            "scenario": "convergence",
            "dataset": self.source.name,
            "batch": self.batch,
            "seed": self.seed,
            "method": "eml",
            "memory": self.memory,
        }

    @property
    def settings(self) -> LearnerConfig:
        """The learner's."""
        return replace(LearnerConfig(), memory_size=self.memory)


@dataclass(frozen=True, slots=True)
class Curve:
    """One value per step of the T-stage; accuracies in percent."""

    learnt: tuple[int, ...]  # samples so far
    objective: tuple[float, ...]
    accuracy: tuple[float, ...]  # of held-out samples with the old features
    survivors: tuple[float, ...]  # of the same with the next features, if the switch came now
    seconds: float  # CPU time of all, the looking included

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Curve":
        """Return the curve that was written as JSON, where tuples are lists."""
        return cls(
            learnt=tuple(content["learnt"]),
            objective=tuple(content["objective"]),
            accuracy=tuple(content["accuracy"]),
            survivors=tuple(content["survivors"]),
            seconds=content["seconds"],
        )


@dataclass(frozen=True, slots=True)
class _Held:
    """Samples that are not learnt, before and after the switch."""

    before: Floats
    after: Floats
    y: Labels
    space: FeatureSpace  # after the switch


def perform(trial: CurveTrial) -> Curve:
    """Run one trial."""
    start = time.process_time()
    dataset = dataset_of(trial.source)
    hand = deal(dataset, trial.batch, trial.seed, fewest=1)
    columns = np.arange(dataset.X.shape[1])
    old, new = columns[: sum(dataset.split[:2])], columns[dataset.split[0] :]
    rows = hand.testing
    held = _Held(dataset.X[np.ix_(rows, old)], dataset.X[np.ix_(rows, new)], dataset.y[rows], space_of(new))
    learner = EvolvingMetricLearner(space_of(old), trial.settings, trial.seed)
    learner.announce(held.space)
    watch = _Watch(held)
    for rows in hand.training:
        for first in range(0, len(rows), learner.config.batch):
            piece = rows[first : first + learner.config.batch]
            learner.learn(dataset.X[np.ix_(piece, old)], dataset.y[piece].tolist())
            watch.look(learner)
    return watch.curve(time.process_time() - start)


class _Watch:
    """Looks at a learner after each batch, and notes it where the T-stage has made a step."""

    def __init__(self, held: _Held) -> None:
        self._held = held
        self._objective: _Objective | None = None
        self._steps = 0
        self._points: list[tuple[int, float, float, float]] = []

    def look(self, learner: EvolvingMetricLearner) -> None:
        """Note a point of the curve, if there is one."""
        data = learner.snapshot()
        state, config = snapshot.load(data)
        if state.upcoming is None or state.upcoming.Ls is None or state.upcoming.steps == self._steps:
            return
        self._steps = state.upcoming.steps
        if self._objective is None:
            self._objective = _Objective(state, config, self._held)
        switched = EvolvingMetricLearner.restore(data)
        switched.evolve(self._held.space)
        point = (
            state.learnt,
            self._objective(state),
            _percent(learner, self._held.before, self._held.y),
            _percent(switched, self._held.after, self._held.y),
        )
        self._points.append(point)

    def curve(self, seconds: float) -> Curve:
        """Return all points."""
        if not self._points:
            raise EvaluationError("the T-stage made no step: more samples are needed before the evolution")
        learnt, objective, accuracy, survivors = zip(*self._points, strict=True)
        return Curve(learnt, objective, accuracy, survivors, seconds)


class _Objective:
    """Eq. 4 as a function of both metrics, over fixed samples, triplets and margin."""

    def __init__(self, state: State, config: LearnerConfig, held: _Held) -> None:
        self._terms = config.objective
        self._before = held.before
        _, codes = np.unique(held.y, return_inverse=True)
        whole, _ = self._embeddings(state)
        self._triplets = _triplets(whole, codes.astype(np.intp), self._terms.signature)
        (own,) = stages.hinges([(whole, whole)], self._triplets, self._terms)
        self._margin = self._terms.margin * float(np.median(own.far.linear))

    def __call__(self, state: State) -> float:
        whole, alone = self._embeddings(state)
        sides = [(whole, whole), (alone, alone), (whole, alone), (alone, whole)]
        own_a, own_s, a_to_s, s_to_a = stages.hinges(sides, self._triplets, self._terms, self._margin)
        hinges = own_a.loss + own_s.loss + self._terms.rho * (a_to_s.loss + s_to_a.loss)
        return (hinges + sum(self._low_rank(metric) for metric in _metrics(state))) / self._margin

    def _embeddings(self, state: State) -> tuple[Floats, Floats]:
        all_features, survivors = _metrics(state)
        samples, _, _ = state.statistics.clean(state.encoder.encode(self._before))
        return samples @ all_features.T, samples[:, _survived(state)] @ survivors.T

    def _low_rank(self, metric: Floats) -> float:
        directions, weights = self._terms.regulariser(metric)
        return float((weights * ((directions @ metric.T) ** 2).sum(axis=1)).sum())


def _triplets(embedded: Floats, codes: Index, signature: int) -> Triplets:
    return local_triplets(squared_distances(embedded, embedded), np.arange(len(embedded)), codes, signature)


def _metrics(state: State) -> tuple[Floats, Floats]:
    """L^a over all columns, and L^s over the survivors."""
    upcoming, view = state.upcoming, state.newest
    if upcoming is None or upcoming.Ls is None or view is None:
        raise EvaluationError("no T-stage is under way")
    return view.L, upcoming.Ls


def _survived(state: State) -> NDArray[np.intp]:
    if state.upcoming is None:
        raise EvaluationError("no T-stage is under way")
    return state.columns_of(state.space.diff(state.upcoming.space))


def _percent(learner: EvolvingMetricLearner, rows: Floats, labels: Labels) -> float:
    said = learner.predict_many(rows).labels
    return 100.0 * float(np.mean([got == true for got, true in zip(said, labels.tolist(), strict=True)]))
