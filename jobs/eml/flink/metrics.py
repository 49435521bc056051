"""What the operator counts, as Flink's metrics: they arrive as `flink_taskmanager_job_task_operator_*`.

Called by `operator` with the results of each micro-batch; decides nothing.
"""

from dataclasses import fields

from pyflink.metrics import MetricGroup

from eml.stream.errors import (
    CredentialsRefusedError,
    LookupRateError,
    RegistryUnavailableError,
    SchemaNotYetKnownError,
)
from eml.stream.labels import LabelCounts
from eml.stream.records import ANNOUNCED, DRIFT, EVOLUTION, RECOVERY, RESUMED, WARM_START, WITHDRAWN
from eml.stream.recovery import RecoveryFigures
from eml.stream.runs import Results

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
        # In thousandths, because Flink's distributions are of whole numbers.
        self._recovery = {name: group.distribution(f"recovery_{name}") for name in ("first", "cold_first", "all")}
        self._back_after = group.distribution("recovery_records")
        self._regret = group.distribution("recovery_regret")

    def updated(self) -> None:
        """A model was written."""
        self._counters["updates"].inc()

    def failed(self, times: int) -> None:
        """Our own code failed, and was isolated from other records and keys."""
        self._counters["internal_errors"].inc(times)

    def count(self, results: Results) -> None:
        """What became of a micro-batch."""
        counters = self._counters
        counters["predictions"].inc(len(results.predictions))
        counters["dead_letters"].inc(len(results.dead_letters))
        for letter in results.dead_letters:
            self._count_reason(letter.reason)
        counters["tombstones"].inc(results.tombstones)
        counters["labels_not_learnt"].inc(results.not_learnt)
        counters["waits"].inc(int(bool(results.waiting)))
        if results.wait_reason:
            counters[WAITS[results.wait_reason]].inc()
        counters["scored"].inc(results.scored)
        counters["right"].inc(results.right)
        for evolved in results.evolutions:
            counters[KINDS[evolved.kind]].inc()
            if evolved.recovery is not None:
                self._recovered(evolved.recovery)
        if results.labels is not None:
            for name in LABELS:
                counters[f"labels_{name}"].inc(getattr(results.labels, name))

    def _count_reason(self, reason: str) -> None:
        """Reasons are few and fixed; each has a counter from its first dead letter on."""
        name = f"dead_letters_{reason.replace('-', '_')}"
        if name not in self._counters:
            self._counters[name] = self._group.counter(name)
        self._counters[name].inc()

    def _recovered(self, figures: RecoveryFigures) -> None:
        self._recovery["first"].update(round(1000 * figures.accuracy_first))
        self._recovery["all"].update(round(1000 * figures.accuracy))
        if figures.cold_accuracy_first is not None:
            self._recovery["cold_first"].update(round(1000 * figures.cold_accuracy_first))
        if figures.back_after is not None:
            self._back_after.update(figures.back_after)
        if figures.regret is not None:
            self._regret.update(figures.regret)
