"""How well a key's current model does: each prediction whose label is known is scored.

Called by `key_model` with every such prediction, and by `version_routing` at an evolution or a return. Calls `recovery`
(figures after an evolution) and `drift` (the error rate of one version has risen), and logs the events of both. Makes
what the scores topic says of each.
"""

from typing import NamedTuple

from eml.core import EvolvingMetricLearner
from eml.core.predictor import FRESH_BEST
from eml.settings import LearningSettings
from eml.stream.labels.unlabelled import UnlabelledReading
from eml.stream.models.event_log import EventLog
from eml.stream.models.key_state import KeyState
from eml.stream.models.reading_batch import Results
from eml.stream.models.version_model import VersionModel
from eml.stream.output.predictions import PredictedReadings
from eml.stream.output.scores import Score
from eml.stream.records import Raw
from eml.stream.wire import SchemaId


class Answers(NamedTuple):
    """What was predicted of a reading when it came."""

    predicted: str | None
    fresh: str | None  # by the fresh start, while it is compared with
    compared: bool  # whether it is


class Scoring:
    """Scores of one key."""

    def __init__(self, state: KeyState, learning: LearningSettings) -> None:
        self._state = state
        self._cold_restart = learning.cold_restart

    def answers(self, model: VersionModel, said: PredictedReadings, row: int) -> Answers:
        """What a model predicted of one reading, to be scored when its label is known."""
        recovery = self._state.scores.recovery
        if recovery is None or not recovery.compared or not self._state.is_current(said.schema_id):
            return Answers(said.labels[row], None, compared=False)
        return Answers(said.labels[row], self._fresh(model, said, row), compared=True)

    def _fresh(self, model: VersionModel, said: PredictedReadings, row: int) -> str | None:
        """The fresh start's answer; where it has ended, the model's own."""
        learner = model.learner
        if learner.fresh_answers:
            return said.classes[int(said.rows[row][len(said.classes) + FRESH_BEST])]
        return None if self._state.current.learner.has_fresh_start else said.labels[row]

    def score(self, answers: Answers, label: str, schema_id: SchemaId, log: EventLog, results: Results) -> None:
        """A label came: count whether it was predicted, end a recovery that is complete, look for drift."""
        state = self._state
        if answers.predicted is None and state.scores.recovery is None:
            return  # nothing could be predicted, and nothing is compared
        of_current = state.is_current(schema_id)
        right = answers.predicted == label
        results.scored += 1
        results.right += right
        state.window_changed = True
        figures = state.scores.add(right=right, cold=answers.fresh == label, of_newest=of_current)
        if figures is not None:
            log.recovery(figures)
        drift = state.drift.update(not right) if of_current else None
        if drift is not None:
            state.current.drifted = True
            log.drift(drift)

    def begin_recovery(self, learner: EvolvingMetricLearner) -> None:
        """An evolution happened. A cold one is a fresh start itself: there is nothing to compare it with."""
        self._state.scores.begin(compared=self._cold_restart and learner.has_fresh_start)
        self._state.drift.reset()
        self._state.window_changed = True

    def end_recovery(self, log: EventLog) -> None:
        """The current version changes: log the figures so far of a recovery that is not complete."""
        figures = self._state.scores.end()
        if figures is not None:
            log.recovery(figures)


def score_of(said: PredictedReadings, row: int, answers: Answers, label: str) -> Score:
    """How the prediction of a reading turned out whose label is known."""
    names, position = said.names, said.names.position(row)
    return Score(
        event_id=names.event_ids[row],
        event_time=names.event_times[row],
        label=answers.predicted,
        truth=label,
        cold_label=answers.fresh,
        compared=answers.compared,
        schema_id=said.schema_id,
        schema_version=said.schema_version,
        model_revision=said.model_revision,
        position=position,
        known_at=position,
        kafka_key=names.keys[row],
        device=names.devices[row],
    )


def late_score_of(reading: UnlabelledReading, label: str, event_id: str, raw: Raw) -> Score:
    """How the prediction of a reading turned out whose label came later, with its reading's Kafka key."""
    return Score(
        event_id=event_id,
        event_time=reading.event_time,
        label=reading.predicted,
        truth=label,
        cold_label=reading.fresh,
        compared=reading.compared,
        schema_id=reading.source.schema_id,
        schema_version=reading.source.schema_version,
        model_revision=reading.revision,
        position=reading.position,
        known_at=raw.position,
        kafka_key=raw.key,
        device=raw.device,
    )
