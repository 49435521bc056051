"""Events of a key for the evolution topic, each at the record that caused it.

Called by `version_routing`, `announcements` and `scoring`. An event names the versions it is about, and carries the
change of features where there is one.
"""

from dataclasses import dataclass, replace

from eml.core import FeatureSpace
from eml.core.features import FeatureChange
from eml.core.report import Evolution, Stage
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.avro.schema_warnings import MOST_SHOWN
from eml.stream.models.version_model import Version, VersionModel
from eml.stream.output.events import (
    DRIFT,
    EVOLUTION,
    RECOVERY,
    WARM_START,
    Drift,
    EvolutionEvent,
    RecoveryFigures,
)
from eml.stream.records import RecordReference

NO_CHANGE = FeatureChange(vanished=(), survived=(), augmented=(), former={})


@dataclass(frozen=True, slots=True)
class EventLog:
    """Appends events that a record causes at a key's current model."""

    at: RecordReference
    current: VersionModel
    events: list[EvolutionEvent]

    def evolution(self, old: Version, schema: ReadingSchema, report: Evolution, stage: Stage) -> None:
        """The model evolved from another version to that of `schema`."""
        self.change(EVOLUTION, old, report, stage)
        self.events[-1] = replace(
            self.events[-1],
            categories=tuple(name for name in schema.space.names if name in schema.space.categories),
            ignored=schema.ignored[:MOST_SHOWN],
            warnings=schema.warnings[:MOST_SHOWN],
        )

    def change(self, kind: str, old: Version, report: Evolution, stage: Stage | None = None) -> None:
        """The features changed from those of `old`; `stage` is the one before."""
        self._add(kind, old, self.current.version, report, stage)

    def announced(self, kind: str, coming: Version, change: FeatureChange, stage: Stage) -> None:
        """The next version is announced or withdrawn."""
        self._add(kind, self.current.version, coming, report_of(change, announced=True), stage)

    def recovery(self, figures: RecoveryFigures) -> None:
        """The figures of an evolution are complete."""
        self._add(RECOVERY, recovery=figures)
        self.events[-1] = replace(self.events[-1], views=self.current.learner.view_shares)

    def drift(self, figures: Drift) -> None:
        """The error rate has risen."""
        self._add(DRIFT, drift=figures)

    def warm_start(self, donor: str) -> None:
        """A new key began with another key's model."""
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
        old, new = old or self.current.version, new or self.current.version
        self.events.append(
            EvolutionEvent(
                event_time=self.at.event_time,
                old_schema_id=old.id,
                old_version=old.version,
                old_subject=old.subject,
                new_schema_id=new.id,
                new_version=new.version,
                new_subject=new.subject,
                report=report or report_of(NO_CHANGE, announced=False),
                stage=stage or self.current.learner.stage,
                batches=self.current.learner.revision,
                position=self.at.position,
                kind=kind,
                recovery=recovery,
                drift=drift,
                donor=donor,
            )
        )


def report_of(change: FeatureChange, *, announced: bool, returned: tuple[str, ...] = ()) -> Evolution:
    """The report of a change that was no evolution of the learner."""
    return Evolution(change, announced=announced, transform_steps=0, warm=True, returned=returned, takeovers={})


def report_of_return(old: FeatureSpace, back: FeatureSpace) -> Evolution:
    """What the return to a kept model changes: it knows all that is new to the one that was left."""
    change = old.diff(back)
    return report_of(change, announced=False, returned=change.augmented)
