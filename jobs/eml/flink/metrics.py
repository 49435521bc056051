"""What the operator counts, as Flink's metrics: they arrive as `flink_taskmanager_job_task_operator_*`.

Called by `operator` with the results of each model of a call, and at the end of the call; decides nothing.
"""

from collections import Counter
from dataclasses import fields

from pyflink.metrics import Counter as MetricCounter
from pyflink.metrics import MetricGroup

from eml.stream.errors import CredentialsRefusedError, LookupRateError, RegistryUnavailableError, SchemaNotYetKnownError
from eml.stream.labels.label_join import LabelCounts
from eml.stream.models.reading_batch import Results
from eml.stream.output.events import (
    ANNOUNCED,
    DRIFT,
    EVOLUTION,
    RECOVERY,
    RESUMED,
    WARM_START,
    WITHDRAWN,
    RecoveryFigures,
)

MOST_VERSIONS = 32  # of schemas that have a counter of their own, in a task
COUNTED = (
    "predictions",
    "dead_letters",
    "updates",
    "waits",
    "scored",
    "right",
    "tombstones",
    "internal_errors",
    "labels_not_learnt",
    "replayed",
)
WAITS = {  # why a record waits for its schema, and what its counter is called
    error.reason: f"waits_{error.reason.replace('-', '_')}"
    for error in (RegistryUnavailableError, LookupRateError, SchemaNotYetKnownError, CredentialsRefusedError)
}
LABELS = tuple(field.name for field in fields(LabelCounts))
KINDS = {  # of events, and what their counters are called
    EVOLUTION: "evolutions",
    ANNOUNCED: "announced",
    WITHDRAWN: "withdrawn",
    RESUMED: "resumed",
    RECOVERY: "recoveries",
    DRIFT: "drifts",
    WARM_START: "warm_starts",
}


class Metrics:
    """What the operator counts, as Flink's metrics."""

    def __init__(self, group: MetricGroup) -> None:
        names = (*COUNTED, *WAITS.values(), *(f"labels_{name}" for name in LABELS), *KINDS.values())
        self._group = group
        self._counters = {name: group.counter(name) for name in names}
        self._versions: dict[int, str] = {}  # their counters' names
        self._counted: Counter[str] = Counter()  # since the last `flush`: Beam's counters are slow
        # In thousandths, because Flink's distributions are of whole numbers.
        self._recovery = {name: group.distribution(f"recovery_{name}") for name in ("first", "cold_first", "all")}
        self._back_after = group.distribution("recovery_records")
        self._regret = group.distribution("recovery_regret")

    def flush(self) -> None:
        """The end of a call: hand what was counted to Flink."""
        for name, count in self._counted.items():
            if count:
                self._counter(name).inc(count)
        self._counted.clear()

    def replayed(self, count: int) -> None:
        """Records came that `eml dead-letters replay` has sent again."""
        self._counted["replayed"] += count

    def updated(self) -> None:
        """A model was written."""
        self._counted["updates"] += 1

    def failed(self, times: int) -> None:
        """Our own code failed, and was isolated from other records and keys."""
        self._counted["internal_errors"] += times

    def count(self, results: Results) -> None:
        """What became of a model's records."""
        counted = self._counted
        for said in results.predictions.pieces:
            counted["predictions"] += len(said)
            counted[self._versions.get(said.schema_version) or self._version(said.schema_version)] += len(said)
        counted["scored"] += results.scored
        counted["right"] += results.right
        if results.labels is not None:
            for name in LABELS:
                counted[f"labels_{name}"] += getattr(results.labels, name)
        counted["tombstones"] += results.tombstones
        counted["labels_not_learnt"] += results.not_learnt
        counted["dead_letters"] += len(results.dead_letters)
        for letter in results.dead_letters:
            counted[f"dead_letters_{letter.reason.replace('-', '_')}"] += 1
        if results.waiting:
            counted["waits"] += 1
        if results.wait_reason:
            counted[WAITS[results.wait_reason]] += 1
        for evolved in results.evolutions:
            counted[KINDS[evolved.kind]] += 1
            if evolved.recovery is not None:
                self._recovered(evolved.recovery)

    def _version(self, version: int) -> str:
        """The counter of a schema's version, for roll-outs; whoever registers versions cannot fill the memory."""
        if len(self._versions) == MOST_VERSIONS:
            return "predictions_version_other"
        return self._versions.setdefault(version, f"predictions_version_{version}")

    def _counter(self, name: str) -> MetricCounter:
        """Reasons of dead letters are few and fixed; each has a counter from its first dead letter on."""
        if name not in self._counters:
            self._counters[name] = self._group.counter(name)
        return self._counters[name]

    def _recovered(self, figures: RecoveryFigures) -> None:
        self._recovery["first"].update(round(1000 * figures.accuracy_first))
        self._recovery["all"].update(round(1000 * figures.accuracy))
        if figures.cold_accuracy_first is not None:
            self._recovery["cold_first"].update(round(1000 * figures.cold_accuracy_first))
        if figures.back_after is not None:
            self._back_after.update(figures.back_after)
        if figures.regret is not None:
            self._regret.update(figures.regret)
