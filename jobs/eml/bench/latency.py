"""How late answers come: from a reading's append to the append of its answer, matched by key and order in the key.

Called by `paced` with what the topics hold; knows no Kafka.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from eml.local.errors import LocalError

GROWTH, SLACK_MS = 1.5, 1_000.0  # from the second quarter to the last: what grows by more does not keep up
FEWEST = 4  # a quarter each


class Stamp(NamedTuple):
    """A record's key and the time of its append."""

    key: bytes
    at_ms: int


class Delay(NamedTuple):
    """When a reading was appended, and how long its answer took."""

    at_ms: int
    took_ms: int


def delays(readings: Iterable[Stamp], answers: Iterable[Stamp]) -> list[Delay]:
    """The delay of each answered reading, in the order of the readings; a key's answers come in its readings' order."""
    waiting: defaultdict[bytes, deque[int]] = defaultdict(deque)
    for answer in answers:
        waiting[answer.key].append(answer.at_ms)
    return [
        Delay(reading.at_ms, waiting[reading.key].popleft() - reading.at_ms)
        for reading in readings
        if waiting[reading.key]
    ]


def after(found: Sequence[Delay], settle_s: float) -> list[Delay]:
    """Those of the readings that came when everything had settled."""
    start = min(delay.at_ms for delay in found) + 1000 * settle_s
    kept = [delay for delay in found if delay.at_ms >= start]
    if len(kept) < FEWEST:
        raise LocalError("Too few readings came after the settle time: measure for more --seconds.")
    return kept


def percentile(found: Sequence[Delay], share: float) -> float:
    """The delay that this share of the readings does not exceed, in milliseconds."""
    return float(np.percentile([delay.took_ms for delay in found], 100.0 * share))


def keeps_up(found: Sequence[Delay]) -> bool:
    """Whether the delays stay: a backlog makes the last quarter's far longer than the second's."""
    ordered = [delay.took_ms for delay in sorted(found)]
    quarter = len(ordered) // FEWEST
    before, last = ordered[quarter : 2 * quarter], ordered[-quarter:]
    return bool(np.median(last) <= GROWTH * np.median(before) + SLACK_MS)
