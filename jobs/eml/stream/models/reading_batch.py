"""What `key_model` works on and what comes of it: readings of one schema in a row, and the results of a micro-batch.

Data for the modules of this package, for the operator and for `eml replay`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite

from eml.core import EvolvingMetricLearner
from eml.core.report import NO_LABELS, Predictions
from eml.stream.avro.reading_schema import Decoded, ReadingSchema
from eml.stream.labels.label_join import LabelCounts
from eml.stream.labels.unlabelled import UnlabelledReading
from eml.stream.output.dead_letters import DeadLetter
from eml.stream.output.events import EvolutionEvent
from eml.stream.output.predictions import Prediction
from eml.stream.records import Position, Raw, RecordReference
from eml.stream.wire import SchemaId

LookUp = Callable[[SchemaId], ReadingSchema]
NewestSchema = Callable[[str], ReadingSchema | None]  # the newest version of a subject, as far as it is known


@dataclass(slots=True)
class Results:
    """What became of a micro-batch: each record is in one of predictions, dead letters, waiting and tombstones."""

    predictions: list[Prediction] = field(default_factory=list)
    evolutions: list[EvolutionEvent] = field(default_factory=list)
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
class ReadingBatch:
    """Good readings of one schema, in their order."""

    schema: ReadingSchema
    decoded: Decoded
    raws: list[Raw]
    positions: list[Position]
    labels: list[str | None]  # that came inside the reading, or before it
    unlabelled: list[UnlabelledReading | None]  # readings whose label is to come
    times_ms: list[int]  # by the key's clock

    def __len__(self) -> int:
        return len(self.positions)

    def labelled(self, piece: slice) -> list[int]:
        """Rows of a piece whose label is known."""
        return [row for row, label in enumerate(self.labels[piece], piece.start) if label is not None]

    def has_label(self, piece: slice) -> list[bool]:
        """Of each reading of a piece, whether its label is known."""
        return [label is not None for label in self.labels[piece]]

    def reference(self, row: int) -> RecordReference:
        """A reading as the record at which something happened."""
        return RecordReference(self.positions[row], self.decoded.event_times[row])


def predictions_of(
    batch: ReadingBatch, piece: slice, predictions: Predictions, learner: EvolvingMetricLearner, *, late: bool
) -> list[Prediction]:
    """What was predicted of a piece of a batch, for the topic."""
    decoded, schema, known = batch.decoded, batch.schema, predictions.labels[0] is not None
    classes = [str(label) for label in predictions.classes]
    margins, novelties = predictions.margin.tolist(), predictions.novelty.tolist()
    stage, revision = learner.stage, learner.revision
    return [
        Prediction(
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
            position=batch.positions[row],
            kafka_key=batch.raws[row].key,
            device=batch.raws[row].device,
        )
        for i, (row, label, scores) in enumerate(
            zip(range(piece.start, piece.stop), predictions.labels, predictions.scores.tolist(), strict=True)
        )
    ]
