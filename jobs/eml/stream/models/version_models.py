"""The models of one key: that of its current version, and those of the versions it has left.

Data and how long it is kept; `version_routing` decides which model serves a record and when the current version
changes. An evolution leaves the former model as bytes for a while, so that a staggered roll-out or a rollback finds it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from eml.core import EvolvingMetricLearner
from eml.settings import LearningSettings
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.models.version_model import VersionModel
from eml.stream.wire import SchemaId

KNOWN_SCHEMAS = 64  # ids a key remembers
NO_SCHEMA = SchemaId(0)


@dataclass(slots=True)
class ModelLog:
    """What state holds of the current model: a base of this learner, and pieces with what changed since."""

    learner: EvolvingMetricLearner
    base: int  # bytes
    later: int = 0  # bytes of the pieces

    @property
    def is_outgrown(self) -> bool:
        """Whether the pieces are more than the base: a new base at most doubles what is written."""
        return self.later > self.base


@dataclass(slots=True)
class VersionModels:
    """The models of a key; each version has at most one."""

    current: VersionModel
    others: list[VersionModel] = field(default_factory=list)  # of versions that were left, the latest last
    known: list[SchemaId] = field(default_factory=list)  # schemas the key was on
    late_schema: SchemaId = NO_SCHEMA  # of the last records, where they were not of the current version
    late_count: int = 0  # how many of them came in a row
    log: ModelLog | None = None  # None: nothing of the current model was written yet

    def kept(self, schema_id: SchemaId, now_ms: int, settings: LearningSettings) -> VersionModel | None:
        """The model of a version that was left and is still kept."""
        models = (model for model in self.others if model.version.id == schema_id)
        return next((model for model in models if now_ms - model.last_ms < settings.former_ms), None)

    def has_left(self, schema: ReadingSchema, now_ms: int, settings: LearningSettings) -> bool:
        """Whether the key has moved on from this version: it is older, or still kept."""
        current = self.current.version
        if self.kept(schema.id, now_ms, settings) is not None:
            return True
        if schema.subject == current.subject:
            return schema.version < current.version
        return schema.id in self.known  # versions of different subjects have no order

    def keep(self, model: VersionModel, now_ms: int, settings: LearningSettings) -> None:
        """Keep the model of a version that was left; those that were kept for too long go."""
        model.last_ms = now_ms
        kept = [old for old in self.others if old.version.id != model.version.id]
        kept = [old for old in kept if now_ms - old.last_ms < settings.former_ms]
        self.others = [*kept, model][max(0, len(kept) + 1 - settings.former_versions) :]

    def expire(self, now_ms: int, settings: LearningSettings) -> bool:
        """Drop the models of versions whose last record is long ago; whether there were any."""
        before = len(self.others)
        self.others = [model for model in self.others if now_ms - model.last_ms < settings.former_ms]
        return len(self.others) < before

    def move_to(self, model: VersionModel) -> None:
        """Make a model the current one."""
        self.others = [old for old in self.others if old is not model]
        self.current = model
        self.remember(model.version.id)
        self.late_schema, self.late_count = NO_SCHEMA, 0

    def remember(self, schema_id: SchemaId) -> None:
        """Count a schema among those the key was on."""
        self.known = [*(known for known in self.known if known != schema_id), schema_id][-KNOWN_SCHEMAS:]

    def late_in_a_row(self, schema_id: SchemaId) -> int:
        """How many records of a version that is not the current one came in a row, up to now."""
        return self.late_count if schema_id == self.late_schema else 0

    def taught(self) -> Iterator[VersionModel]:
        """All models that learn from a label; one that is only bytes serves no record."""
        yield self.current
        yield from (model for model in self.others if not model.is_serialized)

    def __iter__(self) -> Iterator[VersionModel]:
        yield self.current
        yield from self.others
