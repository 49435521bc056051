"""How a key moves between schema versions: which model serves a reading, evolutions, returns, what is announced.

Called by `fleet` at readings and scores; calls `lines`, which keeps the models, and the learners. Every move is told
as an event on the evolution topic. Knows no bytes and no labels topic.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from eml.core import EvolvingMetricLearner, FeatureSpace, Label, Predictions
from eml.settings import Settings
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.key_clock import Clock
from eml.stream.models.drift import DriftDetector
from eml.stream.models.event_log import Teller, announcement, return_of
from eml.stream.models.first_model import first_model
from eml.stream.models.micro_batch import Newest, Results, Run
from eml.stream.models.recovery import Scores
from eml.stream.models.version_model import Line, Version, version_of
from eml.stream.models.version_models import Lines
from eml.stream.models.warm_start import Donors
from eml.stream.records import ANNOUNCED, RESUMED, WITHDRAWN, Moment


class Moves:
    """The lines of a key, and how well its newest one does."""

    def __init__(self, key: str, settings: Settings, donors: Donors | None) -> None:
        learning = settings.learning
        self.lines: Lines | None = None
        self.announced: Version | None = None  # what the head prepares for
        self.scores = Scores(learning.recovery_records)
        self.sensitivity = learning.drift_sensitivity if learning.drift != "off" else 0.0
        self.drift = DriftDetector(self.sensitivity)
        self.clock = Clock()
        self.changed = False  # what is kept with the head's learner
        self.small_changed = False  # what is kept with the windows
        self.others_changed = False
        self._key = key
        self._learner_config = settings.learner if learning.cold_restart else replace(settings.learner, fresh=False)
        self._learning = learning
        self._donors = donors if learning.warm_start else None
        self._seen: tuple[ReadingSchema, ReadingSchema | None] | None = None  # what `hear` last looked at, in vain

    # -- which model -----------------------------------------------------------------------------------------------

    def line_for(self, run: Run, row: int, results: Results) -> Line:
        """The line that serves a reading: its version's own, or the head where that has none. Moves the head."""
        schema, now = run.schema, run.time(row)
        lines = self.lines
        if lines is None:
            return self._begin(schema)
        if schema.id == lines.head.version.id:
            return lines.head
        if not lines.has_left(schema, now, self._learning):
            self._evolve(run, row, results)
            return lines.head
        own = lines.of(schema.id, now, self._learning)
        if lines.in_a_row(schema.id) + 1 < self._learning.late_records:
            return own or lines.head
        if own is not None:
            self._resume(own, run, row, results)
        else:
            self._evolve(run, row, results)
        return lines.head

    def unchanged_by(self, schema: ReadingSchema, timestamps_ms: Sequence[int], newest: Newest | None) -> Line | None:
        """The line that serves unlabelled readings which change nothing; None where they may."""
        lines, seen = self.lines, self._seen
        if lines is None or seen is None or seen[0] is not schema or schema.id != lines.head.version.id:
            return None
        head = lines.head
        if lines.other_count or (self._donors is not None and head.learner.revision == 0):
            return None
        if seen[1] is not (newest(schema.subject) if newest is not None else None):
            return None
        for timestamp_ms in timestamps_ms:
            now = self.clock.at(timestamp_ms)
            if now is None or head.is_due(now, self._learning):
                return None
        return head

    def tick(self, timestamp_ms: int, *, labelled: bool) -> int:
        """The key's time at a record. One without a label changes no state where it comes when it is expected."""
        now = None if labelled else self.clock.at(timestamp_ms)
        if now is None:
            now = self.clock.advance(timestamp_ms)
            self.small_changed = True
        return now

    def is_current(self, schema: ReadingSchema) -> bool:
        """Whether the key is on this version."""
        return schema.id == self._kept().head.version.id

    def taught(self) -> Iterator[Line]:
        """The lines that learn from a label."""
        return self._kept().taught()

    def classes(self) -> set[str]:
        """The labels that the key's newest model knows or is about to learn."""
        if self.lines is None:
            return set()
        head = self.lines.head
        return {*map(str, head.learner.classes), *head.window.labels}

    def most_classes(self) -> int:
        """At least as many as `classes` has, and known at once."""
        return 0 if self.lines is None else len(self.lines.head.learner.classes) + len(self.lines.head.window)

    def drop_windows(self) -> int:
        """Forget the labelled readings that wait to be learnt; how many the newest model had."""
        if self.lines is None:
            return 0
        dropped = len(self.lines.head.window)
        for line in (self.lines.head, *self.lines.former):
            if len(line.window):
                line.window.take()
                line.window_changed = True
                dropped = max(dropped, 1)
        return dropped

    def reach(self, run: Run, start: int) -> int:
        """How many readings from `start` on the line that serves the first can serve: fewer where the head may move."""
        schema = run.schema
        if self.is_current(schema):
            return len(run) - start
        most = min(len(run) - start, self._learning.late_records - 1 - self._kept().in_a_row(schema.id))
        own = self._kept().of(schema.id, run.time(start), self._learning)
        last = run.time(start) if own is None else max(own.last_ms, run.time(start))
        for row in range(start + 1, start + most):
            if own is not None and run.time(row) - last >= self._learning.former_ms:
                return row - start  # it was kept too long by then
            last = max(last, run.time(row))
        return most

    def count(self, run: Run, piece: slice) -> None:
        """Readings were served: how many in a row were not of the head's version, and when a line was last of use."""
        lines, schema = self._kept(), run.schema
        if self.is_current(schema):
            self.small_changed |= lines.other_count > 0
            lines.other = lines.other_count = 0
            return
        lines.other, lines.other_count = schema.id, lines.in_a_row(schema.id) + piece.stop - piece.start
        own = lines.of(schema.id, run.time(piece.start), self._learning)
        if own is not None:
            own.last_ms = max(own.last_ms, *run.times(piece))
        self.small_changed = True

    def _kept(self) -> Lines:
        if self.lines is None:
            raise RuntimeError("a model is made by its key's first reading")
        return self.lines

    # -- moves -----------------------------------------------------------------------------------------------------

    def _begin(self, schema: ReadingSchema) -> Line:
        head = Line.of(version_of(schema), self._new_learner(schema.space))
        self.lines = Lines(head)
        self.lines.remember(schema.id)
        return head

    def _new_learner(self, space: FeatureSpace) -> EvolvingMetricLearner:
        made = first_model(self._learning.first_model) if self._learning.first_model else None
        copied = made.copy_for(space) if made is not None else None
        return copied or EvolvingMetricLearner(space, self._learner_config, self._learning.seed)

    def _evolve(self, run: Run, row: int, results: Results) -> None:
        """Put the head on a reading's schema: another id only, a move of columns, or an evolution."""
        lines, schema, now = self._kept(), run.schema, run.time(row)
        old = lines.head
        self.changed, self.small_changed = True, True
        learner, stage = old.learner, old.learner.stage
        if not learner.space.diff(schema.space).is_evolution:
            self._rename(old, schema)
            return
        self.announced, self._seen = None, None
        old.learn(self._learning)  # what is pending is of the old space
        self._end_recovery(self._teller(run.moment(row), results))
        if self._donors is not None:
            self._donors.left(self._key, old)
        lines.leave(Line(old.version, asleep=learner.snapshot()), now, self._learning)
        self.others_changed = True
        report = learner.evolve(schema.space)
        lines.move_to(Line.of(version_of(schema), learner))
        self._teller(run.moment(row), results).evolution(old.version, schema, report, stage)
        self._begin_recovery(learner)

    def _rename(self, head: Line, schema: ReadingSchema) -> None:
        """Go on under another id. What was announced still is; what the old version announced, the new one may not."""
        self._seen = None
        if self.announced == head.version:  # by marks on its own fields
            coming, upcoming = announcement(schema, None), head.learner.upcoming
            other = coming is not None and (upcoming is None or upcoming.diff(coming[1]).is_evolution)
            # Other marks are a new announcement. Where none is left, `hear` sees that, and withdraws.
            self.announced = None if other else version_of(schema)
        head.rename(version_of(schema), schema.space)
        self._kept().move_to(head)

    def _resume(self, line: Line, run: Run, row: int, results: Results) -> None:
        """Back to a version whose model was kept."""
        lines = self._kept()
        old = lines.head
        old.learn(self._learning)
        self._end_recovery(self._teller(run.moment(row), results))
        lines.move_to(line)
        lines.leave(Line(old.version, asleep=old.snapshot()), run.time(row), self._learning)
        self.changed = self.small_changed = self.others_changed = True
        self.announced, self._seen = None, None
        self.drift.reset()
        self._teller(run.moment(row), results).tell(RESUMED, old.version, return_of(old.space, line.space))

    # -- what comes from outside the key ---------------------------------------------------------------------------

    def hear(self, run: Run, row: int, newest: Newest | None, results: Results) -> None:
        """Prepare for the next version as soon as it is known; begin with another key's model where that is wanted."""
        if not self.is_current(run.schema):
            return
        head, at = self._kept().head, run.moment(row)
        taken_over = self._donors is not None and head.learner.revision == 0 and self._take_over(head, run, at, results)
        heard = newest(run.schema.subject) if newest is not None else None
        if not taken_over and self._seen is not None and self._seen[0] is run.schema and self._seen[1] is heard:
            return
        self._seen = run.schema, heard
        if heard is None and self.announced not in (None, head.version):
            return  # no news: what was announced still is
        coming = announcement(run.schema, heard)
        version = coming[0] if coming is not None else None
        if version == self.announced:
            if taken_over and version is None:
                head.learner.announce(head.space)  # what the other key had been told is not known here
            return
        space = coming[1] if coming is not None else head.space
        stage = head.learner.stage
        head.learner.announce(space)
        self.announced, self.changed = version, True
        kind = ANNOUNCED if version is not None else WITHDRAWN
        self._teller(at, results).announced(kind, version or head.version, head.space.diff(space), stage)

    def _take_over(self, head: Line, run: Run, at: Moment, results: Results) -> bool:
        found = self._donors.newest(run.schema, self._key) if self._donors is not None else None
        if found is not None:
            donor, snapshot = found
            head.take(EvolvingMetricLearner.restore(snapshot))
            self._teller(at, results).warm_start(donor)
        return found is not None

    def offer(self) -> None:
        """Let new keys begin with this one's model."""
        if self._donors is not None and self.lines is not None and self.lines.head.changed:
            self._donors.offer(self._key, self.lines.head)

    # -- how well it does ------------------------------------------------------------------------------------------

    def fresh_answer(self, schema: ReadingSchema, predictions: Predictions, row: int) -> Label | None:
        """What the head's fresh start says, while they are compared; where it has ended it is the head that answers."""
        recovery = self.scores.recovery
        if recovery is None or not recovery.compared or not self.is_current(schema):
            return None
        if predictions.fresh is not None:
            return predictions.fresh[row]
        return None if self._kept().head.learner.has_fresh_start else predictions.labels[row]

    def score(
        self, predicted: str | None, cold: str | None, label: str, schema_id: int, at: Moment, results: Results
    ) -> None:
        """A label came for what was predicted: count it, tell the end of a recovery, look for drift."""
        lines = self._kept()
        of_head = schema_id == lines.head.version.id
        if predicted is None and self.scores.recovery is None:
            return  # nothing could be predicted, and nothing is to be compared
        right = predicted == label
        results.scored += 1
        results.right += right
        self.small_changed = True
        figures = self.scores.add(right=right, cold=cold == label, of_newest=of_head)
        tell = self._teller(at, results)
        if figures is not None:
            tell.recovery(figures)
        drift = self.drift.update(not right) if of_head else None
        if drift is not None:
            lines.head.drifted = True
            tell.drift(drift)

    def _begin_recovery(self, learner: EvolvingMetricLearner) -> None:
        """An evolution happened. A cold one is a fresh start itself: there is nothing to compare it with."""
        self.scores.begin(compared=self._learning.cold_restart and learner.has_fresh_start)
        self.drift.reset()
        self.small_changed = True

    def expire(self, now_ms: int) -> None:
        """Drop the models of versions whose last record is long ago."""
        lines = self._kept()
        kept = [line for line in lines.former if now_ms - line.last_ms < self._learning.former_ms]
        if len(kept) < len(lines.former):
            lines.former = kept
            self.small_changed = self.others_changed = True

    def _end_recovery(self, tell: Teller) -> None:
        """Another move ends what has not come to its end."""
        figures = self.scores.end()
        if figures is not None:
            tell.recovery(figures)

    def _teller(self, at: Moment, results: Results) -> Teller:
        return Teller(at, self._kept().head, results.evolutions)
