"""The model of one schema version: its learner, and the window of labelled readings that it will learn next.

A key has one for its current version and, for a while, one for each version it has left. `version_routing` decides
which of them serves a reading, `key_model` predicts with it and teaches it. Readings come in the version's columns.

When a window closes depends on the readings it was given and on their timestamps, never on how they were batched.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from eml.core import EvolvingMetricLearner, FeatureSpace
from eml.core.arrays import Array
from eml.core.predictor import BEST
from eml.core.report import NO_LABELS
from eml.core.windows import window_size
from eml.settings import LearningSettings
from eml.stream.avro.micro_batch import ReadingColumns
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.models.align_columns import align_columns
from eml.stream.models.window import Window
from eml.stream.output.predictions import PredictedReadings
from eml.stream.wire import SchemaId


@dataclass(frozen=True, slots=True)
class Version:
    """A schema version as a key remembers it."""

    id: SchemaId
    subject: str
    version: int

    @classmethod
    def of(cls, schema: ReadingSchema) -> "Version":
        """The version of a schema."""
        return cls(schema.id, schema.subject, schema.version)


@dataclass(slots=True)
class VersionModel:
    """A learner with its window; a version that was left is only the learner's bytes until a record needs it again."""

    version: Version
    serialized: bytes | None = None  # in place of the learner
    window: Window = field(default_factory=Window)
    last_ms: int = 0  # timestamp of the last record it served
    learner_changed: bool = True  # since it was last written
    window_changed: bool = False
    drifted: bool = False  # the learner reacts before it learns again
    _learner: EvolvingMetricLearner | None = None
    _aligned: FeatureSpace | None = None  # a space whose columns are known to be the learner's

    @classmethod
    def with_learner(cls, version: Version, learner: EvolvingMetricLearner) -> "VersionModel":
        """A model whose learner is in memory."""
        return cls(version, _learner=learner)

    @property
    def learner(self) -> EvolvingMetricLearner:
        """The learner, where it is in memory (`wake`)."""
        if self._learner is None:
            raise RuntimeError("the learner is only bytes: wake the model first")
        return self._learner

    @property
    def is_serialized(self) -> bool:
        """Whether no record has needed it since the key left its version: it is not taught."""
        return self._learner is None

    def wake(self) -> None:
        """Restore the learner, if it is only bytes."""
        if self._learner is None:
            if self.serialized is None:
                raise RuntimeError("a version model has a learner or its bytes")
            self._learner, self.serialized = EvolvingMetricLearner.restore(self.serialized), None
            self._learner.announce(self._learner.space)  # the switch it had prepared for is over
            self.learner_changed = True

    def snapshot(self) -> bytes:
        """The learner's bytes."""
        return self.serialized if self.serialized is not None else self.learner.snapshot()

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        return self._learner.nbytes if self._learner is not None else len(self.serialized or b"")

    @property
    def space(self) -> FeatureSpace:
        """The features of the version."""
        return self.learner.space

    def replace_learner(self, learner: EvolvingMetricLearner) -> None:
        """Continue with another learner."""
        self._learner, self._aligned, self.learner_changed = learner, None, True

    def rename(self, version: Version, space: FeatureSpace) -> None:
        """Continue under a version with the same features, in another order or under other names."""
        former = self.space
        if former != space:  # also where only aliases differ: they may swap names, and later versions build on them
            self.learner.evolve(space)
            self.window.values = [align_columns(values, former, space) for values in self.window.values]
            self.window_changed = True
        self.version, self._aligned, self.learner_changed = version, None, True

    # -- predict ---------------------------------------------------------------------------------------------------

    def predict(self, readings: ReadingColumns, rows: slice, *, late: bool) -> PredictedReadings:
        """Predict some of the readings; changes nothing."""
        learner, schema = self.learner, readings.schema
        answers = learner.answers(self._aligned_values(readings, rows)).tolist()
        classes = tuple(map(str, learner.classes)) if answers[0] else ()
        best = len(classes) + BEST
        return PredictedReadings(
            answers,
            [classes[int(answer[best])] for answer in answers] if classes else [None] * len(answers),
            None if classes else NO_LABELS,
            classes,
            learner.stage,
            schema.id,
            schema.version,
            learner.revision,
            late,
            readings.names.at(rows),
        )

    def _aligned_values(self, readings: ReadingColumns, rows: slice) -> Array:
        """Values in the learner's columns."""
        values, space = readings.values[rows], readings.schema.space
        if self._aligned is space:
            return values
        aligned = align_columns(values, space, self.space)
        self._aligned = space if aligned is values else None
        return aligned

    # -- learn -----------------------------------------------------------------------------------------------------

    def is_due(self, now_ms: int, settings: LearningSettings) -> bool:
        """Whether the window's time is over."""
        return self.window.is_due(now_ms, settings.window_ms)

    def learn_if_due(self, now_ms: int, settings: LearningSettings) -> None:
        """Close the window where its time is over."""
        if self.is_due(now_ms, settings):
            self.learn(settings)

    def learn(self, settings: LearningSettings) -> None:
        """Close the window: learn what it holds."""
        if not len(self.window):
            return
        if self.drifted and settings.drift in {"step", "memory"}:
            self.learner.react(settings.drift)
        self.drifted = False
        self.learner.learn(*self.window.take())
        self.learner_changed = self.window_changed = True

    def readings_until_learning(
        self, labelled: Sequence[int], times_ms: Sequence[int], settings: LearningSettings
    ) -> int:
        """How many of these readings, some rows of which have a label, can be served before the learner may change."""
        size = window_size(self.learner.age, settings.window_records)
        return self.window.readings_until_close(labelled, times_ms, size, settings.window_ms)

    def teach(self, values: Array, labels: Sequence[str], times_ms: Sequence[int], settings: LearningSettings) -> None:
        """Put labelled readings into the window, and learn whenever it closes."""
        start = 0
        while start < len(labels):
            self.learn_if_due(times_ms[start], settings)
            stop = start + self.readings_until_learning(range(len(labels) - start), times_ms[start:], settings)
            self.window.add(values[start:stop], labels[start:stop], times_ms[start])
            self.window_changed = True
            if self.window.is_full(window_size(self.learner.age, settings.window_records)):
                self.learn(settings)
            start = stop

    def drop_window(self) -> int:
        """Forget the labelled readings that wait to be learnt; how many they were."""
        dropped = len(self.window)
        if dropped:
            self.window.take()
            self.window_changed = True
        return dropped
