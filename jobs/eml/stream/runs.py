"""What `fleet` works on and what comes of it: readings of one schema in a row, and the results of a micro-batch."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite

from eml.core import EvolvingMetricLearner
from eml.core.report import NO_LABELS, Predictions
from eml.stream.labels import LabelCounts
from eml.stream.pending import Pending
from eml.stream.records import DeadLetter, Evolved, Moment, Position, Raw, Scored
from eml.stream.schema import Decoded, ReadingSchema

LookUp = Callable[[int], ReadingSchema]
Newest = Callable[[str], ReadingSchema | None]  # the newest version of a subject, as far as it is known


@dataclass(slots=True)
class Results:
    """What became of a micro-batch: each reading is in exactly one of predictions, dead letters and waiting."""

    predictions: list[Scored] = field(default_factory=list)
    evolutions: list[Evolved] = field(default_factory=list)
    dead_letters: list[DeadLetter] = field(default_factory=list)
    waiting: list[Raw] = field(default_factory=list)  # from the first record on whose schema cannot be had now
    retry_after_ms: int = 0
    wait_reason: str = ""  # RegistryUnavailableError.reason of what they wait for
    scored: int = 0  # predictions whose label came
    right: int = 0
    labels: LabelCounts | None = None  # None: no topic for them


@dataclass(frozen=True, slots=True)
class Framed:
    """A record whose schema is at hand."""

    schema: ReadingSchema
    raw: Raw
    is_label: bool


@dataclass(frozen=True, slots=True)
class Run:
    """Good readings of one schema, in their order."""

    schema: ReadingSchema
    decoded: Decoded
    positions: list[Position]
    labels: list[str | None]  # that came inside the reading, or before it
    pending: list[Pending | None]  # readings whose label is to come

    def __len__(self) -> int:
        return len(self.positions)

    def time(self, row: int) -> int:
        """Kafka's timestamp of a reading."""
        return self.positions[row].timestamp_ms

    def labelled(self, piece: slice) -> list[int]:
        """Rows of a piece whose label is known."""
        return [row for row, label in enumerate(self.labels[piece], piece.start) if label is not None]

    def moment(self, row: int) -> Moment:
        """A reading as the moment at which something happened."""
        return Moment(self.positions[row], self.decoded.event_times[row])

    def times(self, piece: slice) -> list[int]:
        """Kafka's timestamps of a piece."""
        return [position.timestamp_ms for position in self.positions[piece]]


def scored(
    run: Run, piece: slice, predictions: Predictions, learner: EvolvingMetricLearner, *, late: bool
) -> list[Scored]:
    """What was predicted of a piece of a run, for the topic."""
    decoded, schema, known = run.decoded, run.schema, predictions.labels[0] is not None
    classes = [str(label) for label in predictions.classes]
    margins, novelties = predictions.margin.tolist(), predictions.novelty.tolist()
    stage, revision = learner.stage, learner.revision
    return [
        Scored(
            event_id=decoded.event_ids[row],
            event_time=decoded.event_times[row],
            label=str(label) if known else None,
            reason=None if known else NO_LABELS,
            scores=dict(zip(classes, scores, strict=True)),
            margin=margins[i] if known else None,
            novelty=novelties[i] if isfinite(novelties[i]) else None,
            stage=stage,
            schema_id=schema.id,
            schema_version=schema.version,
            model_revision=revision,
            truth=decoded.labels[row],
            late=late,
            position=run.positions[row],
        )
        for i, (row, label, scores) in enumerate(
            zip(range(piece.start, piece.stop), predictions.labels, predictions.scores.tolist(), strict=True)
        )
    ]
