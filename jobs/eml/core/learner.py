"""The learner: predicts from the first label on, learns in batches, keeps what it knows across evolutions.

The public interface of `core`. Called by `stream` (one learner per model of a key), by the River adapter, and by the
evaluation and the benchmarks; calls the other modules of `core` and knows no record, topic or file.

    predict_one, predict_many   score samples of the current space; changes nothing
    learn                       a batch of labelled samples
    announce                    the next space is known while the old one flows: the T-stage starts
    evolve                      from now on samples are of the next space: the I-stage starts
    react                       concept drift was detected: make room for what is new
    explain                     why it predicts as it does
    snapshot, restore           to versioned bytes and back, exactly
    start_log, changes          a full snapshot, then deltas: few bytes where little was learnt
    copy                        a second one, which costs nothing until it changes

Deterministic for a given seed. The settings bound memory and time, however long the stream.
"""

from collections.abc import Iterable, Sequence
from copy import copy, deepcopy

import numpy as np
from numpy.typing import ArrayLike

from eml.core import (
    drift,
    evolution,
    experts,
    explanation,
    fresh,
    learning,
    predictor,
    snapshot,
    survivors,
    transforming,
)
from eml.core.arrays import Array
from eml.core.config import LearnerConfig
from eml.core.deltas import DeltaLog, apply
from eml.core.errors import FeatureError
from eml.core.features import FeatureSpace
from eml.core.one_hot import OneHotEncoder
from eml.core.predictor import Predictor
from eml.core.report import NO_LABELS, Evolution, Explanation, Label, Prediction, Predictions, Stage
from eml.core.serialization import checksum
from eml.core.state import State

OBJECTS = 32_768  # bytes of a learner's small arrays and other objects, about
COPY = 16_384  # bytes of a copy that shares its state, with what is around it


