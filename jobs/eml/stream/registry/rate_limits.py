"""When the registry may be asked again: waits after failures, and limits on look-ups.

Used by `connection`, `client` and `id_retries`, which pass the time in seconds. Nothing here sleeps: it says how long
to wait.
"""

import math
import random
from collections import OrderedDict

from eml.settings import RegistrySettings
from eml.stream.errors import LookupRateError

KEYS = 10_000  # whose allowances are remembered: a few hundred bytes each
# Look-ups that a key may make at once: a key that returns to a job may bring several versions.
KEY_BURST = 5.0


def whole_ms(seconds: float) -> int:
    """Milliseconds to wait, at least one."""
    return max(1, math.ceil(1000 * seconds))


_spread = random.Random()  # noqa: S311  spreads waits, guards nothing; our thread must not change the global generator


class Backoff:
    """Waits that double from failure to failure."""

    def __init__(self, first_s: float, longest_s: float) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._next_s = first_s
        self._until = float("-inf")

    def wait_s(self, now: float, more_s: float = 0.0) -> float:
        """How long to wait, `more_s` longer than others; 0 for not at all."""
        return max(0.0, self._until + more_s - now)

    def failed(self, now: float) -> None:
        """Wait from now on, and longer than the last time."""
        # Half of it by chance, so that operators that failed together do not come back together.
        self._until = now + self._next_s * _spread.uniform(0.5, 1.0)
        self._next_s = min(2 * self._next_s, self._longest_s)

    def succeeded(self) -> None:
        """Reset."""
        self._next_s = self._first_s
        self._until = float("-inf")


class TokenBucket:
    """At most `per_second` events in the long run; `burst` (those of one second, unless told) may come at once."""

    def __init__(self, per_second: float, now: float, burst: float | None = None) -> None:
        self._per_second = per_second
        self.burst = max(1.0, per_second) if burst is None else burst
        self._left = self.burst
        self._at = now

    def wait_s(self, now: float, keep: float = 0.0) -> float:
        """Take one token and leave `keep`: 0 where that is possible now, else how long to wait, and none is taken."""
        wait_s = self.refill_s(now, 1.0 + keep)
        if not wait_s:
            self._left -= 1.0
        return wait_s

    def refill_s(self, now: float, wanted: float) -> float:
        """How long until there are so many tokens."""
        self._left = min(self.burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        return max(0.0, (min(wanted, self.burst) - self._left) / self._per_second)

    def put_back(self) -> None:
        """Return a token: the event did not happen."""
        self._left += 1.0


class LookupLimits:
    """How many look-ups a task and each of its keys may make.

    A key has an allowance of its own, so that one that asks for unknown ids all the time does not use up the task's.
    Half of the task's is for keys that have not asked for unknown ids of late: those that do cannot use it up.
    """

    def __init__(self, settings: RegistrySettings, now: float) -> None:
        self._settings = settings
        self._task = TokenBucket(settings.lookups_per_second, now)
        self._keys: OrderedDict[str, TokenBucket] = OrderedDict()  # the least recently used first

    def take(self, key: str, now: float) -> None:
        """Count a look-up of a key, unless it has to wait; an empty key is the task itself."""
        own = self._of(key, now) if key else None
        if own is None:
            self._take(now, keep=0.0)
            return
        is_full = not own.refill_s(now, own.burst)
        if own.wait_s(now):
            rate = self._settings.lookups_per_key_per_second
            # Until it may make several: all its waiting records are read and written each time.
            raise LookupRateError(
                f"more than {rate:g} look-ups per second for one key (registry.lookups_per_key_per_second)",
                whole_ms(own.refill_s(now, own.burst)),
            )
        try:
            self._take(now, keep=0.0 if is_full else (self._task.burst - 1.0) / 2)
        except LookupRateError:
            own.put_back()
            raise

    def found(self, key: str) -> None:
        """The look-up found a schema, which will not be asked for again: it does not count for the key."""
        if key in self._keys:
            self._keys[key].put_back()

    def _take(self, now: float, keep: float) -> None:
        wait_s = self._task.wait_s(now, keep)
        if wait_s:
            rate = self._settings.lookups_per_second
            raise LookupRateError(
                f"more than {rate:g} look-ups per second (registry.lookups_per_second)", whole_ms(wait_s)
            )

    def _of(self, key: str, now: float) -> TokenBucket:
        own = self._keys.get(key)
        if own is None:
            rate = self._settings.lookups_per_key_per_second
            own = self._keys[key] = TokenBucket(rate, now, max(KEY_BURST, rate))
            if len(self._keys) > KEYS:
                self._keys.popitem(last=False)
        self._keys.move_to_end(key)
        return own
