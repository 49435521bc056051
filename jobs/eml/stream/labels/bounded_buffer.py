"""A bounded buffer: items by event id, the oldest dropped first, that knows what changed since it was last written.

Three of them make the join of labels (`label_join`). Knows neither what it holds nor any bytes. Every item carries the
time by the key's clock at which it was put there; that never goes back, so the first item is always the oldest.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedBuffer(Generic[T]):
    """At most `limit` items in the order they came.

    What changed since `mark_written` is `added` and `removed`; items that came and went in between are in neither.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._items: OrderedDict[str, tuple[int, int, T]] = OrderedDict()  # id -> since when, written after, item
        self._writings = 0
        self._taken: list[str] = []
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._items)

    def get(self, event_id: str) -> T | None:
        """The item with this id."""
        held = self._items.get(event_id)
        return None if held is None else held[2]

    def put(self, event_id: str, now_ms: int, item: T) -> int:
        """Keep an item whose id is not there; how many were dropped to make room."""
        self._items[event_id] = (now_ms, self._writings, item)
        return 0 if len(self._items) <= self._limit else self._shrink()

    def pop(self, event_id: str) -> T | None:
        """Remove the item with this id and return it."""
        held = self._items.pop(event_id, None)
        if held is None:
            return None
        if held[1] != self._writings:
            self._taken.append(event_id)
        return held[2]

    def drop_before(self, time_ms: int) -> int:
        """Drop all items put there before this time; how many."""
        count = 0
        while self._items and next(iter(self._items.values()))[0] < time_ms:
            self._drop()
            count += 1
        return count

    def oldest_ms(self, default: int) -> int:
        """The time of the oldest item."""
        return next(iter(self._items.values()))[0] if self._items else default

    def _shrink(self) -> int:
        excess = len(self._items) - self._limit  # more than one only after the limit was lowered
        for _ in range(excess):
            self._drop()
        return excess

    def _drop(self) -> None:
        _, (_, writing, _) = self._items.popitem(last=False)
        self._dropped += writing != self._writings

    # -- what a log of changes needs -------------------------------------------------------------------------------

    @property
    def has_changed(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._taken) or self._dropped > 0 or next(self._not_written(), None) is not None

    def added(self) -> list[tuple[str, int, T]]:
        """Id, time and item of all that came since the last writing and are still there, in their order."""
        return list(self._not_written())[::-1]

    def items(self) -> list[tuple[str, int, T]]:
        """Id, time and item of all, in their order."""
        return [(event_id, since, item) for event_id, (since, _, item) in self._items.items()]

    def mark_written(self) -> None:
        """All changes so far were written."""
        self._writings += 1
        self._taken, self._dropped = [], 0

    def removed(self) -> tuple[list[str], int]:
        """What left since the last writing, of what had been written: ids that were taken, and how many others."""
        return self._taken, self._dropped

    def apply(self, removed: tuple[list[str], int], added: list[tuple[str, int, T]]) -> None:
        """Repeat what another buffer wrote. Of what was there besides those taken, the oldest were dropped."""
        taken, dropped = removed
        for event_id in taken:
            del self._items[event_id]
        for _ in range(dropped):
            self._items.popitem(last=False)
        for event_id, since, item in added:
            self._items[event_id] = (since, self._writings, item)
        self.mark_written()

    def _not_written(self) -> Iterator[tuple[str, int, T]]:
        for event_id in reversed(self._items):
            since, writing, item = self._items[event_id]
            if writing != self._writings:
                return
            yield event_id, since, item
