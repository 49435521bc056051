"""What a key's records do to its models: `step` predicts every reading, learns from labels, and evolves.

Called by the operator with the records of one model in a micro-batch, by `eml replay` and by tests. Calls
`record_reader` (what can be read), `version_routing` (which model serves a reading), the label join and `scoring`.
Knows no Flink; of topics only which one labels come from. A "key" is whose model it is: a Kafka key, or what `model.by`
makes of several (then a record's own key is its device). Most of what a fleet sends are good readings of one schema:
the operator has decoded them together, and calls `serve`.

Every decision is made at a record, by what came before it in its key: windows close by count or by the records'
timestamps, evolutions happen at the first record of a newer schema. Where a micro-batch was cut changes nothing. Two
things come from outside the key: an announcement counts from the first micro-batch after it was found, and a warm start
takes the model that is newest by then; the event of each says at which record.
"""

from collections.abc import Sequence

from eml.core import FeatureSpace
from eml.core.arrays import Array
from eml.settings import Settings
from eml.stream.avro.micro_batch import Decode, ReadingColumns, decode
from eml.stream.errors import BadRecordError
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.labels.label_join import LabelJoin
from eml.stream.labels.unlabelled import ReadingSource, UnlabelledReading
from eml.stream.limits import too_many_classes
from eml.stream.models.align_columns import align_columns
from eml.stream.models.class_limit import ClassLimit
from eml.stream.models.drift import DriftDetector
from eml.stream.models.event_log import EventLog
from eml.stream.models.key_state import KeyState
from eml.stream.models.reading_batch import LookUp, NewestSchema, ReadingBatch, Results
from eml.stream.models.record_reader import LabelGroup, RecordReader, dead_letter
from eml.stream.models.recovery import Scores
from eml.stream.models.scoring import Answers, Scoring, late_score_of, score_of
from eml.stream.models.version_routing import Piece, VersionRouting
from eml.stream.models.warm_start import WarmStartModels
from eml.stream.records import Raw, RecordReference

WRONG_KEY = (
    "the label's field 'key' is not the Kafka key that the label was sent with: send a label with the Kafka key of its "
    "reading, and the same in 'key' or nothing"
)


