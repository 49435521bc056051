"""What `key_model` works on and what comes of it: readings of one schema in a row, and the results of a micro-batch.

Data for the modules of this package, for the operator and for `eml replay`.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from eml.stream.avro.micro_batch import ReadingColumns
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.labels.label_join import LabelCounts
from eml.stream.labels.unlabelled import UnlabelledReading
from eml.stream.output.dead_letters import DeadLetter
from eml.stream.output.events import EvolutionEvent
from eml.stream.output.predictions import Predictions
from eml.stream.output.scores import Score
from eml.stream.records import Raw, RecordReference

LookUp = Callable[[Any], ReadingSchema]  # by a SchemaRef; what knows no GUIDs takes ids alone
NewestSchema = Callable[[str], ReadingSchema | None]  # the newest version of a subject, as far as it is known


@dataclass(slots=True)
class Results:
    """What became of a micro-batch: each record is in one of predictions, dead letters, waiting and tombstones."""

    predictions: Predictions = field(default_factory=Predictions)
    scores: list[Score] = field(default_factory=list)  # one for each reading whose label is known, if there is a topic
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
        for name in ("predictions", "scores", "evolutions", "dead_letters", "waiting"):
            getattr(self, name).extend(getattr(later, name))
        for name in ("scored", "right", "tombstones", "not_learnt"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.retry_after_ms, self.wait_reason = later.retry_after_ms, later.wait_reason
        if later.labels is not None:
            self.labels = later.labels if self.labels is None else self.labels.plus(later.labels)


@dataclass(slots=True)
class ReadingBatch:
    """Readings of one schema, with what is known of their labels."""

    readings: ReadingColumns
    labels: list[str | None]  # that came inside the reading, or before it
    unlabelled: dict[int, UnlabelledReading]  # readings whose label is to come, by row
    times_ms: list[int]  # by the key's clock
    labelled: list[int] = field(init=False)  # rows whose label is known

    def __post_init__(self) -> None:
        self.labelled = [row for row, label in enumerate(self.labels) if label is not None]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def schema(self) -> ReadingSchema:
        """Of all of them."""
        return self.readings.schema

    def labelled_in(self, piece: slice) -> list[int]:
        """Rows of a piece whose label is known."""
        rows = self.labelled
        return rows[bisect_left(rows, piece.start) : bisect_left(rows, piece.stop)]

    def judged(self, piece: slice, labelled: list[int]) -> list[int]:
        """Rows of a piece whose label is known or to come."""
        if not self.unlabelled:
            return labelled
        return sorted({*labelled, *(row for row in self.unlabelled if piece.start <= row < piece.stop)})

    def reference(self, row: int) -> RecordReference:
        """A reading as the record at which something happened."""
        return self.readings.names.reference(row)
