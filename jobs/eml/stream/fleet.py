"""What a key's records do to its model: the one place that decides between predict, learn and evolve.

Called by the operator with a micro-batch of one key's records, and by tests and tools with the same; calls `wire`,
the reading schemas and the learner. Knows no Flink and no topic.

Every decision is made at a record, by what came before it in its key: windows close by count or by the records'
timestamps, evolutions happen at the first record of a newer schema. Where a micro-batch was cut changes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from operator import itemgetter

from eml.core import EvolvingMetricLearner
from eml.core.report import NO_LABELS
from eml.settings import Settings
from eml.stream.errors import BadRecordError, RegistryUnavailableError
from eml.stream.packing import pack, unpack
from eml.stream.placing import placed, with_former_names
from eml.stream.records import DeadLetter, Evolved, Raw, Scored
from eml.stream.runs import Results, Run
from eml.stream.schema import ReadingSchema
from eml.stream.window import Window
from eml.stream.wire import HEADER_SIZE, unframe

MAGIC = b"EMLK"
VERSION = 1
LEAST_WINDOW = 8  # labelled records before the first update of a new space: a new model should answer soon
KNOWN_SCHEMAS = 64  # ids a key remembers

LookUp = Callable[[int], ReadingSchema]


@dataclass(frozen=True, slots=True)
class Version:
    """A schema as a key remembers it."""

    id: int
    subject: str
    version: int


class KeyModel:
    """The learner of one key with its window and the schema it is on."""

    def __init__(self, key: str, settings: Settings) -> None:
        self.key = key
        self.window = Window()
        self.changed = False  # since the last dump
        self.window_changed = False
        self._settings = settings
        self._learner: EvolvingMetricLearner | None = None
        self._current = Version(0, "", 0)
        self._known: list[int] = []

    @property
    def exists(self) -> bool:
        """Whether there is a learner: from the first good record on."""
        return self._learner is not None

    # -- a micro-batch ---------------------------------------------------------------------------------------------

    def step(self, records: Sequence[Raw], look_up: LookUp) -> Results:
        """Predict every record, learn from the labelled ones, evolve where the schema does."""
        results = Results()
        framed = self._look_up_all(records, look_up, results)
        for _, run in groupby(framed, key=itemgetter(0)):
            self._serve_schema(list(run), results)
        return results

    def _look_up_all(
        self, records: Sequence[Raw], look_up: LookUp, results: Results
    ) -> list[tuple[int, ReadingSchema, Raw]]:
        """The records that can be decoded now; one that must wait makes all behind it wait, to keep their order."""
        framed = []
        for number, raw in enumerate(records):
            schema_id = None
            try:
                schema_id = unframe(raw.value)
                framed.append((schema_id, look_up(schema_id), raw))
            except BadRecordError as error:
                results.dead_letters.append(self._dead_letter(raw, error, schema_id))
            except RegistryUnavailableError as error:
                results.waiting = list(records[number:])
                results.retry_after_ms = error.retry_after_ms
                break
        return framed

    def _serve_schema(self, run: list[tuple[int, ReadingSchema, Raw]], results: Results) -> None:
        schema, raws = run[0][1], [raw for _, _, raw in run]
        decoded = schema.decode([raw.value or b"" for raw in raws], HEADER_SIZE)
        for row, error in decoded.bad:
            results.dead_letters.append(self._dead_letter(raws[row], error, schema.id))
        self._serve(Run(schema, decoded, [raws[row].position for row in decoded.rows]), results)

    def _dead_letter(self, raw: Raw, error: BadRecordError, schema_id: int | None) -> DeadLetter:
        stage = self._learner.stage if self._learner else "initial"
        return DeadLetter(raw, error.reason, type(error).__name__, str(error), schema_id, stage)

    # -- records of one schema -------------------------------------------------------------------------------------

    def _serve(self, run: Run, results: Results) -> None:
        """Serve readings in pieces between which the model changes."""
        start = 0
        while start < len(run):
            if self._is_due(run.time(start)):
                self._learn()
            late = self._is_late(run.schema)
            if late and self.window.late + 1 >= self._settings.learning.late_records:
                late = False  # too many in a row for stragglers: the fleet went back
            if not late:
                self._move_to(run, start, results)
            piece = slice(start, self._piece_end(run, start, late=late))
            self._predict(run, piece, results, late=late)
            self._count_late(piece.stop - start if late else 0)
            self._take_labels(run, piece)
            start = piece.stop

    def _is_due(self, now_ms: int) -> bool:
        return len(self.window) > 0 and now_ms - self.window.started_ms >= self._settings.learning.window_ms

    def _piece_end(self, run: Run, start: int, *, late: bool) -> int:
        """The first record after `start` before or at which the model may change."""
        settings, end = self._settings.learning, len(run)
        if late:
            end = min(end, start + settings.late_records - 1 - self.window.late)
        room = self._window_size() - len(self.window)
        started = self.window.started_ms if len(self.window) else None
        for row in range(start, end):
            now = run.time(row)
            if row > start and started is not None and now - started >= settings.window_ms:
                return row
            if run.decoded.labels[row] is not None:
                started = now if started is None else started
                room -= 1
                if room == 0:
                    return row + 1
        return end

    def _window_size(self) -> int:
        """Small windows for a new space, growing with what it has seen."""
        full = self._settings.learning.window_records
        return min(full, max(LEAST_WINDOW, self._learner.age if self._learner else 0))

    def _predict(self, run: Run, piece: slice, results: Results, *, late: bool) -> None:
        learner, schema, decoded = self._model(), run.schema, run.decoded
        predictions = learner.predict_many(placed(decoded.values[piece], schema.space, learner.space))
        known = predictions.labels[0] is not None
        classes = [str(label) for label in predictions.classes]
        margins, novelties = predictions.margin.tolist(), predictions.novelty.tolist()
        for i, (label, scores) in enumerate(zip(predictions.labels, predictions.scores.tolist(), strict=True)):
            row = piece.start + i
            results.predictions.append(
                Scored(
                    event_id=decoded.event_ids[row],
                    event_time=decoded.event_times[row],
                    label=str(label) if known else None,
                    reason=None if known else NO_LABELS,
                    scores=dict(zip(classes, scores, strict=True)),
                    margin=margins[i] if known else None,
                    novelty=novelties[i] if isfinite(novelties[i]) else None,
                    stage=learner.stage,
                    schema_id=schema.id,
                    schema_version=schema.version,
                    model_revision=learner.revision,
                    truth=decoded.labels[row],
                    late=late,
                    position=run.positions[row],
                )
            )

    def _take_labels(self, run: Run, piece: slice) -> None:
        labelled = run.labelled(piece)
        if not labelled:
            return
        rows = [row for row, _ in labelled]
        values = placed(run.decoded.values[rows], run.schema.space, self._model().space)
        self.window.add(values, [label for _, label in labelled], run.time(rows[0]))
        self.window_changed = True
        if len(self.window) >= self._window_size():
            self._learn()

    def _count_late(self, count: int) -> None:
        late = self.window.late + count if count else 0
        self.window_changed |= late != self.window.late
        self.window.late = late

    # -- the model -------------------------------------------------------------------------------------------------

    def _model(self) -> EvolvingMetricLearner:
        if self._learner is None:
            raise RuntimeError("a model is made by its key's first reading")
        return self._learner

    def _learn(self) -> None:
        self._model().learn(*self.window.take())
        self.changed = self.window_changed = True

    def _is_late(self, schema: ReadingSchema) -> bool:
        """Of a version that this key has left behind."""
        if self._learner is None or schema.id == self._current.id:
            return False
        older = schema.subject == self._current.subject and schema.version < self._current.version
        return older or schema.id in self._known

    def _move_to(self, run: Run, row: int, results: Results) -> None:
        """Put the model on a reading's schema: nothing to do, a first model, a move of columns, or an evolution."""
        schema = run.schema
        if schema.id == self._current.id:
            return
        old, self._current = self._current, Version(schema.id, schema.subject, schema.version)
        self._known = [*(i for i in self._known if i != schema.id), schema.id][-KNOWN_SCHEMAS:]
        self.changed = True
        if self._learner is None:
            self._learner = EvolvingMetricLearner(schema.space, self._settings.learner, self._settings.learning.seed)
            return
        if self._learner.space.names == schema.space.names:
            return
        if len(self.window):
            self._learn()  # what is pending is of the old space
        stage = self._learner.stage
        report = self._learner.evolve(with_former_names(schema.space, self._learner.space))
        if report.change.is_evolution:
            results.evolutions.append(
                Evolved(
                    event_time=run.decoded.event_times[row],
                    old_schema_id=old.id,
                    old_version=old.version,
                    old_subject=old.subject,
                    new_schema_id=schema.id,
                    new_version=schema.version,
                    new_subject=schema.subject,
                    report=report,
                    stage=stage,
                    batches=self._learner.revision,
                    position=run.positions[row],
                )
            )

    # -- state -----------------------------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """All but the window as versioned plain bytes."""
        current = self._current
        self.changed = False
        described = {"current": [current.id, current.subject, current.version], "known": self._known}
        return pack(MAGIC, VERSION, described, self._model().snapshot())

    def dump_window(self) -> bytes:
        """The window as versioned plain bytes."""
        self.window_changed = False
        return self.window.dump()

    @classmethod
    def load(cls, key: str, settings: Settings, model: bytes | None, window: bytes | None) -> "KeyModel":
        """The model that was dumped; a new one where nothing was."""
        loaded = cls(key, settings)
        if model is None:
            return loaded
        described, snapshot = unpack(MAGIC, VERSION, model, f"the model of key {key!r}")
        loaded._current, loaded._known = Version(*described["current"]), described["known"]
        loaded._learner = EvolvingMetricLearner.restore(snapshot)
        loaded.window = Window.load(window) if window is not None else Window()
        return loaded
