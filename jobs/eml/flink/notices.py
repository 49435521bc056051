"""What a person must know of a running task, as log lines: dead letters, events, records that wait for a schema.

Called by `operator` with the results of each micro-batch. Counts first and says it in one line per kind every few
seconds: a fleet of thousands must not fill the log. `eml.starting.console` shows these lines on a local run's console.
"""

import logging
import threading
import time
from collections import Counter

from eml.stream.models.reading_batch import Results

log = logging.getLogger(__name__)

PAUSE_S = 5.0  # between two lines of a kind
EXAMPLES = 3  # keys that a line names


class Kind:
    """Counts of one kind since the last line."""

    def __init__(self, level: int, text: str) -> None:
        self.counts: Counter[str] = Counter()
        self.keys: dict[str, None] = {}  # in order of appearance
        self._level = level
        self._text = text
        self._said = float("-inf")

    def add(self, key: str, counts: Counter[str], now: float) -> None:
        """Count, and say it where the last line is long enough ago."""
        self.counts.update(counts)
        self.keys[key] = None
        if now - self._said >= PAUSE_S:
            self.say(now)

    def say(self, now: float) -> None:
        """One line for all that was counted."""
        if not self.counts:
            return
        counts = ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))
        names = ", ".join(repr(key[:40]) for key in list(self.keys)[:EXAMPLES])
        more = f" and {len(self.keys) - EXAMPLES} more" if len(self.keys) > EXAMPLES else ""
        log.log(self._level, "%s: %s (keys %s%s)", self._text, counts, names, more)
        self.counts.clear()
        self.keys.clear()
        self._said = now


class Notices:
    """The lines of one task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._dead_letters = Kind(logging.WARNING, "dead letters")
        self._events = Kind(logging.INFO, "events")
        self._waiting = Kind(logging.WARNING, "records that wait for a schema")
        self._closed = threading.Event()
        threading.Thread(target=self._say_late, name="eml-notices", daemon=True).start()

    def count(self, key: str, results: Results) -> None:
        """What became of a key's micro-batch."""
        if not (results.dead_letters or results.evolutions or results.waiting):
            return
        now = time.monotonic()
        with self._lock:
            if results.dead_letters:
                self._dead_letters.add(key, Counter(letter.reason for letter in results.dead_letters), now)
            if results.evolutions:
                self._events.add(key, Counter(event.kind for event in results.evolutions), now)
            if results.waiting:
                self._waiting.add(key, Counter({results.wait_reason: len(results.waiting)}), now)

    def close(self) -> None:
        """Say what was not said yet."""
        self._closed.set()
        self._say_all()

    def _say_late(self) -> None:
        """What was counted last is said even where no record follows."""
        while not self._closed.wait(PAUSE_S):
            self._say_all()

    def _say_all(self) -> None:
        with self._lock:
            for kind in (self._dead_letters, self._events, self._waiting):
                kind.say(time.monotonic())
