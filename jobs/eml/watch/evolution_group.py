"""One row of the list of evolutions: an event, how many devices it happened to, and what became of them.

Kept by `evolutions`. Figures of several devices become one: shares of right answers by how many readings they are made
of, the time until accuracy was back as a median. Pure.
"""

from collections.abc import Mapping, Sequence
from statistics import median_low
from typing import Any

from eml.stream.output.events import ANNOUNCED, DRIFT, EVOLUTION, RESUMED, WARM_START, WITHDRAWN
from eml.watch.views import EvolutionDetail, EvolutionRow, Mark

NAMES = 200  # features of each sort that are kept
TIMES = 1_000  # of recoveries
NEVER = 1 << 62


class Mean:
    """A weighted mean."""

    __slots__ = ("_sum", "_weight")

    def __init__(self) -> None:
        self._sum = self._weight = 0.0

    def add(self, value: float | None, weight: float = 1.0) -> None:
        """One more, if there is one."""
        if value is not None and weight > 0:
            self._sum += weight * value
            self._weight += weight

    @property
    def value(self) -> float | None:
        """None before the first."""
        return self._sum / self._weight if self._weight else None


class Group:
    """Events that are alike."""

    def __init__(self, number: int, event: Mapping[str, Any], time_ms: int) -> None:
        self.number, self.kind, self.key = number, str(event["kind"]), str(event["key"])
        self.first_ms = self.last_ms = time_ms
        self.old = event["old_subject"], event["old_version"]
        self.new = event["new_subject"], event["new_version"]
        self.devices = 0
        self.takeovers: dict[str, tuple[Mean, str | None]] = {}
        self._event = _shortened(event)
        self._sizes = {name: len(event[name]) for name in ("vanished", "survived", "augmented")}
        self._drift = ""
        self._drifted = self._recovered = 0
        self._before, self._early, self._later, self._cold_early = Mean(), Mean(), Mean(), Mean()
        self._views: dict[str, Mean] = {}
        self._back_after: list[int] = []
        self._regret: int | None = None

    def add(self, event: Mapping[str, Any], time_ms: int) -> None:
        """It happened to one more device."""
        self.devices += 1
        if time_ms < self.first_ms:
            self.key = str(event["key"])
        self.first_ms, self.last_ms = min(self.first_ms, time_ms), max(self.last_ms, time_ms)
        for name, kept in list(event["takeovers"].items())[:NAMES]:
            mean, by = self.takeovers.get(name) or (Mean(), kept["by"])
            mean.add(kept["share"])
            self.takeovers[name] = mean, by or kept["by"]
        if event["kind"] == DRIFT:
            self.drifted(event)

    def recovered(self, event: Mapping[str, Any]) -> None:
        """The figures of one of its devices have come."""
        figures = event.get("recovery")
        if not figures:
            return
        self._recovered += 1
        self._before.add(figures["accuracy_before"], figures["scored"])
        self._early.add(figures["accuracy_first"], figures["first_records"])
        self._later.add(figures["accuracy"], figures["scored"])
        self._cold_early.add(figures["cold_accuracy_first"], figures["first_records"])
        for name, share in event["views"].items():
            self._views.setdefault(name, Mean()).add(share)
        if len(self._back_after) < TIMES:
            self._back_after.append(NEVER if figures["back_after"] is None else figures["back_after"])
        if figures["regret"] is not None:
            self._regret = (self._regret or 0) + figures["regret"]

    def drifted(self, event: Mapping[str, Any]) -> None:
        """The errors of one of its devices have become more frequent."""
        drift = event.get("drift")
        if not drift:
            return
        self._drifted += 1
        before, after = drift["error_before"], drift["error_after"]
        times = f", {self._drifted} times in all" if self._drifted > 1 else ""
        self._drift = f"errors rose from {before:.0%} to {after:.0%} ({event['key']}{times})"

    @property
    def text(self) -> str:
        """What happened, in words."""
        versions = f"{version_name(*self.old)} to {version_name(*self.new)}"
        words = {
            EVOLUTION: f"evolved from {versions}",
            RESUMED: f"went back from {versions}",
            ANNOUNCED: f"prepares for {version_name(*self.new)}",
            WITHDRAWN: f"ceases to prepare for {version_name(*self.new)}",
            WARM_START: f"began with another model on {version_name(*self.new)}",
            DRIFT: f"drift on {version_name(*self.new)}: {self._drift}",
        }
        return words.get(self.kind, f"{self.kind}: {version_name(*self.new)}")

    def mark(self) -> Mark:
        """On a curve of the fleet."""
        return Mark(self.first_ms, self.kind, self.key, self.text, self.devices)

    def row(self) -> EvolutionRow:
        """In the list."""
        old, new = version_name(*self.old), version_name(*self.new)
        sizes, warm = self._sizes, bool(self._event["warm"])
        return EvolutionRow(self.number, self.first_ms, self.kind, self.key, self.devices, old, new, **sizes, warm=warm)

    def detail(self) -> EvolutionDetail:
        """Opened."""
        event = self._event
        takeovers = {name: (mean.value or 0.0, by) for name, (mean, by) in self.takeovers.items()}
        return EvolutionDetail(
            row=self.row(),
            vanished=event["vanished"],
            survived=event["survived"],
            augmented=event["augmented"],
            returned=event["returned"],
            renamed=event["renamed"],
            takeovers=takeovers,
            announced=bool(event["announced"]),
            transform_steps=event["transform_steps"],
            accuracy_before=self._before.value,
            accuracy_first=self._early.value,
            accuracy_after=self._later.value,
            cold_accuracy_first=self._cold_early.value,
            recovered_after=self._typical_return(),
            regret=self._regret,
            recovered=self._recovered,
            shares={name: mean.value or 0.0 for name, mean in self._views.items()},
            drift=self._drift,
            ignored=event["ignored"],
            warnings=event["warnings"],
        )

    def _typical_return(self) -> int | None:
        middle = median_low(self._back_after) if self._back_after else NEVER
        return None if middle == NEVER else middle


def version_name(subject: str, version: int) -> str:
    """As people read it."""
    return f"{subject} v{version}" if subject else f"v{version}"


def _shortened(event: Mapping[str, Any]) -> dict[str, Any]:
    """What of an event is kept: no more names than a page shows."""

    def first(name: str) -> Sequence[str]:
        return tuple(event.get(name) or ())[:NAMES]

    lists = {name: first(name) for name in ("vanished", "survived", "augmented", "returned", "warnings")}
    renamed = dict(list(event["renamed"].items())[:NAMES])
    ignored = {each["name"]: each["reason"] for each in (event.get("ignored") or ())[:NAMES]}
    plain = {name: event[name] for name in ("warm", "announced", "transform_steps")}
    return {**lists, **plain, "renamed": renamed, "ignored": ignored}
