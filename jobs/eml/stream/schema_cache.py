"""The schemas a task knows: one bounded memory for all its clients of the registry.

Used by `registry`. The operator's client and that of `newest` share one: a version that was fetched because it is
announced needs no look-up when its first record comes. Safe for several threads.
"""

import threading
from collections import OrderedDict, deque

from eml.stream.errors import BadSchemaError
from eml.stream.schema import ReadingSchema

Found = ReadingSchema | BadSchemaError
WITNESSES = 3  # ids by which a registry shows that it has its schemas: one may have been deleted since


class SchemaCache:
    """Schemas by id, the least recently used first; `known_id` is one that the registry has for sure."""

    def __init__(self, size: int, known_id: int = 0) -> None:
        self._size = size
        self._found: OrderedDict[int, Found] = OrderedDict()
        self._witnesses: deque[int] = deque([known_id] if known_id else [], WITNESSES)
        self._lock = threading.Lock()
        self.highest_id = known_id  # that the registry has; 0 while none is known

    def __len__(self) -> int:
        return len(self._found)

    def get(self, schema_id: int) -> Found | None:
        """The schema, if it is known, or what is wrong with it."""
        with self._lock:
            found = self._found.get(schema_id)
            if found is not None:
                self._found.move_to_end(schema_id)
            return found

    def put(self, schema_id: int, found: Found) -> None:
        """From now on the schema is known."""
        with self._lock:
            self._found[schema_id] = found
            self._found.move_to_end(schema_id)
            if len(self._found) > self._size:
                self._found.popitem(last=False)
            if schema_id not in self._witnesses:
                self._witnesses.append(schema_id)
            self.highest_id = max(self.highest_id, schema_id)

    def witnesses(self) -> list[int]:
        """Ids that the registry had, the last found first."""
        with self._lock:
            return list(reversed(self._witnesses))
