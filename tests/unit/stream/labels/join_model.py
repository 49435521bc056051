"""The rules of the join of labels once more, over plain lists, as slow as they like: what it is compared with."""

from typing import Any

from eml.stream.key_clock import KeyClock
from eml.stream.labels.label_join import LabelCounts
from eml.stream.labels.unlabelled import UnlabelledReading

LIMIT, WAIT_MS = 3, 50


class Model:
    """The same rules over plain lists of [id, since, item]."""

    def __init__(self) -> None:
        self.clock = 0
        self._clock = KeyClock()  # has tests of its own
        self.unlabelled: list[Any] = []
        self.early: list[Any] = []
        self.known: list[Any] = []
        self.counts = LabelCounts()

    def tick(self, timestamp_ms: int) -> None:
        self.clock = self._clock.advance(timestamp_ms)
        for name, lost in (("unlabelled", "unlabelled"), ("early", "unmatched"), ("known", None)):
            self.cut(name, lost, [row for row in getattr(self, name) if self.clock - row[1] <= WAIT_MS])

    def put(self, name: str, event_id: str, item: object) -> None:
        lost = {"unlabelled": "unlabelled", "early": "unmatched"}.get(name)
        getattr(self, name).append([event_id, self.clock, item])
        self.cut(name, lost, getattr(self, name)[-LIMIT:])

    def cut(self, name: str, lost: str | None, left: list[Any]) -> None:
        if lost is not None:
            setattr(self.counts, lost, getattr(self.counts, lost) + len(getattr(self, name)) - len(left))
        setattr(self, name, left)

    def find(self, name: str, event_id: str) -> Any:
        return next((item for known, _, item in getattr(self, name) if known == event_id), None)

    def remove(self, name: str, event_id: str) -> Any:
        found = self.find(name, event_id)
        setattr(self, name, [row for row in getattr(self, name) if row[0] != event_id])
        return found

    def add_reading(self, waiting: UnlabelledReading) -> str | None:
        self.tick(waiting.timestamp_ms)
        if self.find("unlabelled", waiting.event_id) or self.find("known", waiting.event_id):
            self.counts.repeated += 1
            return None
        label: str | None = self.remove("early", waiting.event_id)
        self.put("known" if label else "unlabelled", waiting.event_id, label or waiting)
        self.counts.joined += label is not None
        return label

    def add_labelled(self, event_id: str, label: str, timestamp_ms: int) -> bool:
        self.tick(timestamp_ms)
        known = self.find("known", event_id)
        if known:
            self.counts.repeated += 1
            self.counts.contradictions += known != label
            return False
        self.counts.repeated += self.remove("unlabelled", event_id) is not None
        self.again(self.remove("early", event_id), label)
        self.put("known", event_id, label)
        return True

    def add_label(self, event_id: str, label: str, timestamp_ms: int) -> UnlabelledReading | None:
        self.tick(timestamp_ms)
        waiting: UnlabelledReading | None = self.remove("unlabelled", event_id)
        known = self.find("known", event_id) or self.find("early", event_id)
        if waiting:
            self.counts.joined += 1
            self.put("known", event_id, label)
        elif known:
            self.again(known, label)
        else:
            self.counts.early += 1
            self.put("early", event_id, label)
        return waiting

    def again(self, known: str | None, label: str) -> None:
        self.counts.duplicates += known == label
        self.counts.contradictions += known is not None and known != label
