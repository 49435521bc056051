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

Deterministic for a given seed. The settings bound memory and time, however long the stream.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from eml.core import (
    arcsinh,
    category_detection,
    drift,
    evolution,
    experts,
    fresh,
    inheriting,
    predictor,
    quantization,
    snapshot,
    survivors,
)
from eml.core.arrays import TINY, Array, Index, Mask
from eml.core.config import LearnerConfig
from eml.core.deltas import DeltaLog, apply
from eml.core.errors import FeatureError
from eml.core.features import FeatureSpace
from eml.core.fitting import Fitter
from eml.core.one_hot import OneHotEncoder, fold_weights
from eml.core.predictor import Predictor
from eml.core.report import NO_LABELS, Evolution, Explanation, Label, Prediction, Predictions, Stage
from eml.core.serialization import checksum
from eml.core.state import State
from eml.core.views import View

TYPICAL_RATE = 0.1  # how fast the typical distance follows
ENOUGH_REAL = 0.8  # share of exemplars with the new features at which the survivors' view retires
MATURE = 16  # batches of a space after which only every second one makes a step
LEAST_POOL = 320  # exemplars to draw triplets from, if there are few classes
FIRST_AGAIN = 64  # samples of a new space after which its joint view is rebuilt, and again at every doubling
STEP_AFTER = 8  # least number of labelled samples between two steps, however small the batches
RESOLUTIONS_AFTER = 256  # labelled samples after which the memory's resolutions are chosen anew
OBJECTS = 32_768  # bytes of a learner's small arrays and other objects, about
NEGLIGIBLE = 0.02  # weight below which a view retires


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
    def age(self) -> int:
        """Labelled samples learnt since the last evolution."""
        return self._state.since

    @property
    def nbytes(self) -> int:
        """About what the learner takes in memory: its arrays, and some for all else."""
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
        self._predictor = None
        for start in range(0, len(values), self.config.batch):
            piece = slice(start, start + self.config.batch)
            self._learn_piece(values[piece], y[piece])

    def _learn_piece(self, raw: Array, labels: Sequence[Label]) -> None:
        state = self._state
        fitter = self._fitter()
        self._update_columns(raw, fitter)
        y = self._class_numbers(labels)  # from here on there are new classes, which no view knows yet
        X, present = self._clean(raw)
        self._score_views(X, present, y)
        rows = state.memory.add(X, present, y, state.rng, evolution.outdated(state))
        state.learnt += len(y)
        state.since += len(y)
        state.revision += 1
        if state.stage == "initial":
            self._begin_metric(fitter)
        else:
            if state.stage == "inheriting" and self.config.inherit:
                self._inherit(fitter, again=_doubled(state.since - len(y), state.since))
                X, _, _ = state.statistics.clean(state.encoder.encode(raw))  # new features may be one-hot encoded now
            due = self._is_due(len(y))
            if due:
                self._adapt(X, y, rows, fitter)
            fresh.learn(state, self.config, fitter, step=due)
        state.fit(state.linear, young=state.since < self.config.warm_up)
        survivors.learn(state)
        state.refused += fitter.refused
        state.taken += fitter.taken
        state.widened = max(0, state.widened - 1)
        fresh.end(state)
        survivors.end(state)
        if state.stage in {"steady", "transforming"} and _passed(
            state.learnt - len(y), state.learnt, RESOLUTIONS_AFTER
        ):
            quantization.update_resolutions(state)
        self._refresh_views()

    def _refresh_views(self) -> None:
        """Embed the memory again, and tell the mixture which experts there are now."""
        self._state.refresh()
        self._state.mixture.set_experts(experts.expert_specs(self._state))

    def _update_columns(self, raw: Array, fitter: Fitter) -> None:
        """Add columns for new levels; whenever the samples have doubled, detect integer-coded categories again.

        Then a new metric is a candidate, too: it knows the symbols that came since the last one was built.
        """
        state = self._state
        category_detection.add_levels(state, raw)
        if state.stage not in {"steady", "transforming"} or not _doubled(state.learnt, state.learnt + len(raw)):
            return
        if (self.config.one_hot and category_detection.detect(state, fitter)) or state.encoder.categories:
            evolution.offer_new_metric(state, fitter)
            state.refresh()

    def _clean(self, raw: Array) -> tuple[Array, Mask]:
        statistics, values = self._state.statistics, self._state.encoder.encode(raw)
        statistics.set_origins(values)
        X, present, cut = statistics.clean(values)
        statistics.update(X, present)
        self._state.cut += cut
        self._state.missing += int(raw.size - np.isfinite(raw).sum())
        return np.where(present, X, statistics.mean), present

    def _score_views(self, X: Array, present: Mask, y: Index) -> None:
        """Test, then train: score the views on samples they have not learnt, and weigh them accordingly."""
        state = self._state
        newest = state.newest
        if newest is None or newest.embedded is None:
            return
        known = y < newest.embedded.classes  # a class seen for the first time could not be predicted
        if not known.any():
            return
        chosen = np.flatnonzero(known)[: self.config.tested]
        y = y[chosen]
        scored = experts.score_views(state, X[chosen], present[chosen], self.config.neighbours)
        experts.count_hits(state, scored, y)
        state.mixture.update(scored.by_expert, y)
        if newest.embedded.classes > 1:
            state.pooling.update(scored.scores, y)
            if state.fresh is not None and scored.fresh:
                state.fresh.pooling.update(scored.fresh, y)
            if state.survivors is not None:
                state.survivors.pooling.update(scored.survived, y)
        own = scored.distances[-1][np.arange(len(y)), y]
        own = own[np.isfinite(own)]
        if len(own):
            typical = float(np.median(own))
            state.typical_distance += (typical - state.typical_distance) * (
                TYPICAL_RATE if state.typical_distance > 0.0 else 1.0
            )

    def _begin_metric(self, fitter: Fitter) -> None:
        """Build the first metric again with every batch until there are enough samples to start learning it."""
        state = self._state
        enough = state.learnt >= self.config.warm_up and len(state.classes) > 1
        if enough and self.config.one_hot:
            category_detection.detect(state, fitter)
        if enough and self.config.arcsinh:
            arcsinh.choose(state, fitter)
        columns = np.arange(len(state.space))
        L = evolution.first_metric(state, columns, fitter)
        evolution.reset_basis(state, L)
        state.views = [View("all", columns, L)]
        if enough:
            state.stage = "steady" if state.upcoming is None else "transforming"

    def _adapt(self, X: Array, y: Index, rows: Index, fitter: Fitter) -> None:
        """One step of the metric; if the next space is known, a T-stage step."""
        state, newest = self._state, self._state.newest
        if newest is None or not 0 < len(newest.columns) == len(state.space) or len(state.classes) < 2:
            return
        wanted = 2 * self.config.replay + max(LEAST_POOL, self.config.pool * len(state.classes))
        others = np.setdiff1d(state.memory.sample(wanted + len(y), state.rng, evolution.trusted(state)), rows)
        others = state.rng.permutation(others)[:wanted]
        evolution.step(
            state,
            np.concatenate([X, state.memory.samples(others, newest.columns)]),
            np.concatenate([y, state.memory.y[others]]),
            len(y) + 2 * self.config.replay,
            fitter,
            transform=self.config.transform,
        )
        self._plan_next_step(stepped=fitter.taken > 0)

    def _is_due(self, labels: int) -> bool:
        """Whether to make a step with this batch: enough labels have come, and no pause is running."""
        state = self._state
        state.unstepped += labels
        if state.unstepped < STEP_AFTER:
            return False
        state.unstepped = 0
        if state.resting:
            state.resting -= 1
            return False
        return True

    def _plan_next_step(self, *, stepped: bool) -> None:
        """A step with every batch at first, fewer later; pauses double while no step is taken."""
        state, longest = self._state, self.config.longest_rest
        usual = min(int(np.log2(1 + state.since / (MATURE * self.config.batch))), longest)
        state.rest = usual if stepped else min(max(2 * state.rest + 1, usual), longest)
        state.resting = state.rest

    def _inherit(self, fitter: Fitter, *, again: bool) -> None:
        """Build the joint view once there are donors, renew its imputed values, drop the survivors' view at the end.

        A view that was built with few donors is rebuilt (`again`) when there are more.
        """
        state = self._state
        if len(state.views) == 1 or again:
            evolution.form_joint_view(state, fitter, self.config)
        else:
            evolution.impute_memory(state)
        if len(state.views) == 2:
            new = state.encoder.one_per_category(state.new_columns())
            real = len(inheriting.donors_of(state.memory.observed, new)) / len(state.memory)
            if real >= ENOUGH_REAL or state.pooling.shares[0] < NEGLIGIBLE:
                evolution.adopt_joint_view(state, self.config.rank)

    # -- evolve ----------------------------------------------------------------------------------------------------

    def announce(self, space: FeatureSpace) -> None:
        """The next space is known, samples of the current one still come: starts the T-stage."""
        self._predictor = None
        evolution.announce(self._state, self._encoded(space))

    def evolve(self, space: FeatureSpace) -> Evolution:
        """From now on samples are of `space`. Runs the rest of the T-stage; the I-stage follows with labels."""
        self._predictor = None
        fitter = self._fitter()
        state = self._state
        report = evolution.evolve(state, self._encoded(space), self.config, fitter)
        if report.warm and report.change.is_evolution:
            state.fit(state.linear)
            survivors.begin(state)
            if self.config.fresh:
                fresh.begin(state)
        self._refresh_views()
        state.refused += fitter.refused
        state.taken += fitter.taken
        return report

    def react(self, how: drift.Reaction) -> None:
        """Concept drift was detected while the space stayed the same. Predictions continue."""
        self._predictor = None
        drift.react(self._state, how, self.config.neighbours)

    # -- explain ---------------------------------------------------------------------------------------------------

    def explain(self) -> Explanation:
        """Weights of features, weight and accuracy of views, the last evolution, counts of refused updates."""
        state = self._state
        counts = np.bincount(state.memory.y, minlength=len(state.classes)).tolist()
        return Explanation(
            stage=state.stage,
            revision=state.revision,
            weights=self._feature_weights(),
            linear_weights=self._linear_weights(),
            views=experts.report(state),
            evolution=state.evolution,
            exemplars=dict(zip(state.classes, counts, strict=True)),
            steps_taken=state.taken,
            updates_refused=state.refused,
            values_cut=state.cut,
            values_missing=state.missing,
        )

    def _feature_weights(self) -> dict[str, float]:
        """Share of each feature in the distances of typical samples: column norm times standard deviation."""
        view = self._state.newest
        if view is None:
            return {}
        share = (view.L**2).sum(axis=0) * self._state.statistics.deviation()[view.columns] ** 2
        total = max(float(share.sum()), TINY)
        names = self._state.space.names
        return fold_weights({names[c]: float(s) / total for c, s in zip(view.columns, share, strict=True)})

    def _linear_weights(self) -> dict[str, float]:
        linear, names = self._state.linear, self._state.space.names
        return {} if linear is None else fold_weights(dict(zip(names, linear.shares().tolist(), strict=True)))

    # -- snapshots -------------------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """The whole learner as versioned bytes."""
        return snapshot.dump(self._state, self.config)

    def start_log(self) -> bytes:
        """A full snapshot; `changes` then gives the deltas after it."""
        data = self.snapshot()
        self._log.start(self._state, self.config, data)
        return data

    def changes(self) -> bytes | None:
        """The delta since the last `start_log` or `changes`; None if a new log must be started."""
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

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _fitter(self) -> Fitter:
        config = self.config
        steps = (*config.steps, drift.WIDER) if self._state.widened else config.steps
        return Fitter(config.objective, steps, config.neighbours, config.rank)

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

    def _class_numbers(self, y: Sequence[Label]) -> Index:
        classes = self._state.classes
        number = {label: i for i, label in enumerate(classes)}
        plain = [label.item() if isinstance(label, np.generic) else label for label in y]
        for label in plain:
            if label not in number:
                number[label] = len(classes)
                classes.append(label)
        return np.array([number[label] for label in plain], dtype=np.intp)


def _doubled(before: int, now: int) -> bool:
    """Whether the samples of a space have just become FIRST_AGAIN, or twice, four times, ... as many."""
    return now // FIRST_AGAIN > 0 and (now // FIRST_AGAIN).bit_length() > (before // FIRST_AGAIN).bit_length()


def _passed(before: int, now: int, every: int) -> bool:
    """Whether a count has just passed a multiple of `every`."""
    return now // every > before // every
