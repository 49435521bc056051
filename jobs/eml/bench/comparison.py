"""The nouns of the benchmark: what is asked for, who is compared, and what was measured.

Made by `command`, `stream` and `paced`, read by all others; computes no more than a median and a quotient.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

JOB = "job"
EMPTY, COPY = "empty", "copy"  # what Flink does without us
RIVER, QUIX = "river", "quix"  # what a user would take instead
PEERS = (COPY, EMPTY, RIVER, QUIX)
SAME_ANSWERS = {JOB, QUIX}  # who writes predictions by `schemas/prediction.avsc`
HEAP, ROCKSDB = "heap", "rocksdb"
BACKENDS = {HEAP: "hashmap", ROCKSDB: "rocksdb"}  # as Flink calls them


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
    settings: tuple[tuple[str, str], ...] = ()  # of the job
    backend: tuple[str, ...] = (HEAP,)
    nulls: tuple[float, ...] = (0.0,)
    exemplars: int = 1024
    copies: bool = False  # all models stay copies of the first one; else each has learnt a label of its own
    peers: tuple[str, ...] = (COPY, EMPTY)
    rate: int | None = None  # records per second, paced
    seconds: int = 30
    settle: int = 15
    find_rate: bool = False

    def rivals(self) -> "list[Rival]":
        """Those who take turns; the peers know no micro-batch and keep no state in Flink."""
        ours = [Rival(JOB, ms, backend) for backend in self.backend for ms in self.micro_batch_ms]
        return [*(Rival(peer) for peer in self.peers), *ours]

    def loads(self) -> "Iterator[tuple[int, float]]":
        """Keys and share of nulls of each load."""
        return ((keys, nulls) for keys in self.keys for nulls in self.nulls)


@dataclass(frozen=True, slots=True)
class Rival:
    """One pipeline in the comparison."""

    kind: str
    micro_batch_ms: int | None = None
    backend: str = HEAP

    @property
    def label(self) -> str:
        """A short name, the same in every run."""
        return self.kind if self.kind != JOB else f"job {self.backend} {self.micro_batch_ms} ms"


@dataclass(slots=True)
class Result:
    """What was measured for one load."""

    keys: int
    rates: dict[Rival, list[float]] = field(default_factory=dict)  # records per second, one for each round
    answered: dict[Rival, int] = field(default_factory=dict)  # predictions that name a label, in the last round
    nulls: float = 0.0

    @property
    def label(self) -> str:
        """A short name of the load."""
        return f"{self.keys} keys" + (f", {self.nulls:.0%} nulls" if self.nulls else "")

    def rate(self, rival: Rival) -> float:
        """The median of the rounds."""
        return median(self.rates[rival])

    def times(self, rival: Rival, peer: str) -> float:
        """How many times the peer's records."""
        return median(ours / theirs for ours, theirs in zip(self.rates[rival], self.rates[Rival(peer)], strict=True))


@dataclass(frozen=True, slots=True)
class Pace:
    """How late one pipeline answers at one rate."""

    rival: Rival
    rate: int
    p50_ms: float
    p99_ms: float
    keeps_up: bool
