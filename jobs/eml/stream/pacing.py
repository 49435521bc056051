"""When the registry may be asked again: waits after failures, and a limit on look-ups.

Used by `registry`, which brings the time in seconds. Neither sleeps: they say how long to wait, and the caller does.
"""

import random


class Backoff:
    """Waits that double from failure to failure."""

    def __init__(self, first_s: float, longest_s: float) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._next_s = first_s
        self._until = float("-inf")

    def wait_s(self, now: float) -> float:
        """How long to wait; 0 for not at all."""
        return max(0.0, self._until - now)

    def failed(self, now: float) -> None:
        """Wait from now on, and longer than the last time."""
        # Half of it by chance, so that operators that failed together do not come back together.
        self._until = now + self._next_s * random.uniform(0.5, 1.0)  # noqa: S311  spreads waits, guards nothing
        self._next_s = min(2 * self._next_s, self._longest_s)

    def succeeded(self) -> None:
        """Begin anew."""
        self._next_s = self._first_s
        self._until = float("-inf")


class Allowance:
    """At most `per_second` events in the long run; those of one second may come at once."""

    def __init__(self, per_second: float, now: float) -> None:
        self._per_second = per_second
        self._most = max(1.0, per_second)
        self._left = self._most
        self._at = now

    def wait_s(self, now: float) -> float:
        """Take one event: 0 where it is allowed now, else how long to wait, and nothing is taken."""
        self._left = min(self._most, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1.0:
            return (1.0 - self._left) / self._per_second
        self._left -= 1.0
        return 0.0
