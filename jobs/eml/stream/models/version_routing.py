"""Which model of a key serves a reading, and when the key changes its current version.

`key_model` asks for one piece of readings after the other (`route`) and says when it was served (`served`); every
decision about versions is made here, at a record, by what came before it in its key. Data are in `key_state`; what
comes from outside the key is checked by `announcements`. Each change is an event. Knows no bytes and no labels topic.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eml.core import EvolvingMetricLearner, FeatureSpace
from eml.settings import Settings
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.keys import KeyName
from eml.stream.models.announcements import Announcements
from eml.stream.models.class_limit import ClassLimit
from eml.stream.models.event_log import EventLog, report_of_return
from eml.stream.models.first_model import first_model
from eml.stream.models.key_state import KeyState
from eml.stream.models.reading_batch import NewestSchema, ReadingBatch, Results
from eml.stream.models.scoring import Scoring
from eml.stream.models.version_model import Version, VersionModel
from eml.stream.models.version_models import NO_SCHEMA, VersionModels
from eml.stream.models.warm_start import WarmStartModels
from eml.stream.output.events import RESUMED
from eml.stream.wire import SchemaId


@dataclass(frozen=True, slots=True)
class Piece:
    """Readings in a row that one model serves as it is."""

    model: VersionModel
    rows: slice
    late: bool  # of an older version than the key is on


class VersionRouting:
    """Decides which model serves a reading."""

    def __init__(
        self, key: KeyName, settings: Settings, state: KeyState, scoring: Scoring, warm_start: WarmStartModels | None
    ) -> None:
        learning = settings.learning
        self._key = key
        self._state = state
        self._scoring = scoring
        self._learning = learning
        self._learner_config = settings.learner if learning.cold_restart else replace(settings.learner, fresh=False)
        self._warm_start = warm_start
        self._class_limit = ClassLimit(state, settings.limits.classes)
        self._announcements = Announcements(key, state, self._warm_start)

    # -- called by the key's model ---------------------------------------------------------------------------------

    def route(self, batch: ReadingBatch, start: int, newest: NewestSchema | None, results: Results) -> Piece:
        """The model that serves the readings from `start` on, and how many of them.

        Changes the current version first, where the reading asks for it.
        """
        schema, learning = batch.schema, self._learning
        was_current = start > 0 and self._state.is_current(schema.id)
        model = self._model_for(batch, start, results)
        if not was_current and self._state.is_current(schema.id):
            self._announcements.check(schema, newest, self._log(batch, start, results))
        model.wake()
        model.learn_if_due(batch.times_ms[start], learning)
        rest = slice(start, self._class_limit.first_refused(batch, start, start + self._reach(batch, start)))
        labelled = [row - start for row in batch.labelled_in(rest)]
        served = model.readings_until_learning(labelled, batch.times_ms[rest], learning)
        return Piece(model, slice(start, start + served), late=not self._state.is_current(schema.id))

    def unchanged_model(
        self, schema: ReadingSchema, timestamps_ms: Sequence[int], newest: NewestSchema | None
    ) -> VersionModel | None:
        """The model that serves unlabelled readings which change nothing; None where they may change something."""
        models = self._state.models
        if models is None or schema.id != models.current.version.id or models.late_count:
            return None
        if not self._announcements.nothing_new(schema, newest):
            return None
        for timestamp_ms in timestamps_ms:
            now = self._state.clock.at(timestamp_ms)
            if now is None or models.current.is_due(now, self._learning):
                return None
        return models.current

    def served(self, batch: ReadingBatch, piece: Piece) -> None:
        """A piece was served: count late readings in a row, and note when a model was last needed."""
        state, models, schema_id = self._state, self._state.version_models, batch.schema.id
        if state.is_current(schema_id):
            state.window_changed |= models.late_count > 0
            models.late_schema, models.late_count = NO_SCHEMA, 0
            return
        count = piece.rows.stop - piece.rows.start
        models.late_schema, models.late_count = schema_id, models.late_in_a_row(schema_id) + count
        own = models.kept(schema_id, batch.times_ms[piece.rows.start], self._learning)
        if own is not None:
            own.last_ms = max(own.last_ms, *batch.times_ms[piece.rows])
        state.window_changed = True

    # -- which model -----------------------------------------------------------------------------------------------

    def _model_for(self, batch: ReadingBatch, row: int, results: Results) -> VersionModel:
        """The model of a reading's own version, or the current one where that has none."""
        schema, now, models = batch.schema, batch.times_ms[row], self._state.models
        if models is None:
            return self._begin(schema)
        if schema.id == models.current.version.id:
            return models.current
        if not models.has_left(schema, now, self._learning):
            self._move_to(batch, row, results)
            return models.current
        own = models.kept(schema.id, now, self._learning)
        if self._late_left(schema.id) > 0:
            return own or models.current
        if own is not None:
            self._resume(own, batch, row, results)
        else:
            self._move_to(batch, row, results)
        return models.current

    def _late_left(self, schema_id: SchemaId) -> int:
        """How many more late records of a version come in a row before the key goes back to it."""
        return self._learning.late_records - 1 - self._state.version_models.late_in_a_row(schema_id)

    def _reach(self, batch: ReadingBatch, start: int) -> int:
        """How many readings from `start` on the same model can serve: fewer where the current version may change."""
        schema, models = batch.schema, self._state.version_models
        if self._state.is_current(schema.id):
            return len(batch) - start
        most = min(len(batch) - start, self._late_left(schema.id))
        own = models.kept(schema.id, batch.times_ms[start], self._learning)
        last = batch.times_ms[start] if own is None else max(own.last_ms, batch.times_ms[start])
        for row in range(start + 1, start + most):
            if own is not None and batch.times_ms[row] - last >= self._learning.former_ms:
                return row - start  # it was kept too long by then
            last = max(last, batch.times_ms[row])
        return most

    # -- changes of the current version ----------------------------------------------------------------------------

    def _begin(self, schema: ReadingSchema) -> VersionModel:
        """The first reading of a key."""
        current = VersionModel.with_learner(Version.of(schema), self._new_learner(schema.space))
        self._state.models = VersionModels(current)
        self._state.models.remember(schema.id)
        return current

    def _new_learner(self, space: FeatureSpace) -> EvolvingMetricLearner:
        made = first_model(self._learning.first_model) if self._learning.first_model else None
        copied = made.copy_for(space) if made is not None else None
        return copied or EvolvingMetricLearner(space, self._learner_config, self._learning.seed)

    def _move_to(self, batch: ReadingBatch, row: int, results: Results) -> None:
        """Make a reading's schema the current version: another id or order of columns only, or an evolution."""
        state, schema = self._state, batch.schema
        state.position_changed = state.window_changed = True
        if state.current.space.diff(schema.space).is_evolution:
            self._evolve(batch, row, results)
            return
        current = state.current
        self._announcements.renamed(current, schema)
        current.rename(Version.of(schema), schema.space)
        state.version_models.move_to(current)

    def _evolve(self, batch: ReadingBatch, row: int, results: Results) -> None:
        models, schema, old = self._state.version_models, batch.schema, self._state.current
        learner, stage = old.learner, old.learner.stage
        self._announcements.version_changed()
        old.learn(self._learning)  # what is pending is of the old space
        self._scoring.end_recovery(self._log(batch, row, results))
        if self._warm_start is not None:
            self._warm_start.version_left(self._key, old)
        self._keep(old, batch.times_ms[row])
        report = learner.evolve(schema.space)
        models.move_to(VersionModel.with_learner(Version.of(schema), learner))
        self._log(batch, row, results).evolution(old.version, schema, report, stage)
        self._scoring.begin_recovery(learner)

    def _resume(self, model: VersionModel, batch: ReadingBatch, row: int, results: Results) -> None:
        """Go back to a version whose model was kept."""
        state, old = self._state, self._state.current
        old.learn(self._learning)
        self._scoring.end_recovery(self._log(batch, row, results))
        model.wake()
        state.version_models.move_to(model)
        self._keep(old, batch.times_ms[row])
        state.position_changed = state.window_changed = True
        self._announcements.version_changed()
        state.drift.reset()
        self._log(batch, row, results).change(RESUMED, old.version, report_of_return(old.space, model.space))

    def _keep(self, old: VersionModel, now_ms: int) -> None:
        """Keep the model of a version that is left, as bytes."""
        self._state.version_models.keep(VersionModel(old.version, serialized=old.snapshot()), now_ms, self._learning)
        self._state.others_changed = True

    def _log(self, batch: ReadingBatch, row: int, results: Results) -> EventLog:
        return EventLog(batch.reference(row), self._state.current, results.evolutions)
