"""What was read of a fleet, kept so that the page can be told of it at any time.

`reader` gives it what it reads of the topics, `schema_watch` what it reads of the registry; `fleet_view`, which is made
of it, answers the page. Each has a thread of its own, so one lock is around all. Calls the modules beside it, each of
which keeps one thing. Bounded: by devices, rows and bytes, not by how much comes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from eml.settings import RecordSettings
from eml.stream.output.encoder import read_prediction
from eml.watch import times
from eml.watch.dead_letter_detail import SchemaText
from eml.watch.dead_letters import Arrived, DeadLetters
from eml.watch.device_detail import ReadPrediction
from eml.watch.devices import Devices
from eml.watch.evolutions import Evolutions
from eml.watch.fleet_accuracy import FleetAccuracy
from eml.watch.pace import Lag, Pace
from eml.watch.rollout import RolloutLog
from eml.watch.views import FeatureMatrix

VERSIONS = 1_000  # of schemas, that are asked for by name


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the view is told of the world around it."""

    options: str = ""  # of the command lines it offers, as "--settings eml.toml"
    record: RecordSettings = field(default_factory=RecordSettings)
    read_prediction: ReadPrediction = read_prediction
    schema_text: SchemaText = lambda _: None
    readings_topic: str = "readings"
    window_ms: int | None = None  # that the curves look back on; None: as long as they are fed


class FleetRecords:
    """All that was read."""

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
