"""The schemas a task knows: one bounded memory for all its clients of the registry.

Used by `client`. The operator's client and that of `newest_versions` share one: a version that was fetched because it
is announced needs no look-up when its first record comes. Safe for several threads.
"""

import threading
from collections import OrderedDict, deque
from typing import Generic, TypeVar

from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.errors import BadSchemaError
from eml.stream.keys import ReadKey
from eml.stream.wire import Guid, SchemaId, SchemaRef

CONFIRMING_IDS = 3  # by which a registry shows that it has its schemas: one may have been deleted since
NO_ID = SchemaId(0)
_N = TypeVar("_N", bound=SchemaRef)
_S = TypeVar("_S")


class SchemaCache:
    """Schemas of a task; `known_id` is one that the registry certainly has.

    Readings and keys apart: a registry gives one id to one text, and a sender can write any id into a key.
    """

    def __init__(self, size: int, known_id: SchemaId = NO_ID) -> None:
        self.ids = KnownIds(known_id)
        self.readings: BoundedCache[SchemaId, ReadingSchema] = BoundedCache(size, self.ids)
        self.keys: BoundedCache[SchemaId, ReadKey] = BoundedCache(size, self.ids)
        self.guids: BoundedCache[Guid, SchemaId] = BoundedCache(size, self.ids)


class KnownIds:
    """Ids that the registry has, or had."""

    def __init__(self, known_id: SchemaId) -> None:
        self._latest: deque[SchemaId] = deque([known_id] if known_id else [], CONFIRMING_IDS)
        self._lock = threading.Lock()
        self.highest = known_id  # 0 while none is known

    def add(self, schema_id: SchemaId) -> None:
        """The registry has this id."""
        with self._lock:
            if schema_id not in self._latest:
                self._latest.append(schema_id)
            self.highest = max(self.highest, schema_id)

    def latest(self) -> list[SchemaId]:
        """Ids that the registry had, the last found first."""
        with self._lock:
            return list(reversed(self._latest))


class BoundedCache(Generic[_N, _S]):
    """Schemas by id, or ids by GUID, the least recently used first."""

    def __init__(self, size: int, ids: KnownIds) -> None:
        self._size = size
        self._ids = ids
        self._found: OrderedDict[_N, _S | BadSchemaError] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._found)

    def get(self, name: _N) -> _S | BadSchemaError | None:
        """The schema, if it is known, or what is wrong with it."""
        with self._lock:
            found = self._found.get(name)
            if found is not None:
                self._found.move_to_end(name)
            return found

    def put(self, name: _N, found: _S | BadSchemaError) -> None:
        """Remember a schema, or what is wrong with it."""
        if isinstance(name, int):
            self._ids.add(SchemaId(name))
        with self._lock:
            self._found[name] = found
            self._found.move_to_end(name)
            if len(self._found) > self._size:
                self._found.popitem(last=False)