class EvolvingMetricLearner:
    """Online metric learning over a feature space that changes.

    >>> learner = EvolvingMetricLearner(FeatureSpace(("temperature", "rpm")), seed=7)
    >>> learner.learn([[20.0, 1.0], [21.0, 1.1], [80.0, 1.0], [82.0, 0.9]], ["ok", "ok", "hot", "hot"])
    >>> learner.predict_one([79.0, 1.0]).label
    'hot'
    """

    def __init__(self, space: FeatureSpace, config: LearnerConfig | None = None, seed: int = 0) -> None:
        self.config = config or LearnerConfig()
        self._state = State.new(space, self.config, seed)
        self._log = DeltaLog()
        self._predictor: Predictor | None = None  # built by the first prediction after a change
        self._shared = False  # the state is that of a copy, too
        self._packed: bytes | None = None  # the snapshot that the log begins with, where nothing has changed since

    @property
    def space(self) -> FeatureSpace:
        """The features a sample must have now, in this order."""
        return self._state.encoder.inputs

    @property
    def stage(self) -> Stage:
        """Where the learner stands between two evolutions."""
        return self._state.stage

    @property
    def upcoming(self) -> FeatureSpace | None:
        """The announced space, until the switch to it."""
        upcoming = self._state.upcoming
        return None if upcoming is None else OneHotEncoder(upcoming.space).inputs

    @property
    def classes(self) -> tuple[Label, ...]:
        """Labels seen so far."""
        return tuple(self._state.classes)

    @property
    def revision(self) -> int:
        """How many batches were learnt."""
        return self._state.revision

    @property
    def has_fresh_start(self) -> bool:
        """Whether a fresh start runs beside what was carried over the last evolution."""
        return self._state.fresh is not None

    @property
    def fresh_answers(self) -> bool:
        """Whether there is a fresh start that has seen enough to predict."""
        return experts.fresh_answers(self._state)

    @property
    def view_shares(self) -> dict[str, float]:
        """How much each view counts in the answers."""
        return {name: view.weight for name, view in experts.report(self._state).items()}

    @property
    def age(self) -> int:
        """Labelled samples learnt since the last evolution."""
        return self._state.since

    @property
    def nbytes(self) -> int:
        """About what the learner takes in memory: its arrays, and some for all else; nothing that it shares."""
        if self._shared:
            return COPY
        return OBJECTS + (self._state.nbytes if self._predictor is None else self._predictor.nbytes)

    # -- predict ---------------------------------------------------------------------------------------------------

    def predict_many(self, X: ArrayLike) -> Predictions:
        """Predictions for samples (n, d), NaN where a value is missing; no row's result depends on the others."""
        state, answer = self._state, self.answers(X)
        if not state.views:
            n = len(answer)
            return Predictions([None] * n, (), np.zeros((n, 0)), np.zeros(n), np.full(n, np.inf))
        classes, C = tuple(state.classes), len(state.classes)
        best = answer[:, C + predictor.BEST :].astype(np.intp).tolist()
        return Predictions(
            labels=[classes[label] for label, _ in best],
            classes=classes,
            scores=answer[:, :C],
            margin=answer[:, C + predictor.MARGIN],
            novelty=answer[:, C + predictor.NOVELTY],
            fresh=[classes[label] for _, label in best] if experts.fresh_answers(state) else None,
        )

    def predict_one(self, x: ArrayLike) -> Prediction:
        """The prediction for one sample (d,)."""
        answer, classes = self.answers(np.asarray(x, dtype=np.float64)[None]), self._state.classes
        if not self._state.views:
            return Prediction(None, {}, 0.0, float("inf"), NO_LABELS)
        *scores, margin, novelty, best, _ = answer[0].tolist()
        return Prediction(classes[int(best)], dict(zip(classes, scores, strict=True)), margin, novelty)

    def answers(self, X: ArrayLike) -> Array:
        """Predictions as one array (n, C + 4), without columns before the first label; compiled where that is possible.

        Columns are the scores of `classes`, margin, novelty, and the numbers of the best class and the fresh start's.
        """
        values = self._matrix(X)
        if not self._state.views:
            return np.zeros((len(values), 0))
        if predictor.kernels() is None:
            return predictor.reference(self._state, values, self.config.neighbours)
        if self._predictor is None:
            self._predictor = Predictor(self._state, self.config.neighbours)
        return self._predictor.answer(values)

    # -- learn -----------------------------------------------------------------------------------------------------

    def learn(self, X: ArrayLike, y: Sequence[Label]) -> None:
        """Learn labelled samples (n, d) in the order given, in pieces of at most `config.batch`."""
        values = self._matrix(X)
        if len(values) != len(y):
            raise FeatureError(f"{len(values)} samples came with {len(y)} labels")
        self._about_to_change()
        for start in range(0, len(values), self.config.batch):
            piece = slice(start, start + self.config.batch)
            learning.learn(self._state, self.config, values[piece], y[piece])

    # -- evolve ----------------------------------------------------------------------------------------------------

    def announce(self, space: FeatureSpace) -> None:
        """The next space is known, samples of the current one still come: starts the T-stage."""
        self._about_to_change()
        transforming.announce(self._state, self._encoded(space))

    def evolve(self, space: FeatureSpace) -> Evolution:
        """From now on samples are of `space`. Runs the rest of the T-stage; the I-stage follows with labels."""
        self._about_to_change()
        state = self._state
        fitter = learning.fitter_for(state, self.config)
        report = evolution.evolve(state, self._encoded(space), self.config, fitter)
        if report.warm and report.change.is_evolution:
            state.fit(state.linear)
            survivors.begin(state)
            if self.config.fresh:
                fresh.begin(state)
        learning.refresh_views(state)
        state.refused += fitter.refused
        state.taken += fitter.taken
        return report

    def react(self, how: drift.Reaction) -> None:
        """Concept drift was detected while the space stayed the same. Predictions continue."""
        self._about_to_change()
        drift.react(self._state, how, self.config.neighbours)

    # -- explain ---------------------------------------------------------------------------------------------------

    def explain(self) -> Explanation:
        """Weights of features, weight and accuracy of views, the last evolution, counts of refused updates."""
        return explanation.explain(self._state)

    # -- snapshots -------------------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """The whole learner as versioned bytes."""
        return self._packed or snapshot.dump(self._state, self.config)

    def start_log(self) -> bytes:
        """A full snapshot; `changes` then gives the deltas after it."""
        if self._packed is not None:
            return self._packed
        data = self.snapshot()
        self._log.start(self._state, self.config, data)
        return data

    def changes(self) -> bytes | None:
        """The delta since the last `start_log` or `changes`; None if a new log must be started."""
        self._packed = None
        return self._log.delta(self._state, self.config)

    @classmethod
    def restore(cls, data: bytes, changes: Iterable[bytes] = ()) -> "EvolvingMetricLearner":
        """The learner of a snapshot and its deltas: same predictions, same future, bit for bit.

        Its log continues after the last delta.
        """
        header, arrays = snapshot.read(data)
        log = DeltaLog(apply(header, arrays, checksum(data), changes))
        state, config = snapshot.build(header, arrays)
        log.resume(state, config)
        learner = cls(state.space, config)
        learner._state, learner._log = state, log
        return learner

    def copy(self) -> "EvolvingMetricLearner":
        """A learner that goes on from here by itself: until one of the two changes they share all they are.

        What a fleet's new models cost, while they learn nothing: one state in memory and one packing for all.
        """
        if self._packed is None:
            self._packed = self.start_log()
        if self._predictor is None and self._state.views and predictor.kernels() is not None:
            self._predictor = Predictor(self._state, self.config.neighbours)
        self._shared = True
        other = copy(self)
        other._log = copy(self._log)  # noqa: SLF001  another of the same kind
        return other

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _about_to_change(self) -> None:
        """Have a state of its own, and let go of what was made of it."""
        if self._shared:
            self._state, self._shared = deepcopy(self._state), False
        self._predictor = self._packed = None

    def _encoded(self, space: FeatureSpace) -> FeatureSpace:
        return self._state.encoder.next_space(space, self._state.retired_columns)

    def _matrix(self, X: ArrayLike) -> Array:
        values = np.asarray(X, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.space):
            raise FeatureError(
                f"samples must be a table with {len(self.space)} columns ({', '.join(self.space.names[:5])}"
                f"{', ...' if len(self.space) > 5 else ''}), not of shape {values.shape}"
            )
        return values
