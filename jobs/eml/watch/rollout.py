"""Devices by schema version over time, from the moments at which a device was first seen under another version.

Fed by `fleet_records` with changes, not with records; read as `views.Rollout`. The order in which changes come does not
matter, so topics may be read back partition by partition. Pure.
"""

from collections import Counter
from collections.abc import Callable

from eml.watch.views import Rollout

MOST = 240  # points in time
WIDTH_MS = 1_000  # between two at first; doubles when there would be more
SHOWN = 12  # versions; the rest is one line
OTHERS = "others"
Version = int  # the registry's id of a schema


class RolloutLog:
    """Who changed to which version, added up in stretches of time."""

    def __init__(self, window_ms: int | None = None) -> None:
        self._window = window_ms  # what happened before is part of the first point
        self._width = WIDTH_MS
        self._changes: dict[int, Counter[Version]] = {}
        self._first = self._last = 0  # stretches

    def change(self, time_ms: int, old: Version | None, new: Version) -> None:
        """A device is on another version from now on; `old` is None where it is new."""
        step = max(self._place(time_ms), self._first)
        changes = self._changes.setdefault(step, Counter())
        changes[new] += 1
        if old is not None:
            changes[old] -= 1

    def reach(self, time_ms: int) -> None:
        """Something was read that is as new as this: the counts hold until then."""
        if self._changes and time_ms // self._width > self._last:
            self._place(time_ms)

    def view(self, name_of: Callable[[Version], str]) -> Rollout:
        """The counts at each point in time, of the versions that most devices had at some time."""
        steps = range(self._first, self._last + 1) if self._changes else range(0)
        counts: dict[str, list[int]] = {}
        for number, step in enumerate(steps):
            for version, more in self._changes.get(step, {}).items():
                line = counts.setdefault(name_of(version), [0] * len(steps))
                line[number] += more
        lines = {name: _summed(line) for name, line in counts.items()}
        return Rollout([step * self._width for step in steps], _largest(lines))

    def _place(self, time_ms: int) -> int:
        step = time_ms // self._width
        if not self._changes:
            self._first = self._last = step
        self._first, self._last = min(self._first, step), max(self._last, step)
        if self._window is not None:
            self._forget(self._last - self._window // self._width)
        while self._last - self._first >= MOST:
            self._coarsen()
        return time_ms // self._width

    def _forget(self, first: int) -> None:
        """Begin with this step."""
        if first <= self._first:
            return
        self._first = first
        for step in [step for step in self._changes if step < first]:
            self._changes.setdefault(first, Counter()).update(self._changes.pop(step))

    def _coarsen(self) -> None:
        self._width *= 2
        self._first, self._last = self._first // 2, self._last // 2
        old, self._changes = self._changes, {}
        for step, changes in old.items():
            self._changes.setdefault(step // 2, Counter()).update(changes)


def _summed(changes: list[int]) -> list[int]:
    total, sums = 0, []
    for more in changes:
        total += more
        sums.append(total)
    return sums


def _largest(lines: dict[str, list[int]]) -> dict[str, list[int]]:
    if len(lines) <= SHOWN:
        return dict(sorted(lines.items()))
    by_size = sorted(lines, key=lambda name: -max(lines[name]))
    kept = {name: lines[name] for name in sorted(by_size[: SHOWN - 1])}
    rest = (lines[name] for name in by_size[SHOWN - 1 :])
    return kept | {OTHERS: [sum(column) for column in zip(*rest, strict=True)]}
