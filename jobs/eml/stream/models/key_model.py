"""What a key's records do to its models: the one place that decides between predict, learn and evolve.

Called by the operator with a micro-batch of one model's records, and by tests and tools with the same; calls `wire`,
the reading schemas, `moves` (which model serves), `labels` (which reading a label belongs to) and the learners. Knows
no Flink; of topics only which one labels come from. A "key" is whose model it is: a Kafka key, or what `model.by`
makes of several (then a record's own key is its device).

Every decision is made at a record, by what came before it in its key: windows close by count or by the records'
timestamps, evolutions happen at the first record of a newer schema. Where a micro-batch was cut changes nothing. Two
things come from outside the key: an announcement counts from the first micro-batch that hears of it, and a warm start
takes the model that is newest by then; the event of each says at which record.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import cast

from eml.core import FeatureSpace
from eml.core.arrays import Array
from eml.settings import Settings
from eml.stream.avro.batch_decoding import Decode, decode
from eml.stream.avro.reading_schema import Decoded, ReadingSchema
from eml.stream.errors import BadRecordError, RegistryUnavailableError
from eml.stream.keys import ReadKey, names_of
from eml.stream.labels.label_join import LabelJoin
from eml.stream.labels.unlabelled import Pending
from eml.stream.limits import check_size, text_problem, too_many_classes
from eml.stream.models.align_columns import placed
from eml.stream.models.micro_batch import Framed, LookUp, Newest, Results, Run, scored
from eml.stream.models.version_model import Line
from eml.stream.models.version_routing import Moves
from eml.stream.models.warm_start import Donors
from eml.stream.records import DeadLetter, Moment, Raw
from eml.stream.wire import unframe

WRONG_KEY = (
    "the label's field 'key' is not the Kafka key that the label was sent with: send a label with the Kafka key of its "
    "reading, and the same in 'key' or nothing"
)


class KeyModel:
    """The models of one key, and the readings and labels that wait for each other."""

    def __init__(self, key: str, settings: Settings, donors: Donors | None = None) -> None:
        self.key = key
        self.moves = Moves(key, settings, donors)
        learning = settings.learning
        labels = settings.kafka.labels_topic
        self.join = LabelJoin(learning.labels_kept, learning.label_wait_ms) if labels else None
        self._labels_topic = labels
        self._learning = learning
        self._limits = settings.limits
        self._counts_tombstones = settings.record.tombstones == "count"
        many = settings.model.by != "key"
        self._device_of = names_of(settings.record.key_format, settings.limits, _no_avro_keys) if many else None

    # -- a micro-batch ---------------------------------------------------------------------------------------------

    def step(
        self, records: Sequence[Raw], look_up: LookUp, newest: Newest | None = None, decode: Decode = decode
    ) -> Results:
        """Predict every reading, learn from the labelled ones, evolve where the schema does."""
        results = Results()
        framed = self._look_up_all(records, look_up, results)
        for _, group in groupby(framed, key=lambda one: (one.schema.id, one.is_label)):
            ones = list(group)
            schema, raws = ones[0].schema, [one.raw for one in ones]
            decoded = decode(schema, raws)
            for row, error in decoded.bad:
                results.dead_letters.append(_dead_letter(raws[row], error, schema.id))
            good = [raws[row] for row in decoded.rows]
            decoded, good = self._of_bounded_texts(schema, decoded, good, results)
            if not good:
                continue
            if ones[0].is_label:
                self._take_answers(schema, decoded, good, results)
            elif not self._serve_unlabelled(schema, decoded, good, newest, results):
                self._serve(self._run(schema, decoded, good), newest, results)
        if self.join is not None:
            results.labels = self.join.take_counts()
        return results

    def drop_windows(self) -> int:
        """Forget the labelled readings that wait to be learnt; how many they were."""
        return self.moves.drop_windows()

    def _look_up_all(self, records: Sequence[Raw], look_up: LookUp, results: Results) -> list[Framed]:
        """The records that can be decoded now; one that must wait makes all behind it wait, to keep their order."""
        framed = []
        for number, raw in enumerate(records):
            if raw.value is None and self._counts_tombstones:
                results.tombstones += 1
                continue
            schema_id = None
            is_label = self.join is not None and raw.position.topic == self._labels_topic
            named = self._device_of is None
            try:
                if self._device_of is not None:
                    raw.device = self._device_of(raw.key)
                    named = True
                check_size(raw, self._limits)
                schema_id = unframe(raw.value)
                schema = look_up(schema_id)
                if is_label:
                    schema.check_label()
                else:
                    schema.check_reading()
                framed.append(Framed(schema, raw, is_label))
            except BadRecordError as error:
                results.dead_letters.append(_dead_letter(raw, error, schema_id, of_key=not named))
            except RegistryUnavailableError as error:
                results.waiting = list(records[number:])
                results.retry_after_ms = error.retry_after_ms
                results.wait_reason = error.reason
                break
        return framed

    def _of_bounded_texts(
        self, schema: ReadingSchema, decoded: Decoded, raws: list[Raw], results: Results
    ) -> tuple[Decoded, list[Raw]]:
        """What was decoded, without the records whose event id or label is too long."""
        texts = zip(decoded.event_ids, decoded.labels, strict=True)
        problems = [text_problem(event_id, label, self._limits) for event_id, label in texts]
        if not any(problems):
            return decoded, raws
        for raw, error in zip(raws, problems, strict=True):
            if error is not None:
                results.dead_letters.append(_dead_letter(raw, error, schema.id))
        good = [row for row, error in enumerate(problems) if error is None]
        return decoded.only(good), [raws[row] for row in good]

    # -- readings of one schema ------------------------------------------------------------------------------------

    def _serve_unlabelled(
        self, schema: ReadingSchema, decoded: Decoded, raws: list[Raw], newest: Newest | None, results: Results
    ) -> bool:
        """Serve readings at which nothing but a prediction happens, which is most of what a fleet sends: a short cut.

        False where something may: then `_serve` decides record by record, with the same predictions.
        """
        if self.join is not None or decoded.labels.count(None) < len(raws):
            return False
        positions = [raw.position for raw in raws]
        line = self.moves.unchanged_by(schema, [position.timestamp_ms for position in positions], newest)
        if line is None:
            return False
        run = Run(schema, decoded, raws, positions, decoded.labels, [], [])
        predictions = line.learner.predict_many(placed(decoded.values, schema.space, line.space))
        results.predictions += scored(run, slice(0, len(raws)), predictions, line.learner, late=False)
        return True

    def _run(self, schema: ReadingSchema, decoded: Decoded, raws: list[Raw]) -> Run:
        """Readings with what is known of their labels so far."""
        positions = [raw.position for raw in raws]
        run = Run(schema, decoded, raws, positions, list(decoded.labels), [None] * len(raws), [])
        if self.join is not None:
            self._find_labels(run, self.join)
        for position, known in zip(run.positions, run.labels, strict=True):
            run.times_ms.append(self.moves.tick(position.timestamp_ms, labelled=known is not None))
        return run

    def _find_labels(self, run: Run, join: LabelJoin) -> None:
        """Labels that came before their readings; readings without one wait for it."""
        schema, decoded = run.schema, run.decoded
        for row, (event_id, label) in enumerate(zip(decoded.event_ids, decoded.labels, strict=True)):
            if event_id is None:
                continue
            event, sent_ms = self._event(run.raws[row], event_id), run.positions[row].timestamp_ms
            if label is not None:
                run.labels[row] = label if join.settle(event, label, sent_ms) else None
                continue
            values = decoded.values[row].copy()
            pending = Pending(event, sent_ms, schema.id, schema.space, values, predicted=None, cold=None)
            run.labels[row] = join.expect(pending)
            run.pending[row] = pending  # for what will be predicted of it

    def _serve(self, run: Run, newest: Newest | None, results: Results) -> None:
        """Serve readings in pieces between which no model that predicts changes."""
        start = 0
        while start < len(run):
            if not self._may_be_class(run.labels[start]):
                results.dead_letters.append(
                    _dead_letter(run.raws[start], too_many_classes(self._limits), run.schema.id)
                )
                start += 1
                continue
            was_current = start > 0 and self.moves.is_current(run.schema)
            line = self.moves.line_for(run, start, results)
            if not was_current:
                self.moves.hear(run, start, newest, results)
            line.learn_if_due(run.time(start), self._learning)
            piece = slice(start, self._piece_end(run, start, line))
            self._predict(run, piece, line, results)
            rows = run.labelled(piece)
            if rows:
                labels = [label for label in run.labels[piece] if label is not None]
                times = [run.time(row) for row in rows]
                self._teach(run.decoded.values[rows], run.schema.space, labels, times)
            self.moves.count(run, piece)
            start = piece.stop

    def _piece_end(self, run: Run, start: int, line: Line) -> int:
        """The first record after `start` before or at which the model that predicts may change."""
        rest = slice(start, self._class_end(run, start, start + self.moves.reach(run, start)))
        labelled = [label is not None for label in run.labels[rest]]
        return start + line.next_change(labelled, run.times(rest), self._learning)

    def _may_be_class(self, label: str | None) -> bool:
        """Whether a label is a class of the key, or may become one."""
        if label is None or self.moves.most_classes() < self._limits.classes:
            return True
        classes = self.moves.classes()
        return label in classes or len(classes) < self._limits.classes

    def _class_end(self, run: Run, start: int, stop: int) -> int:
        """The first reading after `start` and before `stop` whose label would be one class too many; else `stop`."""
        rows = run.labelled(slice(start, stop))
        if self.moves.most_classes() + len(rows) <= self._limits.classes:
            return stop
        classes = self.moves.classes()
        for row in rows:
            classes.add(cast("str", run.labels[row]))
            if row > start and len(classes) > self._limits.classes:
                return row
        return stop

    def _predict(self, run: Run, piece: slice, line: Line, results: Results) -> None:
        """Predict, and count what can be counted now."""
        values = run.decoded.values[piece]
        predictions = line.learner.predict_many(placed(values, run.schema.space, line.space))
        results.predictions += scored(run, piece, predictions, line.learner, late=not self.moves.is_current(run.schema))
        for number, row in enumerate(range(piece.start, piece.stop)):
            pending, label = run.pending[row], run.labels[row]
            if pending is None and label is None:
                continue
            fresh = self.moves.fresh_answer(run.schema, predictions, number)
            said = _text(predictions.labels[number]), _text(fresh)
            if pending is not None:
                pending.predicted, pending.cold = said
            if label is not None:
                self.moves.score(*said, label, run.schema.id, run.moment(row), results)

    # -- labels ----------------------------------------------------------------------------------------------------

    def _event(self, raw: Raw, event_id: str) -> str:
        """An event's name in the model: two devices of one model may give the same name to their events."""
        return f"{raw.device}\0{event_id}" if raw.device else event_id

    def _teach(self, values: Array, space: FeatureSpace, labels: Sequence[str], times: Sequence[int]) -> None:
        """Labelled readings teach every model what its version shares with theirs."""
        for line in self.moves.taught():
            line.teach(placed(values, space, line.space), labels, times, self._learning)
        self.moves.expire(max(times))
        self.moves.offer()

    def _take_answers(self, schema: ReadingSchema, decoded: Decoded, raws: list[Raw], results: Results) -> None:
        """Labels that came on their own topic."""
        named = zip(raws, decoded.event_ids, decoded.labels, decoded.kafka_keys, strict=True)
        for raw, event_id, label, key in named:
            if event_id is None or label is None:
                error = BadRecordError("no-label", "a label names its event and its class: neither may be null")
                results.dead_letters.append(_dead_letter(raw, error, schema.id))
            elif key is not None and key != (raw.device or self.key):
                error = BadRecordError("wrong-key", WRONG_KEY)
                results.dead_letters.append(_dead_letter(raw, error, schema.id))
            elif not self._may_be_class(label):
                results.dead_letters.append(_dead_letter(raw, too_many_classes(self._limits), schema.id))
            elif self.join is not None:
                pending = self.join.answer(self._event(raw, event_id), label, raw.position.timestamp_ms)
                if pending is not None:
                    at = Moment(raw.position, None)
                    self.moves.score(pending.predicted, pending.cold, label, pending.schema_id, at, results)
                    now = self.moves.tick(raw.position.timestamp_ms, labelled=True)
                    self._teach(pending.values[None], pending.space, [label], [now])


def wait_ms(raw: Raw, look_up: LookUp) -> int:
    """How long a record must wait for its schema; 0: it is there, or the record is a bad one."""
    try:
        look_up(unframe(raw.value))
    except BadRecordError:
        return 0
    except RegistryUnavailableError as error:
        return error.retry_after_ms
    return 0


def _dead_letter(raw: Raw, error: BadRecordError, schema_id: int | None, *, of_key: bool = False) -> DeadLetter:
    return DeadLetter(raw, error.reason, type(error).__name__, str(error), schema_id, of_key=of_key)


def _no_avro_keys(schema_id: int) -> ReadKey:
    raise RuntimeError(f"settings with Avro keys (schema {schema_id}) and several keys to a model are refused")


def _text(label: object) -> str | None:
    return None if label is None else str(label)
