"""The fleet as the page asks for it, from records as they come.

`reader` gives it what it reads of the topics, `schemas` what it reads of the registry, the page asks; each from its own
thread, so one lock is around all. Calls the modules beside it, which keep one thing each. Knows neither Kafka nor
HTML, and is bounded: by devices, rows and bytes, not by how much comes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, TypeVar

from eml.settings import RecordSettings
from eml.stream.output.encoder import read_prediction
from eml.watch import dead_letter_detail, device_detail, feature_matrix, fleet_accuracy, times
from eml.watch.dead_letter_detail import SchemaText
from eml.watch.dead_letters import Arrived, DeadLetters
from eml.watch.device_detail import ReadPrediction
from eml.watch.devices import Devices
from eml.watch.evolutions import Evolutions
from eml.watch.fleet_accuracy import FleetAccuracy
from eml.watch.pace import Lag, Pace
from eml.watch.rollout import RolloutLog
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

VERSIONS = 1_000  # of schemas, that are asked for by name
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the view is told of the world around it."""

    options: str = ""  # of the command lines it offers, as "--settings eml.toml"
    record: RecordSettings = field(default_factory=RecordSettings)
    read_prediction: ReadPrediction = read_prediction
    schema_text: SchemaText = lambda _: None
    readings_topic: str = "readings"
    window_ms: int | None = None  # that the curves look back on; None: as long as they are fed


class FleetView:
    """All that the page shows."""

    def __init__(self, surroundings: Surroundings | None = None) -> None:
        self._around = surroundings or Surroundings()
        self._lock = RLock()
        self._devices = Devices()
        self._rollout = RolloutLog(self._around.window_ms)
        self._accuracy = FleetAccuracy(self._around.window_ms)
        self._evolutions = Evolutions()
        self._dead_letters = DeadLetters()
        self._pace = Pace()
        self._lag = Lag()
        self._predictions = 0
        self._scores_come = False  # on a topic of their own; else they are made of labels inside the readings
        self._names: dict[int, str] = {}  # of schema versions, by id
        self._numbers: dict[int, int] = {}  # of versions, until their names are known
        self._matrices: Sequence[FeatureMatrix] = ()
        self._problems: dict[str, str] = {}
        self._reading = True

    # -- what was read -------------------------------------------------------------------------------------------------

    def add_predictions(self, predictions: Iterable[tuple[Mapping[str, Any], int, bytes]]) -> None:
        """Predictions: their fields, when Kafka says that they were written, and their bytes."""
        now = times.now_ms()
        with self._lock:
            for fields, timestamp_ms, value in predictions:
                self._add_prediction(fields, times.written_at(timestamp_ms, now), value)

    def add_scores(self, scores: Iterable[tuple[Mapping[str, Any], int]]) -> None:
        """Scores, and when Kafka says that they were written."""
        now = times.now_ms()
        with self._lock:
            for fields, timestamp_ms in scores:
                self._add_score(fields, times.read_at(fields["source_timestamp"], times.written_at(timestamp_ms, now)))

    def add_evolutions(self, events: Iterable[tuple[Mapping[str, Any], int]]) -> None:
        """Events, and when Kafka says that they were written."""
        now = times.now_ms()
        with self._lock:
            for fields, timestamp_ms in events:
                time_ms = times.read_at(fields["source_timestamp"], times.written_at(timestamp_ms, now))
                self._evolutions.add(fields, time_ms, self._devices.of(fields["key"]))

    def add_dead_letters(self, letters: Iterable[Arrived]) -> None:
        """Dead letters; one without a key belongs to no device."""
        with self._lock:
            for arrived in letters:
                letter = self._dead_letters.add(arrived)
                if arrived.key:
                    self._devices.of(arrived.key).dead_letters += 1
                if letter.topic == self._around.readings_topic and letter.partition is not None:
                    self._lag.answered(letter.partition, -1 if letter.offset is None else letter.offset)

    def _add_prediction(self, fields: Mapping[str, Any], written_ms: int, value: bytes) -> None:
        source_ms = fields["source_timestamp"]
        time_ms = times.read_at(source_ms, written_ms)
        device = self._devices.of(fields["key"])
        self._predictions += 1
        device.predictions += 1
        if not fields["late"]:
            version = fields["schema_id"]
            if device.version != version:
                self._rollout.change(time_ms, device.version, version)
                if len(self._numbers) < VERSIONS:
                    self._numbers.setdefault(version, fields["schema_version"])
            self._devices.move(device, version, fields["stage"])
        device.last_ms = max(device.last_ms, time_ms)
        device.novelty = fields["novelty"]
        self._devices.keep(device, written_ms, value)
        self._rollout.reach(time_ms)
        self._pace.predicted(written_ms, source_ms)
        if fields["source_topic"] == self._around.readings_topic:
            self._lag.answered(fields["source_partition"], fields["source_offset"])
        truth = fields["truth"]
        if truth is not None and not self._scores_come:
            right = fields["label"] == truth
            device.score(time_ms, self._around.window_ms, right=right, cold_right=None)
            self._accuracy.score(time_ms, right=right, cold_right=None)

    def _add_score(self, fields: Mapping[str, Any], time_ms: int) -> None:
        if not self._scores_come:  # what was counted of labels inside readings is among them
            self._scores_come = True
            self._accuracy = FleetAccuracy(self._around.window_ms)
            for device in self._devices:
                device.forget_scores()
        device = self._devices.of(fields["key"])
        right, cold_right = fields["right"], fields["cold_right"]
        device.score(time_ms, self._around.window_ms, right=right, cold_right=cold_right)
        self._accuracy.score(time_ms, right=right, cold_right=cold_right)
        self._devices.know(device, (fields["source_partition"], fields["source_offset"]), fields["truth"])

    # -- what is known of it -------------------------------------------------------------------------------------------

    def unnamed(self) -> list[int]:
        """Ids of schemas whose subjects are not known."""
        with self._lock:
            return [schema_id for schema_id in self._numbers if schema_id not in self._names]

    def name_version(self, schema_id: int, name: str) -> None:
        """The version that a schema is."""
        with self._lock:
            self._names[schema_id] = name

    def set_matrices(self, matrices: Sequence[FeatureMatrix]) -> None:
        """What the registry's versions have of each feature."""
        with self._lock:
            self._matrices = matrices

    def set_ends(self, ends: Mapping[int, tuple[int, int]]) -> None:
        """Where the readings begin and end, by partition; none: they cannot be read."""
        with self._lock:
            self._lag.read(ends)

    def set_reading(self, *, reading: bool) -> None:
        """Whether what the topics hold is still being read back."""
        with self._lock:
            self._reading = reading

    def set_problem(self, of: str, text: str) -> None:
        """What is wrong with a part, and what to do; empty: nothing."""
        with self._lock:
            self._problems[of] = text

    # -- what the page asks for ----------------------------------------------------------------------------------------

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
