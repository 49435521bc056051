"""The models of one key: of the version it is on, and of those it has left.

`fleet` asks which line serves a record and makes the moves; here is only what is kept and for how long. An evolution
leaves the old model asleep for a while: a staggered roll-out or a rollback finds it, and each record is served by the
model of its own version.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from eml.core import EvolvingMetricLearner
from eml.settings import LearningSettings
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.models.version_model import Line

KNOWN_SCHEMAS = 64  # ids a key remembers


@dataclass(slots=True)
class ModelLog:
    """What state holds of the head: a base of this learner, and pieces with what changed since (`keeping`)."""

    learner: EvolvingMetricLearner
    base: int  # bytes
    later: int = 0  # bytes of the pieces

    @property
    def outgrown(self) -> bool:
        """Whether pieces are more than the base: a new one doubles the writing at most."""
        return self.later > self.base


@dataclass(slots=True)
class Lines:
    """The lines of a key; each version has at most one."""

    head: Line
    former: list[Line] = field(default_factory=list)  # the one left last is last
    known: list[int] = field(default_factory=list)  # schema ids the key was on
    other: int = 0  # the schema id of the last records, where they were not of the head's version
    other_count: int = 0  # how many of them came in a row
    log: ModelLog | None = None  # None: nothing of the head was written yet

    def of(self, schema_id: int, now_ms: int, settings: LearningSettings) -> Line | None:
        """The line of a version that was left and is still kept."""
        kept = (line for line in self.former if line.version.id == schema_id)
        return next((line for line in kept if now_ms - line.last_ms < settings.former_ms), None)

    def has_left(self, schema: ReadingSchema, now_ms: int, settings: LearningSettings) -> bool:
        """Whether the key has moved on from this version: it is older, or still kept."""
        current = self.head.version
        if self.of(schema.id, now_ms, settings) is not None:
            return True
        if schema.subject == current.subject:
            return schema.version < current.version
        return schema.id in self.known  # versions of different subjects have no order

    def leave(self, line: Line, now_ms: int, settings: LearningSettings) -> None:
        """Keep a line that is the head no more, in place of what was kept too long."""
        line.last_ms = now_ms
        kept = [old for old in self.former if old.version.id != line.version.id]
        kept = [old for old in kept if now_ms - old.last_ms < settings.former_ms]
        self.former = [*kept, line][max(0, len(kept) + 1 - settings.former_versions) :]

    def move_to(self, line: Line) -> None:
        """Make a line the head."""
        self.former = [old for old in self.former if old is not line]
        self.head = line
        self.remember(line.version.id)
        self.other = self.other_count = 0

    def remember(self, schema_id: int) -> None:
        """Count a schema among those the key was on."""
        self.known = [*(known for known in self.known if known != schema_id), schema_id][-KNOWN_SCHEMAS:]

    def in_a_row(self, schema_id: int) -> int:
        """How many records of a version came in a row, up to now."""
        return self.other_count if schema_id == self.other else 0

    def taught(self) -> Iterator[Line]:
        """All lines that learn from a label; a sleeping one has nobody to serve."""
        yield self.head
        yield from (line for line in self.former if not line.sleeps)
