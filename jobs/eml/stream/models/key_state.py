"""What a key keeps between two micro-batches, but for its labels: data without decisions.

`version_routing`, `announcements` and `scoring` change it, `state_codec` makes bytes of it. The flags say which of the
state's parts have to be written; they are cleared by `mark_written` alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from eml.stream.key_clock import KeyClock
from eml.stream.models.drift import DriftDetector
from eml.stream.models.recovery import Scores
from eml.stream.models.version_model import Version, VersionModel
from eml.stream.models.version_models import VersionModels
from eml.stream.wire import SchemaId


@dataclass(slots=True)
class KeyState:
    """The models of a key and how well they do."""

    scores: Scores
    drift: DriftDetector
    clock: KeyClock = field(default_factory=KeyClock)
    models: VersionModels | None = None  # None before the first reading
    announced: Version | None = None  # the version that the current model prepares for
    position_changed: bool = False  # which version is current or announced; written with the model
    window_changed: bool = False  # counts, scores or clock; written with the windows
    others_changed: bool = False  # which versions are kept

    # -- look at it ------------------------------------------------------------------------------------------------

    @property
    def version_models(self) -> VersionModels:
        """The models of a key that has had a reading."""
        if self.models is None:
            raise RuntimeError("a key has no model before its first reading")
        return self.models

    @property
    def nbytes(self) -> int:
        """About what the learners take in memory."""
        return 0 if self.models is None else sum(model.nbytes for model in self.models)

    @property
    def current(self) -> VersionModel:
        """The model of the current version."""
        return self.version_models.current

    def is_current(self, schema_id: SchemaId) -> bool:
        """Whether a schema is the key's current version."""
        return schema_id == self.current.version.id

    # -- change it -------------------------------------------------------------------------------------------------

    def advance_clock(self, timestamp_ms: int, *, labelled: bool) -> int:
        """The key's time at a record. One without a label changes no state where its timestamp is as expected."""
        now = None if labelled else self.clock.at(timestamp_ms)
        if now is None:
            now = self.clock.advance(timestamp_ms)
            self.window_changed = True
        return now

    def drop_windows(self) -> int:
        """Forget the labelled readings that wait to be learnt; how many (1 where only others had some)."""
        if self.models is None:
            return 0
        current, *others = [model.drop_window() for model in self.models]
        return max(current, int(any(others)))

    # -- what has to be written ------------------------------------------------------------------------------------

    @property
    def has_unwritten(self) -> bool:
        """Whether anything changed since it was last written."""
        models = self.models
        if models is None:
            return False
        changed = self.position_changed or self.window_changed or self.others_changed
        return changed or any(model.learner_changed or model.window_changed for model in models)

    def unwritten(self) -> Mapping[str, bool]:
        """Which parts changed since they were last written."""
        if self.models is None:
            return {"model": False, "window": False, "others": False}
        return {
            "model": self.position_changed or self.models.current.learner_changed,
            "window": self.window_changed or any(model.window_changed for model in self.models),
            "others": self.others_changed or any(model.learner_changed for model in self.models.others),
        }

    def mark_written(self, *, model: bool = False, window: bool = False, others: bool = False) -> None:
        """These parts were written as they are now."""
        models = self.version_models
        if model:
            self.position_changed = models.current.learner_changed = False
        if window:
            self.window_changed = False
            for each in models:
                each.window_changed = False
        if others:
            self.others_changed = False
            for each in models.others:
                each.learner_changed = False
