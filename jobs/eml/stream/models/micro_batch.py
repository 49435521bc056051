"""What `fleet` works on and what comes of it: readings of one schema in a row, and the results of a micro-batch."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite

from eml.core import EvolvingMetricLearner
from eml.core.report import NO_LABELS, Predictions
from eml.stream.avro.reading_schema import Decoded, ReadingSchema
from eml.stream.labels.label_join import LabelCounts
from eml.stream.labels.unlabelled import Pending
from eml.stream.records import DeadLetter, Evolved, Moment, Position, Raw, Scored

LookUp = Callable[[int], ReadingSchema]
Newest = Callable[[str], ReadingSchema | None]  # the newest version of a subject, as far as it is known


@dataclass(slots=True)
class Results:
    """What became of a micro-batch: each record is in one of predictions, dead letters, waiting and tombstones."""

    predictions: list[Scored] = field(default_factory=list)
    evolutions: list[Evolved] = field(default_factory=list)
    dead_letters: list[DeadLetter] = field(default_factory=list)
    waiting: list[Raw] = field(default_factory=list)  # from the first record on whose schema cannot be had now
    retry_after_ms: int = 0
    wait_reason: str = ""  # RegistryUnavailableError.reason of what they wait for
    scored: int = 0  # predictions whose label came
    right: int = 0
    labels: LabelCounts | None = None  # None: no topic for them
    tombstones: int = 0  # records without a value, where these are only counted
    not_learnt: int = 0  # labelled readings that were dropped because learning them failed

    def add(self, later: "Results") -> None:
        """Append the results of what came next."""
        for name in ("predictions", "evolutions", "dead_letters", "waiting"):
            getattr(self, name).extend(getattr(later, name))
        for name in ("scored", "right", "tombstones", "not_learnt"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.retry_after_ms, self.wait_reason = later.retry_after_ms, later.wait_reason
        if later.labels is not None:
            self.labels = later.labels if self.labels is None else self.labels.plus(later.labels)


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
    raws: list[Raw]
    positions: list[Position]
    labels: list[str | None]  # that came inside the reading, or before it
    pending: list[Pending | None]  # readings whose label is to come
    times_ms: list[int]  # by the key's clock

    def __len__(self) -> int:
        return len(self.positions)

    def time(self, row: int) -> int:
        """The key's time at a reading."""
        return self.times_ms[row]

    def labelled(self, piece: slice) -> list[int]:
        """Rows of a piece whose label is known."""
        return [row for row, label in enumerate(self.labels[piece], piece.start) if label is not None]

    def moment(self, row: int) -> Moment:
        """A reading as the moment at which something happened."""
        return Moment(self.positions[row], self.decoded.event_times[row])

    def times(self, piece: slice) -> list[int]:
        """The key's time at the readings of a piece."""
        return self.times_ms[piece]


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
            kafka_key=run.raws[row].key,
            device=run.raws[row].device,
        )
        for i, (row, label, scores) in enumerate(
            zip(range(piece.start, piece.stop), predictions.labels, predictions.scores.tolist(), strict=True)
        )
    ]
