"""When something happened, from clocks that may be wrong.

Called by `fleet_records` for every record. Readings carry the time of a device or of the broker; curves are drawn over
it, because predictions of a job that catches up all come at once.
"""

import time

OLDEST_MS = 30 * 86_400_000  # a reading that was this old when it was predicted has a wrong clock
AHEAD_MS = 60_000  # by which clocks of machines may differ


def now_ms() -> int:
    """The time here."""
    return time.time_ns() // 1_000_000


def written_at(timestamp_ms: int, now: int) -> int:
    """When a record was written: what Kafka says, unless that is missing or yet to come."""
    return timestamp_ms if 0 < timestamp_ms <= now + AHEAD_MS else now


def read_at(source_ms: int, written_ms: int) -> int:
    """When a reading came: what it says itself, unless that cannot be."""
    return source_ms if written_ms - OLDEST_MS <= source_ms <= written_ms else written_ms
