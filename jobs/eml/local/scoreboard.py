"""What is known of the running demonstration: what was sent, what came back, and what of it was right.

Filled by `demo` (sent) and `observer` (received); read by `screen` and at the end by `results`. Pure: knows neither
Kafka nor the terminal.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from eml.local.sender import Sent
from eml.stream.output.events import EVOLUTION

LATELY = 200  # predictions of a device that its rolling share of right ones looks back on


@dataclass(slots=True)
class Device:
    """One machine as its predictions show it."""

    sent: int = 0
    predicted: int = 0
    version: int = 0  # of the newest prediction; 0 before the first
    stage: str = ""
    lately: deque[bool] = field(default_factory=lambda: deque(maxlen=LATELY))

    @property
    def accuracy(self) -> float | None:
        """Share of right predictions lately; None before the first."""
        return sum(self.lately) / len(self.lately) if self.lately else None


@dataclass(frozen=True, slots=True)
class Change:
    """An evolution event."""

    at_s: float  # when its machine sent the first record under the new version, since the first of all records
    key: str
    old_version: int
    new_version: int
    vanished: tuple[str, ...]
    augmented: tuple[str, ...]
    renamed: Mapping[str, str]  # new name -> old name


@dataclass(slots=True)
class Scoreboard:
    """Counts, the labels predicted, and the evolutions, in the order in which they came."""

    sent: list[Sent] = field(default_factory=list)
    predictions: int = 0
    right: int = 0
    labels: dict[str, str | None] = field(default_factory=dict)  # by event id
    dead_letters: Counter[str] = field(default_factory=Counter)  # by reason
    changes: list[Change] = field(default_factory=list)
    devices: dict[str, Device] = field(default_factory=dict)
    _states: dict[str, str] = field(default_factory=dict)  # the true ones, by event id

    def add_sent(self, sent: Iterable[Sent]) -> None:
        """Records that are on their way."""
        for record in sent:
            self.sent.append(record)
            self._states[record.planned.event_id] = record.planned.reading.state
            self.devices.setdefault(record.planned.key, Device()).sent += 1

    def add_prediction(self, fields: Mapping[str, Any]) -> None:
        """A prediction, as its record's fields."""
        self.predictions += 1
        event_id, label = fields["event_id"], fields["label"]
        right = label is not None and label == self._states.get(event_id)
        self.labels[event_id] = label
        self.right += right
        device = self.devices.setdefault(fields["key"], Device())
        device.predicted += 1
        device.version, device.stage = fields["schema_version"], fields["stage"]
        device.lately.append(right)

    def add_dead_letter(self, reason: str) -> None:
        """A record that the job could not use."""
        self.dead_letters[reason] += 1

    def add_evolution(self, fields: Mapping[str, Any]) -> None:
        """An event of the evolutions topic, as its record's fields; only evolutions are shown."""
        if fields["kind"] != EVOLUTION:
            return
        at_s = (fields["source_timestamp"] - self.sent[0].timestamp_ms) / 1000 if self.sent else 0.0
        names = (tuple(fields["vanished"]), tuple(fields["augmented"]))
        versions = (fields["old_version"], fields["new_version"])
        self.changes.append(Change(at_s, fields["key"], *versions, *names, fields["renamed"]))

    @property
    def missing(self) -> int:
        """Records sent that have no result yet."""
        return len(self.sent) - len(self.labels) - self.dead_letters.total()

    @property
    def balanced(self) -> bool:
        """Whether each record sent has exactly one prediction or dead letter."""
        return self.missing == 0 and self.predictions == len(self.labels)

    @property
    def accuracy(self) -> float | None:
        """Share of right predictions of all devices lately; None before the first."""
        lately = [right for device in self.devices.values() for right in device.lately]
        return sum(lately) / len(lately) if lately else None
