"""What is told on the evolution topic: events, as the moves of a key make them.

Called by `moves`. An event says of which versions it speaks, and carries the change of features where there is one.
"""

from dataclasses import dataclass, replace

from eml.core import FeatureSpace
from eml.core.features import FeatureChange
from eml.core.report import Evolution, Stage
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.avro.schema_warnings import MOST_TOLD
from eml.stream.models.drift import Drift
from eml.stream.models.recovery import RecoveryFigures
from eml.stream.models.version_model import Line, Version, version_of
from eml.stream.records import DRIFT, EVOLUTION, RECOVERY, WARM_START, Evolved, Moment

NO_CHANGE = FeatureChange(vanished=(), survived=(), augmented=(), former={})


@dataclass(frozen=True, slots=True)
class Teller:
    """Appends what happens at a record to a key's head."""

    at: Moment
    head: Line
    told: list[Evolved]

    def evolution(self, old: Version, schema: ReadingSchema, report: Evolution, stage: Stage) -> None:
        """The head evolved from another version to that of `schema`."""
        self.tell(EVOLUTION, old, report, stage)
        self.told[-1] = replace(
            self.told[-1],
            categories=tuple(name for name in schema.space.names if name in schema.space.categories),
            ignored=schema.ignored[:MOST_TOLD],
            warnings=schema.warnings[:MOST_TOLD],
        )

    def tell(self, kind: str, old: Version, report: Evolution, stage: Stage | None = None) -> None:
        """Something with a change of features happened; `stage` is the one before it."""
        self._add(kind, old, self.head.version, report, stage)

    def announced(self, kind: str, coming: Version, change: FeatureChange, stage: Stage) -> None:
        """The next version is known, or known no more."""
        self._add(kind, self.head.version, coming, _report(change, announced=True), stage)

    def recovery(self, figures: RecoveryFigures) -> None:
        """The figures of an evolution are complete."""
        self._add(RECOVERY, recovery=figures)

    def drift(self, figures: Drift) -> None:
        """Errors have become more frequent."""
        self._add(DRIFT, drift=figures)

    def warm_start(self, donor: str) -> None:
        """A new key began with another's model."""
        self._add(WARM_START, donor=donor)

    def _add(
        self,
        kind: str,
        old: Version | None = None,
        new: Version | None = None,
        report: Evolution | None = None,
        stage: Stage | None = None,
        *,
        recovery: RecoveryFigures | None = None,
        drift: Drift | None = None,
        donor: str | None = None,
    ) -> None:
        old, new = old or self.head.version, new or self.head.version
        self.told.append(
            Evolved(
                event_time=self.at.event_time,
                old_schema_id=old.id,
                old_version=old.version,
                old_subject=old.subject,
                new_schema_id=new.id,
                new_version=new.version,
                new_subject=new.subject,
                report=report or _report(NO_CHANGE, announced=False),
                stage=stage or self.head.learner.stage,
                batches=self.head.learner.revision,
                position=self.at.position,
                kind=kind,
                recovery=recovery,
                drift=drift,
                donor=donor,
            )
        )


def _report(change: FeatureChange, *, announced: bool, returned: tuple[str, ...] = ()) -> Evolution:
    return Evolution(change, announced=announced, transform_steps=0, warm=True, returned=returned, takeovers={})


def return_of(old: FeatureSpace, back: FeatureSpace) -> Evolution:
    """What the return to a kept model changes: it knows all that is new to the one that was left."""
    change = old.diff(back)
    return _report(change, announced=False, returned=change.augmented)


def announcement(schema: ReadingSchema, newest: ReadingSchema | None) -> tuple[Version, FeatureSpace] | None:
    """The version that a key on `schema` prepares for, and its features; None where nothing is to change.

    A newer version says it all; one with the same features, whether those marked as retiring still are. Such marks say
    only what will be gone.
    """
    if newest is not None and newest.subject == schema.subject and newest.version > schema.version:
        if schema.space.diff(newest.space).is_evolution:
            return version_of(newest), newest.space
        schema = newest
    staying = tuple(name for name in schema.space.names if name not in schema.retiring)
    if not schema.retiring or not staying:
        return None
    aliases = {name: former for name, former in schema.space.aliases.items() if name in set(staying)}
    return version_of(schema), FeatureSpace(staying, aliases, schema.space.categories & set(staying))
