"""What happened to models: events, those alike put into one row.

Kept by `fleet_records`; `evolution_group` says what a row holds. Alike are events of one kind between the same two
versions that came within minutes of each other. The newest `MOST` rows are kept. Pure.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from eml.stream.output.events import DRIFT, EVOLUTION, RECOVERY, RESUMED
from eml.watch.device import Device
from eml.watch.evolution_group import Group
from eml.watch.views import Mark

MOST = 300
GAP_MS = 120_000  # between two events of a row
SPAN_MS = 1_800_000  # of a row
Alike = tuple[object, ...]


class Evolutions:
    """Rows by their numbers, in the order in which they began to be read."""

    def __init__(self) -> None:
        self._groups: dict[int, Group] = {}
        self._alike: dict[Alike, list[Group]] = {}
        self._next = 1
        self.regret: int | None = None  # of all recoveries together

    def add(self, event: Mapping[str, Any], time_ms: int, device: Device) -> None:
        """An event of a device."""
        if event["kind"] == RECOVERY:
            figures = event.get("recovery") or {}
            if figures.get("regret") is not None:
                self.regret = (self.regret or 0) + figures["regret"]
        before = self._groups.get(device.under or 0)
        if before is not None and before.new == _version(event, "new"):
            if event["kind"] == RECOVERY:
                before.recovered(event)
                return
            if event["kind"] == DRIFT:
                before.drifted(event)
        group = self._group(event, time_ms)
        group.add(event, time_ms)
        device.mark(group.number, time_ms)
        if event["kind"] in (EVOLUTION, RESUMED):
            device.under = group.number

    def newest_first(self) -> list[Group]:
        """All rows."""
        return sorted(self._groups.values(), key=lambda group: (-group.first_ms, -group.number))

    def get(self, number: int) -> Group | None:
        """A row that is still there."""
        return self._groups.get(number)

    def marks(self) -> list[Mark]:
        """All rows on a curve of the fleet."""
        return [group.mark() for group in reversed(self.newest_first())]

    def marks_of(self, device: Device) -> Iterator[Mark]:
        """A device's own events on its curve."""
        for number, time_ms in device.marks:
            group = self._groups.get(number)
            if group is not None:
                yield Mark(time_ms, group.kind, device.key, group.text, 1)

    def _group(self, event: Mapping[str, Any], time_ms: int) -> Group:
        alike = (event["kind"], *_version(event, "old"), *_version(event, "new"), event["warm"], event["announced"])
        rows = self._alike.setdefault(alike, [])
        for group in reversed(rows):
            first, last = min(group.first_ms, time_ms), max(group.last_ms, time_ms)
            if group.first_ms - GAP_MS <= time_ms <= group.last_ms + GAP_MS and last - first <= SPAN_MS:
                return group
        group = Group(self._next, event, time_ms)
        self._next += 1
        rows.append(group)
        self._groups[group.number] = group
        if len(self._groups) > MOST:
            self._forget()
        return group

    def _forget(self) -> None:
        oldest = min(self._groups.values(), key=lambda group: group.last_ms)
        del self._groups[oldest.number]
        for alike, rows in list(self._alike.items()):
            if oldest in rows:
                rows.remove(oldest)
                if not rows:
                    del self._alike[alike]


def _version(event: Mapping[str, Any], which: str) -> tuple[str, int]:
    return event[f"{which}_subject"], event[f"{which}_version"]
