"""The nouns of the benchmark: what is asked for, who is compared, and what was measured.

Made by `command` and `stream`, read by all others; computes no more than a median.
"""

from dataclasses import dataclass, field
from statistics import median

JOB, EMPTY, COPY = "job", "empty", "copy"  # the kinds of pipelines; the last two are the peers


@dataclass(frozen=True, slots=True)
class Options:
    """What can be chosen on the command line."""

    records: int
    keys: tuple[int, ...]
    labelled: float
    rounds: int
    parallelism: int
    delivery: str
    checkpoint_ms: int
    micro_batch_ms: tuple[int, ...]
    broker: str | None = None
    registry: str | None = None
    flink: tuple[tuple[str, str], ...] = ()  # options of Flink's own, the same for all

    def rivals(self) -> "list[Rival]":
        """Those who take turns; the peers know no micro-batch."""
        return [Rival(COPY), Rival(EMPTY), *(Rival(JOB, ms) for ms in self.micro_batch_ms)]


@dataclass(frozen=True, slots=True)
class Rival:
    """One pipeline in the comparison."""

    kind: str
    micro_batch_ms: int | None = None


@dataclass(slots=True)
class Result:
    """What was measured for one number of keys."""

    keys: int
    rates: dict[Rival, list[float]] = field(default_factory=dict)  # records per second, one for each round
    answered: dict[Rival, int] = field(default_factory=dict)  # predictions that name a label, in the last round

    def rate(self, rival: Rival) -> float:
        """The median of the rounds."""
        return median(self.rates[rival])

    def times(self, rival: Rival, peer: str) -> float:
        """How many times the peer's records."""
        return median(ours / theirs for ours, theirs in zip(self.rates[rival], self.rates[Rival(peer)], strict=True))
