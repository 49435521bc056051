"""One model of a key: the learner of one schema version, and the labelled readings it is about to learn.

A key has one of these for the version it is on, and for a while one for each version that it has left. Called by
`fleet`, which decides which of them serves and is taught; calls the learner. Readings come in the version's columns.

When a window closes depends on the readings that it was given and on their timestamps, never on how they were cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from eml.core import EvolvingMetricLearner, FeatureSpace
from eml.core.arrays import Array
from eml.core.windows import window_size
from eml.settings import LearningSettings
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.models.align_columns import placed
from eml.stream.models.window import Window


@dataclass(frozen=True, slots=True)
class Version:
    """A schema as a key remembers it."""

    id: int
    subject: str
    version: int


def version_of(schema: ReadingSchema) -> Version:
    """The version that a schema is."""
    return Version(schema.id, schema.subject, schema.version)


@dataclass(slots=True)
class Line:
    """A learner with its window; asleep it is only the learner's bytes."""

    version: Version
    asleep: bytes | None = None
    window: Window = field(default_factory=Window)
    last_ms: int = 0  # timestamp of the last record it served
    changed: bool = True  # the learner, since the last dump
    window_changed: bool = False
    drifted: bool = False  # the learner shall react before it learns again
    _awake: EvolvingMetricLearner | None = None

    @classmethod
    def of(cls, version: Version, learner: EvolvingMetricLearner) -> "Line":
        """A line with a learner at work."""
        return cls(version, _awake=learner)

    @property
    def learner(self) -> EvolvingMetricLearner:
        """The learner, woken where it slept."""
        if self._awake is None:
            if self.asleep is None:
                raise RuntimeError("a line has a learner or its bytes")
            self._awake, self.asleep = EvolvingMetricLearner.restore(self.asleep), None
            self._awake.announce(self._awake.space)  # what it had prepared for has happened
            self.changed = True
        return self._awake

    def take(self, learner: EvolvingMetricLearner) -> None:
        """Go on with another learner."""
        self._awake, self.changed = learner, True

    def rename(self, version: Version, space: FeatureSpace) -> None:
        """Go on under a version with the same features in another order or under other names."""
        former = self.space
        if former != space:  # also where only aliases differ: they may swap names, and later versions build on them
            self.learner.evolve(space)
            self.window.values = [placed(values, former, space) for values in self.window.values]
            self.window_changed = True
        self.version, self.changed = version, True

    @property
    def space(self) -> FeatureSpace:
        """The features of the version."""
        return self.learner.space

    @property
    def sleeps(self) -> bool:
        """Whether no record has needed it since the key left its version: it is not taught."""
        return self._awake is None

    def snapshot(self) -> bytes:
        """The learner's bytes."""
        return self.asleep if self.asleep is not None else self.learner.snapshot()

    # -- learn -----------------------------------------------------------------------------------------------------

    def is_due(self, now_ms: int, settings: LearningSettings) -> bool:
        """Whether the window's time is over."""
        return len(self.window) > 0 and now_ms - self.window.started_ms >= settings.window_ms

    def learn_if_due(self, now_ms: int, settings: LearningSettings) -> None:
        """Close the window where its time is over."""
        if self.is_due(now_ms, settings):
            self.learn(settings)

    def learn(self, settings: LearningSettings) -> None:
        """Learn what the window holds."""
        if not len(self.window):
            return
        if self.drifted and settings.drift in {"step", "memory"}:
            self.learner.react(settings.drift)
        self.drifted = False
        self.learner.learn(*self.window.take())
        self.changed = self.window_changed = True

    def next_change(self, labelled: Sequence[bool], times: Sequence[int], settings: LearningSettings) -> int:
        """How many of these readings can be served before the learner may change; a window that is due is closed."""
        room = self._room(settings)
        started = self.window.started_ms if len(self.window) else None
        for row, (has_label, now) in enumerate(zip(labelled, times, strict=True)):
            if row and started is not None and now - started >= settings.window_ms:
                return row
            if has_label:
                started = now if started is None else started
                room -= 1
                if room == 0:
                    return row + 1
        return len(times)

    def teach(self, values: Array, labels: Sequence[str], times: Sequence[int], settings: LearningSettings) -> None:
        """Put labelled readings into the window, and learn whenever it closes."""
        start = 0
        while start < len(labels):
            self.learn_if_due(times[start], settings)
            started = self.window.started_ms if len(self.window) else times[start]
            stop = start + 1
            most = min(len(labels), start + self._room(settings))
            while stop < most and times[stop] - started < settings.window_ms:
                stop += 1
            self.window.add(values[start:stop], labels[start:stop], times[start])
            self.window_changed = True
            if self._room(settings) <= 0:
                self.learn(settings)
            start = stop

    def _room(self, settings: LearningSettings) -> int:
        """Labelled readings until the window is full: small windows for a new space, growing with what it has seen."""
        return window_size(self.learner.age, settings.window_records) - len(self.window)