class KeyModel:
    """The models of one key, and the readings and labels that wait for each other."""

    def __init__(self, key: KeyName, settings: Settings, warm_start: WarmStartModels | None = None) -> None:
        learning = settings.learning
        self.key = key
        self.state = KeyState(Scores(learning.recovery_records), DriftDetector(drift_sensitivity(settings)))
        self.join = LabelJoin(learning.labels_kept, learning.label_wait_ms) if settings.kafka.labels_topic else None
        self._learning = learning
        self._writes_scores = bool(settings.kafka.scores_topic)
        self._limits = settings.limits
        self._reader = RecordReader(settings)
        self._class_limit = ClassLimit(self.state, settings.limits.classes)
        self._scoring = Scoring(self.state, learning)
        self._warm_start = warm_start if learning.warm_start else None
        self._routing = VersionRouting(key, settings, self.state, self._scoring, self._warm_start)

    @property
    def nbytes(self) -> int:
        """About what its learners take in memory."""
        return self.state.nbytes

    # -- a micro-batch ---------------------------------------------------------------------------------------------

    def step(
        self, records: Sequence[Raw], look_up: LookUp, newest: NewestSchema | None = None, decode: Decode = decode
    ) -> Results:
        """Predict every reading, learn from the labelled ones, evolve where the schema does."""
        results = Results()
        for group in self._reader.read(records, look_up, decode, results):
            if isinstance(group, ReadingColumns):
                self._serve(self._batch(group), newest, results)
            else:
                self._add_labels(group, results)
        return self._with_counts(results)

    def serve(self, readings: ReadingColumns, newest: NewestSchema | None) -> Results:
        """The same for readings that were decoded before, without an object for each."""
        results = Results()
        if not self._predict_only(readings, newest, results):
            self._serve(self._batch(readings), newest, results)
        return self._with_counts(results)

    def _predict_only(self, readings: ReadingColumns, newest: NewestSchema | None, results: Results) -> bool:
        """Predict readings at which nothing else happens, most of what a fleet of slow devices sends, in less time."""
        if self.join is not None or any(label is not None for label in readings.names.labels):
            return False
        model = self._routing.unchanged_model(readings.schema, readings.names.timestamps_ms, newest)
        if model is None:
            return False
        results.predictions.add(model.predict(readings, slice(0, len(readings)), late=False))
        return True

    def _with_counts(self, results: Results) -> Results:
        if self.join is not None:
            results.labels = self.join.take_counts()
        return results

    def device_of(self, kafka_key: KafkaKey) -> KeyName:
        """The name of a record's device, where the model has many; empty: that of the model."""
        return self._reader.device_of(kafka_key)

    def drop_windows(self) -> int:
        """Forget the labelled readings that wait to be learnt; how many they were."""
        return self.state.drop_windows()

    # -- readings of one schema ------------------------------------------------------------------------------------

    def _batch(self, readings: ReadingColumns) -> ReadingBatch:
        """Readings with what is known of their labels so far."""
        labels, unlabelled = readings.names.labels, dict[int, UnlabelledReading]()
        if self.join is not None:
            labels = self._find_labels(readings, unlabelled, self.join)
        timestamps_ms, advance = readings.names.timestamps_ms, self.state.advance_clock
        times_ms = [
            advance(timestamp_ms, labelled=label is not None)
            for timestamp_ms, label in zip(timestamps_ms, labels, strict=True)
        ]
        return ReadingBatch(readings, labels, unlabelled, times_ms)

    def _find_labels(
        self, readings: ReadingColumns, unlabelled: dict[int, UnlabelledReading], join: LabelJoin
    ) -> list[str | None]:
        """Labels that came inside their readings, or before them; readings without one wait for it (`unlabelled`)."""
        schema, names, labels = readings.schema, readings.names, list(readings.names.labels)
        source = ReadingSource(names.topic, schema.id, schema.version, schema.space)
        for row, (event_id, label) in enumerate(zip(names.event_ids, names.labels, strict=True)):
            if event_id is None:
                continue
            event, sent_ms = _event(names.devices[row], event_id), names.timestamps_ms[row]
            if label is not None:
                labels[row] = label if join.add_labelled(event, label, sent_ms) else None
                continue
            values = readings.values[row].copy()
            place = names.event_times[row], names.partitions[row], names.offsets[row], sent_ms
            reading = UnlabelledReading(event, *place, source, values)
            labels[row] = join.add_reading(reading)
            unlabelled[row] = reading  # for what will be predicted of it
        return labels

    def _serve(self, batch: ReadingBatch, newest: NewestSchema | None, results: Results) -> None:
        """Serve readings in pieces between which no model that predicts changes."""
        start = 0
        while start < len(batch):
            if not self._class_limit.takes(batch.labels[start]):
                error = too_many_classes(self._limits)
                results.dead_letters.append(dead_letter(batch.readings.raw(start), error, batch.schema.id))
                start += 1
                continue
            piece = self._routing.route(batch, start, newest, results)
            rows = batch.labelled_in(piece.rows)
            self._predict(batch, piece, rows, results)
            if rows:
                labels = [label for label in batch.labels[piece.rows] if label is not None]
                self._teach(batch.readings.values[rows], batch.schema.space, labels, [batch.times_ms[r] for r in rows])
            self._routing.served(batch, piece)
            start = piece.rows.stop

    def _predict(self, batch: ReadingBatch, piece: Piece, labelled: list[int], results: Results) -> None:
        """Predict, and score where the label is known."""
        said = piece.model.predict(batch.readings, piece.rows, late=piece.late)
        results.predictions.add(said)
        for row in batch.judged(piece.rows, labelled):
            unlabelled, label = batch.unlabelled.get(row), batch.labels[row]
            at = row - piece.rows.start
            answers = self._scoring.answers(piece.model, said, at)
            if unlabelled is not None:
                unlabelled.predicted, unlabelled.fresh, unlabelled.compared = answers
                unlabelled.revision = said.model_revision
            if label is not None:
                log = EventLog(batch.reference(row), self.state.current, results.evolutions)
                self._scoring.score(answers, label, batch.schema.id, log, results)
                if self._writes_scores:
                    results.scores.append(score_of(said, at, answers, label))

    # -- labels ----------------------------------------------------------------------------------------------------

    def _teach(self, values: Array, space: FeatureSpace, labels: Sequence[str], times_ms: Sequence[int]) -> None:
        """Labelled readings teach every model the features that its version shares with theirs."""
        models = self.state.version_models
        for model in models.taught():
            model.teach(align_columns(values, space, model.space), labels, times_ms, self._learning)
        if models.expire(max(times_ms), self._learning):
            self.state.window_changed = self.state.others_changed = True
        if self._warm_start is not None and models.current.learner_changed:
            self._warm_start.offer(self.key, models.current)

    def _add_labels(self, group: LabelGroup, results: Results) -> None:
        """Labels that came on their own topic: each teaches the reading it belongs to, or waits for it."""
        decoded = group.decoded
        rows = zip(group.raws, decoded.event_ids, decoded.labels, decoded.kafka_keys, strict=True)
        for raw, event_id, label, own_key in rows:
            if event_id is None or label is None:
                error = BadRecordError("no-label", "a label names its event and its class: neither may be null")
            elif own_key is not None and own_key != (raw.device or self.key):
                error = BadRecordError("wrong-key", WRONG_KEY)
            elif not self._class_limit.takes(label):
                error = too_many_classes(self._limits)
            else:
                self._add_label(raw, event_id, label, results)
                continue
            results.dead_letters.append(dead_letter(raw, error, group.schema.id))

    def _add_label(self, raw: Raw, event_id: str, label: str, results: Results) -> None:
        event, sent_ms = _event(raw.device, event_id), raw.position.timestamp_ms
        reading = self.join.add_label(event, label, sent_ms) if self.join is not None else None
        if reading is None:
            return
        log = EventLog(RecordReference(raw.position, None), self.state.current, results.evolutions)
        answers = Answers(reading.predicted, reading.fresh, reading.compared)
        self._scoring.score(answers, label, reading.source.schema_id, log, results)
        if self._writes_scores:
            results.scores.append(late_score_of(reading, label, event_id, raw))
        now = self.state.advance_clock(sent_ms, labelled=True)
        self._teach(reading.values[None], reading.source.space, [label], [now])


def drift_sensitivity(settings: Settings) -> float:
    """ADWIN's delta; 0 where drift is not looked for."""
    return settings.learning.drift_sensitivity if settings.learning.drift != "off" else 0.0


def _event(device: KeyName, event_id: str) -> str:
    """An event's name in the model: two devices of one model may give the same name to their events."""
    return f"{device}\0{event_id}" if device else event_id
