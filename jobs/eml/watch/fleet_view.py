"""The fleet as the page asks for it.

Asked by the page, from several threads; adds answers to `fleet_records`, which is fed by others, and calls the modules
that make one view each. Knows neither Kafka nor HTML.
"""

from collections.abc import Sequence
from typing import TypeVar

from eml.watch import dead_letter_detail, device_detail, feature_matrix, fleet_accuracy, times
from eml.watch.fleet_records import FleetRecords, Surroundings
from eml.watch.views import (
    PAGE_ROWS,
    Accuracy,
    DeadLetterDetail,
    DeadLetterRow,
    DeviceDetail,
    DeviceRow,
    EvolutionDetail,
    EvolutionRow,
    FeatureMatrix,
    Page,
    Rollout,
    Summary,
)

__all__ = ["FleetView", "Surroundings"]

_Row = TypeVar("_Row")


class FleetView(FleetRecords):
    """All that the page shows."""

    def summary(self) -> Summary:
        """The fleet now."""
        now = times.now_ms()
        with self._lock:
            accuracy, latencies = self._accuracy, self._pace.latencies_ms(now) or (None, None)
            return Summary(
                devices=len(self._devices),
                versions=self._versions(),
                stages=dict(self._devices.stages),
                predictions=self._predictions,
                records_per_s=self._pace.records_per_s(now),
                lag=self._lag.lag,
                latency_p50_ms=latencies[0],
                latency_p99_ms=latencies[1],
                dead_letters=dict(self._dead_letters.reasons.most_common()),
                scored=accuracy.scored,
                accuracy=accuracy.lately.share,
                cold_accuracy=accuracy.cold_lately.share,
                regret=self._evolutions.regret if accuracy.regret is None else accuracy.regret,
                reading=self._reading,
                problem=" ".join(filter(None, self._problems.values())),
            )

    def rollout(self) -> Rollout:
        """Devices by schema version over time."""
        with self._lock:
            return self._rollout.view(self._name)

    def accuracy(self) -> Accuracy:
        """Right answers of the whole fleet over time."""
        with self._lock:
            return fleet_accuracy.view(list(self._accuracy.curve.bins()), self._evolutions.marks())

    def features(self) -> Sequence[FeatureMatrix]:
        """One matrix for each subject."""
        with self._lock:
            groups = self._evolutions.newest_first()
            return [feature_matrix.with_takeovers(matrix, groups) for matrix in self._matrices]

    def evolutions(self, page: int = 0) -> Page[EvolutionRow]:
        """What happened to models, newest first; alike ones of many devices are one row."""
        with self._lock:
            groups = self._evolutions.newest_first()
            return Page([group.row() for group in _piece(groups, page)], len(groups), page)

    def evolution(self, number: int) -> EvolutionDetail | None:
        """One of them, by its number; None: there is none such."""
        with self._lock:
            group = self._evolutions.get(number)
            return group.detail() if group else None

    def devices(self, search: str = "", order: str = "key", page: int = 0) -> Page[DeviceRow]:
        """Devices whose key contains `search`; order: key, accuracy, last, dead-letters."""
        with self._lock:
            found = self._devices.sorted(search, order)
            return Page([device.row(self._name(device.version)) for device in _piece(found, page)], len(found), page)

    def device(self, key: str) -> DeviceDetail | None:
        """One of them; None: there is none such."""
        with self._lock:
            device = self._devices.get(key)
            if device is None:
                return None
            marks = list(self._evolutions.marks_of(device))
            around = self._around
            return device_detail.view(device, marks, around.read_prediction, self._name, around.options)

    def dead_letters(self, reason: str = "", page: int = 0) -> Page[DeadLetterRow]:
        """Newest first, of one reason or of all."""
        with self._lock:
            found = list(self._dead_letters.newest_first(reason))
            return Page([kept.row() for kept in _piece(found, page)], len(found), page)

    def dead_letter(self, number: int) -> DeadLetterDetail | None:
        """One of them, by its number; None: there is none such."""
        with self._lock:
            kept = self._dead_letters.get(number)
        if kept is None:
            return None
        around = self._around
        return dead_letter_detail.view(kept, around.schema_text, around.record, around.options)  # it asks the registry

    def _name(self, version: int | None) -> str:
        if version is None:
            return ""
        return self._names.get(version) or f"schema {version} v{self._numbers.get(version, '?')}"

    def _versions(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for version, count in self._devices.versions.items():
            name = self._name(version)
            counts[name] = counts.get(name, 0) + count
        return dict(sorted(counts.items()))


def _piece(rows: Sequence[_Row], page: int) -> Sequence[_Row]:
    start = max(0, page) * PAGE_ROWS
    return rows[start : start + PAGE_ROWS]
