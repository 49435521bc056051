"""A bounded shelf: things by event id, the oldest dropped first, that knows what changed since it was last written.

Three of them make the join of labels (`labels`). Knows neither what it holds nor any bytes. Every thing carries the
key's clock of when it was put there; that never goes back, so the first thing is always the oldest.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Shelf(Generic[T]):
    """At most `limit` things in the order they came.

    What changed since `written` is `news` and `gone`; things that came and went in between are in neither.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._things: OrderedDict[str, tuple[int, int, T]] = OrderedDict()  # id -> since when, written after, thing
        self._writings = 0
        self._taken: list[str] = []
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._things)

    def get(self, event_id: str) -> T | None:
        """What is there under this id."""
        held = self._things.get(event_id)
        return None if held is None else held[2]

    def put(self, event_id: str, now_ms: int, thing: T) -> int:
        """Keep a thing whose id is not there; how many had to go for it."""
        self._things[event_id] = (now_ms, self._writings, thing)
        return 0 if len(self._things) <= self._limit else self._shrink()

    def take(self, event_id: str) -> T | None:
        """Take out what is there under this id."""
        held = self._things.pop(event_id, None)
        if held is None:
            return None
        if held[1] != self._writings:
            self._taken.append(event_id)
        return held[2]

    def drop_before(self, time_ms: int) -> int:
        """Drop all that has been there since before this time; how many."""
        count = 0
        while self._things and next(iter(self._things.values()))[0] < time_ms:
            self._drop()
            count += 1
        return count

    def oldest_ms(self, default: int) -> int:
        """Since when the oldest thing is there."""
        return next(iter(self._things.values()))[0] if self._things else default

    def _shrink(self) -> int:
        excess = len(self._things) - self._limit  # more than one only after the limit was lowered
        for _ in range(excess):
            self._drop()
        return excess

    def _drop(self) -> None:
        _, (_, writing, _) = self._things.popitem(last=False)
        self._dropped += writing != self._writings

    # -- what a log of changes needs -------------------------------------------------------------------------------

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._taken) or self._dropped > 0 or next(self._newest(), None) is not None

    def news(self) -> list[tuple[str, int, T]]:
        """Id, time and thing of all that came since the last writing and is still there, in their order."""
        return list(self._newest())[::-1]

    def everything(self) -> list[tuple[str, int, T]]:
        """Id, time and thing of all, in their order."""
        return [(event_id, since, thing) for event_id, (since, _, thing) in self._things.items()]

    def written(self) -> None:
        """All changes so far are written down."""
        self._writings += 1
        self._taken, self._dropped = [], 0

    def gone(self) -> tuple[list[str], int]:
        """What left since the last writing, of what had been written: ids that were taken, and how many others."""
        return self._taken, self._dropped

    def replay(self, gone: tuple[list[str], int], news: list[tuple[str, int, T]]) -> None:
        """Do what another shelf wrote down. Of what was left by those taken, the oldest are the dropped ones."""
        taken, dropped = gone
        for event_id in taken:
            del self._things[event_id]
        for _ in range(dropped):
            self._things.popitem(last=False)
        for event_id, since, thing in news:
            self._things[event_id] = (since, self._writings, thing)
        self.written()

    def _newest(self) -> Iterator[tuple[str, int, T]]:
        for event_id in reversed(self._things):
            since, writing, thing = self._things[event_id]
            if writing != self._writings:
                return
            yield event_id, since, thing
