"""What the page shows, as plain values.

Made by `fleet_view` from what was read, drawn by the page; knows neither Kafka nor HTML. Everything is bounded: lists
come in pages, curves have at most some hundred points. Times are Unix milliseconds; keys, labels and messages are what
devices sent, so whoever shows them must escape them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Row = TypeVar("Row")
CELLS = ("absent", "survived", "augmented", "vanished", "renamed", "returned", "retiring")  # of the feature matrix
PAGE_ROWS = 50  # of a list, on each page


@dataclass(frozen=True, slots=True)
class Summary:
    """The fleet at this moment."""

    devices: int
    versions: Mapping[str, int]  # devices by schema version, as "readings-value v2"
    stages: Mapping[str, int]  # devices by stage of their model
    predictions: int  # since the page began to read
    records_per_s: float  # over the last ten seconds
    lag: int | None  # readings that have no prediction yet, in all partitions; None: the readings topic cannot be read
    latency_p50_ms: float | None  # from a reading's timestamp to its prediction's, over the last minute
    latency_p99_ms: float | None
    dead_letters: Mapping[str, int]  # by reason
    scored: int
    accuracy: float | None  # of the newest scored readings; None: no label came yet
    cold_accuracy: float | None  # of a cold restart on those of them where one is compared
    regret: int | None  # right answers of the cold restart minus own, over all evolutions that are compared
    reading: bool  # still catching up with what the topics hold
    problem: str  # why something cannot be read now, and what to do; empty: all is well


@dataclass(frozen=True, slots=True)
class Rollout:
    """Devices by schema version over time."""

    times_ms: Sequence[int]
    devices: Mapping[str, Sequence[int]]  # by version, one number for each time


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened, on a curve."""

    time_ms: int
    kind: str  # evolution, announced, drift, ...
    key: str
    text: str
    devices: int  # how many it happened to at about this time


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Right answers over time, of the fleet or of one device; None where no label came."""

    times_ms: Sequence[int]
    accuracy: Sequence[float | None]
    cold: Sequence[float | None]  # of a cold restart
    scored: Sequence[int]
    marks: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class FeatureMatrix:
    """What each schema version of a subject has of each feature."""

    subject: str
    versions: Sequence[int]
    features: Sequence[str]  # by their newest names
    cells: Sequence[
        Sequence[str]
    ]  # [feature][version]: absent, survived, augmented, vanished, renamed, returned, retiring
    notes: Mapping[str, str]  # by feature: what survivors took over of it, its old names


@dataclass(frozen=True, slots=True)
class EvolutionRow:
    """An event in the list of evolutions; alike ones of many devices are one row."""

    number: int  # for `FleetView.evolution`
    time_ms: int
    kind: str
    key: str  # the first device it happened to
    devices: int
    old_version: str
    new_version: str
    vanished: int
    survived: int
    augmented: int
    warm: bool


@dataclass(frozen=True, slots=True)
class EvolutionDetail:
    """One evolution with what became of it."""

    row: EvolutionRow
    vanished: Sequence[str]
    survived: Sequence[str]
    augmented: Sequence[str]
    returned: Sequence[str]
    renamed: Mapping[str, str]  # new name to old name
    takeovers: Mapping[str, tuple[float, str | None]]  # vanished feature: share kept, and by which survivor
    announced: bool
    transform_steps: int
    accuracy_before: float | None
    accuracy_first: float | None  # of the first 20 % of the scored readings after it
    accuracy_after: float | None
    cold_accuracy_first: float | None
    recovered_after: int | None  # scored readings until accuracy was back; None: not yet, or not among those scored
    regret: int | None
    recovered: int  # devices whose recovery figures have come
    shares: Mapping[str, float]  # of the model's views in its answers, where the event says so
    drift: str  # a drift that followed, in words; empty: none
    ignored: Mapping[str, str]  # fields of the new version that are no features: why
    warnings: Sequence[str]


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A device in the list."""

    key: str
    version: str
    stage: str
    predictions: int
    scored: int
    accuracy: float | None  # of its newest scored readings
    novelty: float | None  # of its last prediction
    dead_letters: int
    last_ms: int


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """A prediction in the list of a device."""

    event_id: str
    time_ms: int
    label: str | None
    truth: str | None
    scores: Mapping[str, float]
    margin: float | None
    novelty: float | None
    version: str
    stage: str
    late: bool
    source: str  # topic/partition/offset


@dataclass(frozen=True, slots=True)
class DeviceDetail:
    """A device opened."""

    row: DeviceRow
    predictions: Sequence[PredictionRow]  # newest first
    accuracy: Accuracy
    dips: Sequence[tuple[int, int, float]]  # first and last time of a fall of its accuracy, and how far it fell
    commands: Sequence[str]  # the lines that capture and replay exactly these records


@dataclass(frozen=True, slots=True)
class DeadLetterRow:
    """A dead letter in the list."""

    number: int  # for `FleetView.dead_letter`
    time_ms: int
    key: str
    reason: str
    message: str
    source: str  # topic/partition/offset of the record


@dataclass(frozen=True, slots=True)
class DeadLetterDetail:
    """A dead letter opened."""

    row: DeadLetterRow
    headers: Mapping[str, str]
    fields: Mapping[str, str]  # decoded as far as it goes
    stopped_at: str  # why no more could be decoded; empty: all of it could
    hex_lines: Sequence[str]  # the value's first bytes: offset, hex, printable characters
    length: int
    commands: Sequence[str]  # the line that replays it


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A page of a list."""

    rows: Sequence[Row]
    total: int  # rows on all pages
    number: int  # from 0


class Fleet(Protocol):
    """What the page asks for, at any time and from several threads. Pages count from 0."""

    def summary(self) -> Summary:
        """The fleet now."""

    def rollout(self) -> Rollout:
        """Devices by schema version over time."""

    def accuracy(self) -> Accuracy:
        """Right answers of the whole fleet over time."""

    def features(self) -> Sequence[FeatureMatrix]:
        """One matrix for each subject."""

    def evolutions(self, page: int = 0) -> Page[EvolutionRow]:
        """What happened to models, newest first; alike ones of many devices are one row."""

    def evolution(self, number: int) -> EvolutionDetail | None:
        """One of them, by its number; None: there is none such."""

    def devices(self, search: str = "", order: str = "key", page: int = 0) -> Page[DeviceRow]:
        """Devices whose key contains `search`; order: key, accuracy, last, dead-letters."""

    def device(self, key: str) -> DeviceDetail | None:
        """One of them; None: there is none such."""

    def dead_letters(self, reason: str = "", page: int = 0) -> Page[DeadLetterRow]:
        """Newest first, of one reason or of all."""

    def dead_letter(self, number: int) -> DeadLetterDetail | None:
        """One of them, by its number; None: there is none such."""
