"""How many predictions a second, how long they take, and how many are still to come.

Kept by `fleet_records`. Goes by the times that Kafka holds, so reading back what came long ago changes nothing. Pure.
"""

from collections import Counter, deque
from collections.abc import Mapping

RATE_S = 10
LATENCY_MS = 60_000  # looked back on
SILENT_MS = 30_000  # without a prediction for so long, the rate is 0
SAMPLES = 4_000  # latencies kept
EACH_MS = LATENCY_MS // SAMPLES  # at most one kept for each of these
Partition = int


class Pace:
    """Rates of the newest predictions."""

    def __init__(self) -> None:
        self._seconds: Counter[int] = Counter()
        self._first_s = self._newest_s = 0
        self._latencies: deque[tuple[int, int]] = deque(maxlen=SAMPLES)
        self._sampled_ms = 0

    def predicted(self, written_ms: int, source_ms: int) -> None:
        """A prediction of a reading."""
        second = written_ms // 1000
        self._first_s = min(self._first_s or second, second)
        if second > self._newest_s - RATE_S:
            self._seconds[second] += 1
        if second > self._newest_s:
            self._newest_s = second
            for old in [each for each in self._seconds if each <= second - RATE_S]:
                del self._seconds[old]
        if written_ms >= self._sampled_ms + EACH_MS:
            self._sampled_ms = written_ms
            self._latencies.append((written_ms, written_ms - source_ms))

    def records_per_s(self, now_ms: int) -> float:
        """Over the last ten seconds that there are predictions of."""
        if not self._seconds or now_ms - self._newest_s * 1000 > SILENT_MS:
            return 0.0
        return self._seconds.total() / min(RATE_S, self._newest_s - self._first_s + 1)

    def latencies_ms(self, now_ms: int) -> tuple[float, float] | None:
        """Median and 99th percentile over the last minute."""
        lately = sorted(max(0, late) for written, late in self._latencies if written > now_ms - LATENCY_MS)
        if not lately:
            return None
        return float(lately[len(lately) // 2]), float(lately[len(lately) * 99 // 100])


class Lag:
    """Readings that have no answer yet."""

    def __init__(self) -> None:
        self._answered: dict[Partition, int] = {}  # behind the newest offset that was answered
        self._ends: Mapping[Partition, tuple[int, int]] = {}

    def answered(self, partition: Partition, offset: int) -> None:
        """A reading has its prediction or its dead letter."""
        if self._answered.get(partition, 0) <= offset:
            self._answered[partition] = offset + 1

    def read(self, ends: Mapping[Partition, tuple[int, int]]) -> None:
        """Where the readings that are looked at begin and end, by partition; none: they cannot be read."""
        self._ends = ends

    @property
    def lag(self) -> int | None:
        """In all partitions."""
        if not self._ends:
            return None
        return sum(
            max(0, end - max(first, self._answered.get(partition, 0))) for partition, (first, end) in self._ends.items()
        )
