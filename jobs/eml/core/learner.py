"""The learner: predicts from the first label on, learns by batches, carries what it knows across evolutions.

The one door to `core`: what happens to a key's records in the stream is calls of these methods.

    predict_one, predict_many   score samples of the current space; changes nothing
    learn                       a batch of labelled samples
    announce                    the next space is known while the old one flows: the T-stage starts
    evolve                      from now on samples are of the next space: the I-stage starts
    react                       errors have risen while the space stayed: make room for what is new
    explain                     why it predicts as it does
    snapshot, restore           to versioned bytes and back, exactly
    start_log, changes          a snapshot, and what changed since: few bytes where little was learnt

Deterministic for a seed; memory and time are bounded by the settings, however long the stream.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from eml.core import (
    evolution,
    experts,
    fresh,
    inheriting,
    levels,
    predictor,
    reaction,
    rounding,
    snapshot,
    squashing,
    survivors,
)
from eml.core.arrays import TINY, Array, Index, Mask
from eml.core.changes import Log, apply
from eml.core.config import LearnerConfig
from eml.core.errors import FeatureError
from eml.core.features import FeatureSpace
from eml.core.fitting import Fitter
from eml.core.predictor import Predictor
from eml.core.report import NO_LABELS, Evolution, Explanation, Label, Prediction, Predictions, Stage
from eml.core.sealed import checksum
from eml.core.spelling import Spelling, fold_weights
from eml.core.state import State
from eml.core.views import View

USUAL_RATE = 0.1  # how fast the typical distance follows
SETTLED = 0.8  # share of exemplars with the new features at which the survivors' view retires
RIPE = 16  # batches after which a step comes with every second one
LEAST_POOL = 320  # exemplars to draw triplets from, for few classes
FIRST_AGAIN = 64  # samples of a new space after which its joint view is begun anew, and at every doubling from there
STEP_AFTER = 8  # labelled samples between two steps at least, however small the batches
GRAINS_AFTER = 256  # labelled samples after which it is asked anew how fine the memory need be
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
        self._log = Log()
        self._predictor: Predictor | None = None  # laid out by the first prediction after a change

    @property
    def space(self) -> FeatureSpace:
        """The features a sample must have now, in this order."""
        return self._state.spelling.outer

    @property
    def stage(self) -> Stage:
        """Where the learner stands between two evolutions."""
        return self._state.stage

    @property
    def upcoming(self) -> FeatureSpace | None:
        """The space that was announced, while it has not come."""
        upcoming = self._state.upcoming
        return None if upcoming is None else Spelling(upcoming.space).outer

    @property
    def classes(self) -> tuple[Label, ...]:
        """Labels seen so far."""
        return tuple(self._state.classes)

    @property
    def revision(self) -> int:
        """Batches learnt so far."""
        return self._state.revision

    @property
    def has_fresh_start(self) -> bool:
        """Whether one is kept beside what was carried over the last evolution."""
        return self._state.fresh is not None

    @property
    def age(self) -> int:
        """Labelled samples learnt since the last evolution."""
        return self._state.since

    # -- predict ---------------------------------------------------------------------------------------------------

    def predict_many(self, X: ArrayLike) -> Predictions:
        """Predictions for samples (n, d), NaN where a value is missing; no row's result depends on the others."""
        state, values = self._state, self._matrix(X)
        if not state.views:
            n = len(values)
            return Predictions([None] * n, (), np.zeros((n, 0)), np.zeros(n), np.full(n, np.inf))
        answer = self._answer(values)
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
        state, values = self._state, self._matrix(np.asarray(x, dtype=np.float64)[None])
        if not state.views:
            return Prediction(None, {}, 0.0, float("inf"), NO_LABELS)
        *scores, margin, novelty, best, _ = self._answer(values)[0].tolist()
        classes = state.classes
        return Prediction(classes[int(best)], dict(zip(classes, scores, strict=True)), margin, novelty)

    def _answer(self, values: Array) -> Array:
        """Scores, margin, novelty, best class and the fresh start's (n, C + 4), compiled where that is possible."""
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
        self._spell_out(raw, fitter)
        y = self._numbers(labels)  # from here on there are new classes, which no view knows yet
        X, present = self._take_in(raw)
        self._test(X, present, y)
        rows = state.memory.add(X, present, y, state.rng, evolution.outdated(state))
        state.learnt += len(y)
        state.since += len(y)
        state.revision += 1
        if state.stage == "initial":
            self._begin(fitter)
        else:
            if state.stage == "inheriting" and self.config.inherit:
                self._inherit(fitter, again=_doubled(state.since - len(y), state.since))
                X, _, _ = state.statistics.clean(state.spelling.spell(raw))  # new features may have been spelled out
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
        if state.stage in {"steady", "transforming"} and _passed(state.learnt - len(y), state.learnt, GRAINS_AFTER):
            rounding.lay_grains(state)
        self._settle_views()

    def _settle_views(self) -> None:
        """Embed the memory anew, and have the experts that there are now."""
        self._state.refresh()
        self._state.mixture.seat(experts.entries(self._state))

    def _spell_out(self, raw: Array, fitter: Fitter) -> None:
        """Columns for new levels; and whenever the samples have doubled, ask anew which features are codes.

        Then a fresh metric is on offer, too, which knows all symbols of categories that came since the last one.
        """
        state = self._state
        levels.meet(state, raw)
        if state.stage not in {"steady", "transforming"} or not _doubled(state.learnt, state.learnt + len(raw)):
            return
        if (self.config.spell and levels.choose(state, fitter)) or state.spelling.symbols:
            evolution.begin_anew(state, fitter)
            state.refresh()

    def _take_in(self, raw: Array) -> tuple[Array, Mask]:
        statistics, values = self._state.statistics, self._state.spelling.spell(raw)
        statistics.settle(values)
        X, present, cut = statistics.clean(values)
        statistics.update(X, present)
        self._state.cut += cut
        self._state.missing += int(raw.size - np.isfinite(raw).sum())
        return np.where(present, X, statistics.mean), present

    def _test(self, X: Array, present: Mask, y: Index) -> None:
        """Test, then train: score the views on samples they have not learnt, and weigh them by it."""
        state = self._state
        newest = state.newest
        if newest is None or newest.embedded is None:
            return
        known = y < newest.embedded.classes  # a class seen for the first time could not be predicted
        if not known.any():
            return
        chosen = np.flatnonzero(known)[: self.config.tested]
        y = y[chosen]
        heard = experts.hear(state, X[chosen], present[chosen], self.config.neighbours)
        experts.count(state, heard, y)
        state.mixture.update(heard.opinions, y)
        if newest.embedded.classes > 1:
            state.pooling.update(heard.scores, y)
            if state.fresh is not None and heard.fresh:
                state.fresh.pooling.update(heard.fresh, y)
            if state.survivors is not None:
                state.survivors.pooling.update(heard.survived, y)
        own = heard.distances[-1][np.arange(len(y)), y]
        own = own[np.isfinite(own)]
        if len(own):
            typical = float(np.median(own))
            state.usual += (typical - state.usual) * (USUAL_RATE if state.usual > 0.0 else 1.0)

    def _begin(self, fitter: Fitter) -> None:
        """Lay the first metric anew with every batch until there is enough to start learning it."""
        state = self._state
        enough = state.learnt >= self.config.warm_up and len(state.classes) > 1
        if enough and self.config.spell:
            levels.choose(state, fitter)
        if enough and self.config.squash:
            squashing.choose(state, fitter)
        columns = np.arange(len(state.space))
        L = evolution.first_metric(state, columns, fitter)
        evolution.begin_basis(state, L)
        state.views = [View("all", columns, L)]
        if enough:
            state.stage = "steady" if state.upcoming is None else "transforming"

    def _adapt(self, X: Array, y: Index, rows: Index, fitter: Fitter) -> None:
        """A step of the metric: own hinges, and with the next space known the T-stage's as well."""
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
        self._rest(stepped=fitter.taken > 0)

    def _is_due(self, labels: int) -> bool:
        """Whether this batch is one to step with: not one of a few labels, and none that rests."""
        state = self._state
        state.unstepped += labels
        if state.unstepped < STEP_AFTER:
            return False
        state.unstepped = 0
        if state.resting:
            state.resting -= 1
            return False
        return True

    def _rest(self, *, stepped: bool) -> None:
        """Steps come with every batch at first and more seldom later; rests double while steps are turned down."""
        state, longest = self._state, self.config.longest_rest
        usual = min(int(np.log2(1 + state.since / (RIPE * self.config.batch))), longest)
        state.rest = usual if stepped else min(max(2 * state.rest + 1, usual), longest)
        state.resting = state.rest

    def _inherit(self, fitter: Fitter, *, again: bool) -> None:
        """Form the joint view once there are donors, keep its estimates fresh, retire the survivors' view.

        A view begun with a handful of donors is begun anew (`again`) as they become more.
        """
        state = self._state
        if len(state.views) == 1 or again:
            evolution.form_joint_view(state, fitter, self.config)
        else:
            evolution.complete_memory(state)
        if len(state.views) == 2:
            new = state.spelling.one_each(state.new_columns())
            real = len(inheriting.donors_of(state.memory.observed, new)) / len(state.memory)
            if real >= SETTLED or state.pooling.shares[0] < NEGLIGIBLE:
                evolution.settle(state, self.config.rank)

    # -- evolve ----------------------------------------------------------------------------------------------------

    def announce(self, space: FeatureSpace) -> None:
        """The next space is known; samples of the current one still come. Starts the T-stage."""
        self._predictor = None
        evolution.announce(self._state, self._inner(space))

    def evolve(self, space: FeatureSpace) -> Evolution:
        """From now on samples are of `space`. Runs what is left of the T-stage; the I-stage follows with labels."""
        self._predictor = None
        fitter = self._fitter()
        state = self._state
        report = evolution.evolve(state, self._inner(space), self.config, fitter)
        if report.warm and report.change.is_evolution:
            state.fit(state.linear)
            survivors.begin(state)
            if self.config.fresh:
                fresh.begin(state)
        self._settle_views()
        state.refused += fitter.refused
        state.taken += fitter.taken
        return report

    def react(self, how: reaction.Reaction) -> None:
        """A drift was found: errors have risen while the space stayed as it is. Predictions go on at once."""
        self._predictor = None
        reaction.react(self._state, how, self.config.neighbours)

    # -- explain ---------------------------------------------------------------------------------------------------

    def explain(self) -> Explanation:
        """Which features count, which views are right, what the survivors took over, what was refused."""
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

    # -- keep ------------------------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """The whole learner as versioned plain bytes."""
        return snapshot.dump(self._state, self.config)

    def start_log(self) -> bytes:
        """A snapshot that `changes` go on from."""
        data = self.snapshot()
        self._log.start(self._state, self.config, data)
        return data

    def changes(self) -> bytes | None:
        """What changed since the last `start_log` or `changes`, in few bytes; None where a new log must be started."""
        return self._log.take(self._state, self.config)

    @classmethod
    def restore(cls, data: bytes, changes: Iterable[bytes] = ()) -> "EvolvingMetricLearner":
        """The learner a snapshot was taken of, and what changed after it: same predictions, same future, bit for bit.

        Its log goes on after the last of the changes.
        """
        header, arrays = snapshot.read(data)
        log = Log(apply(header, arrays, checksum(data), changes))
        state, config = snapshot.build(header, arrays)
        log.go_on(state, config)
        learner = cls(state.space, config)
        learner._state, learner._log = state, log
        return learner

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _fitter(self) -> Fitter:
        config = self.config
        steps = (*config.steps, reaction.WIDER) if self._state.widened else config.steps
        return Fitter(config.objective, steps, config.neighbours, config.rank)

    def _inner(self, space: FeatureSpace) -> FeatureSpace:
        return self._state.spelling.towards(space, self._state.attic)

    def _matrix(self, X: ArrayLike) -> Array:
        values = np.asarray(X, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.space):
            raise FeatureError(
                f"samples must be a table with {len(self.space)} columns ({', '.join(self.space.names[:5])}"
                f"{', ...' if len(self.space) > 5 else ''}), not of shape {values.shape}"
            )
        return values

    def _numbers(self, y: Sequence[Label]) -> Index:
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
