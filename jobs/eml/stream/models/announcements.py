"""What comes to a key from outside its records: the next schema version, and another key's model to begin with.

Called by `version_routing` at the first reading of a micro-batch and after each change of version. An announced version
starts the learner's T-stage; the event says at which record. An announcement is a newer version in the registry, or
the mark `eml.retiring` on fields of the current one.
"""

from eml.core import EvolvingMetricLearner, FeatureSpace
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.keys import KeyName
from eml.stream.models.event_log import EventLog
from eml.stream.models.key_state import KeyState
from eml.stream.models.reading_batch import NewestSchema
from eml.stream.models.version_model import Version, VersionModel
from eml.stream.models.warm_start import WarmStartModels
from eml.stream.output.events import ANNOUNCED, WITHDRAWN


class Announcements:
    """Prepares a key's current model for the next version, and begins it with another key's model."""

    def __init__(self, key: KeyName, state: KeyState, warm_start: WarmStartModels | None) -> None:
        self._key = key
        self._state = state
        self._warm_start = warm_start  # None where every key begins on its own
        self._checked: tuple[ReadingSchema, ReadingSchema | None] | None = None  # nothing new came of these two

    def nothing_new(self, schema: ReadingSchema, newest: NewestSchema | None) -> bool:
        """Whether `check` would find what it found the last time."""
        if self._checked is None or self._checked[0] is not schema:
            return False
        if self._warm_start is not None and self._state.current.learner.revision == 0:
            return False
        return self._checked[1] is _newest(schema, newest)

    def check(self, schema: ReadingSchema, newest: NewestSchema | None, log: EventLog) -> None:
        """Prepare for the next version as soon as it is known; `schema` is that of the current version."""
        taken_over = self._take_over(schema, log)
        found = _newest(schema, newest)
        if not taken_over and self._checked is not None and self._checked[0] is schema and self._checked[1] is found:
            return
        self._checked = schema, found
        state, current = self._state, self._state.current
        if found is None and state.announced not in (None, current.version):
            return  # the registry is silent: what was announced still is
        coming = next_version(schema, found)
        version = coming[0] if coming is not None else None
        if version == state.announced:
            if taken_over and version is None:
                current.learner.announce(current.space)  # what was announced to the other key is not known here
            return
        self._announce(version, coming[1] if coming is not None else current.space, log)

    def _announce(self, version: Version | None, space: FeatureSpace, log: EventLog) -> None:
        state, current = self._state, self._state.current
        stage = current.learner.stage
        current.learner.announce(space)
        state.announced, state.position_changed = version, True
        kind = ANNOUNCED if version is not None else WITHDRAWN
        log.announced(kind, version or current.version, current.space.diff(space), stage)

    def _take_over(self, schema: ReadingSchema, log: EventLog) -> bool:
        """Begin with another key's model where this one has learnt nothing yet."""
        current = self._state.current
        if self._warm_start is None or current.learner.revision > 0:
            return False
        found = self._warm_start.newest(schema, self._key)
        if found is None:
            return False
        donor, snapshot = found
        current.replace_learner(EvolvingMetricLearner.restore(snapshot))
        log.warm_start(donor)
        return True

    def version_changed(self) -> None:
        """The key is on another version: what was announced has happened, or is not its own."""
        self._state.announced, self._checked = None, None

    def renamed(self, current: VersionModel, schema: ReadingSchema) -> None:
        """The current version is about to get another id with the same features: what was announced still is.

        What the old version announced by marks on its own fields, the new one may not.
        """
        self._checked = None
        if self._state.announced != current.version:
            return
        coming, upcoming = next_version(schema, None), current.learner.upcoming
        other = coming is not None and (upcoming is None or upcoming.diff(coming[1]).is_evolution)
        # Other marks are a new announcement. Where none is left, `check` sees that and withdraws.
        self._state.announced = None if other else Version.of(schema)


def next_version(schema: ReadingSchema, newest: ReadingSchema | None) -> tuple[Version, FeatureSpace] | None:
    """The version that a key on `schema` prepares for, and its features; None where nothing is to change.

    A newer version says all; one with the same features says whether those marked as retiring still are. Such marks
    only say which features will vanish.
    """
    if newest is not None and newest.subject == schema.subject and newest.version > schema.version:
        if schema.space.diff(newest.space).is_evolution:
            return Version.of(newest), newest.space
        schema = newest
    staying = tuple(name for name in schema.space.names if name not in schema.retiring)
    if not schema.retiring or not staying:
        return None
    aliases = {name: former for name, former in schema.space.aliases.items() if name in set(staying)}
    return Version.of(schema), FeatureSpace(staying, aliases, schema.space.categories & set(staying))


def _newest(schema: ReadingSchema, newest: NewestSchema | None) -> ReadingSchema | None:
    return newest(schema.subject) if newest is not None else None
