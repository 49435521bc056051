"""Records that wait in Flink's state for a schema, in a queue for each model.

Used by `operator`, one per task. Flink's key is a bucket of models; what waits is read once for each bucket, from the
names of the entries alone. Waiting records never expire. Decides how many may wait, and nothing else about records.

    waiting   NUMBER:RECORDS:BYTES:KEY    records, in the order in which they came
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyflink.common import Types
from pyflink.datastream import RuntimeContext
from pyflink.datastream.state import MapState, MapStateDescriptor

from eml.flink.types import BYTES
from eml.settings import LimitsSettings
from eml.stream import waiting_records
from eml.stream.keys import KafkaKey
from eml.stream.limits import record_size
from eml.stream.records import Raw

STATE = "waiting"


@dataclass(slots=True)
class Queue:
    """The waiting records of a model."""

    pieces: list[str] = field(default_factory=list)  # keys of their entries, in order
    records: int = 0
    size: int = 0  # in bytes
    retry_at_ms: int = 0  # by Flink's processing time; 0 after a restart: at the next timer

    def add(self, piece: str, records: int, size: int) -> None:
        """One more entry."""
        self.pieces.append(piece)
        self.records += records
        self.size += size


class WaitingQueues:
    """Queues by key; Flink's state is that of the bucket at hand (`enter`)."""

    def __init__(self, context: RuntimeContext, limits: LimitsSettings) -> None:
        self._limits = limits
        self._queues: dict[str, dict[KafkaKey, Queue]] = {}  # by bucket and model
        self._bucket = ""
        self._state: MapState = context.get_map_state(MapStateDescriptor(STATE, Types.STRING(), BYTES))

    def enter(self, bucket: str) -> None:
        """From now on state is this bucket's: Flink's current key."""
        self._bucket = bucket
        if bucket not in self._queues:
            self._queues[bucket] = self._read()

    def all(self) -> dict[KafkaKey, Queue]:
        """The models of the bucket that have waiting records."""
        return self._queues[self._bucket]

    def fitting(self, key: KafkaKey, records: Sequence[Raw]) -> int:
        """How many of the records may wait behind those that do."""
        queue = self.all().get(key) or Queue()
        count, size = queue.records, queue.size
        for number, raw in enumerate(records):
            count, size = count + 1, size + record_size(raw)
            if count > self._limits.waiting_records or size > self._limits.waiting_bytes:
                return number
        return len(records)

    def add(self, key: KafkaKey, records: Sequence[Raw]) -> None:
        """Keep records behind those that wait already."""
        if not records:
            return
        queue = self.all().setdefault(key, Queue())
        number = _numbers(queue.pieces[-1])[0] + 1 if queue.pieces else 0
        count, size = len(records), sum(map(record_size, records))
        piece = f"{number}:{count}:{size}:{key}"
        self._state.put(piece, waiting_records.dump(records))
        queue.add(piece, count, size)

    def take(self, key: KafkaKey) -> list[Raw]:
        """The waiting records of a model, which wait no more."""
        queue = self.all().pop(key, Queue())
        records = [raw for piece in queue.pieces for raw in self._piece(piece)]
        for piece in queue.pieces:
            self._state.remove(piece)
        return records

    def first(self, key: KafkaKey) -> Raw | None:
        """The first of the waiting records: its schema decides whether the others can be read."""
        queue = self.all().get(key)
        return self._piece(queue.pieces[0])[0] if queue is not None else None

    def _piece(self, piece: str) -> list[Raw]:
        data = self._state.get(piece)
        return [] if data is None else waiting_records.load(data)

    def _read(self) -> dict[KafkaKey, Queue]:
        """What waits in the bucket; the entries' keys say how much, so that no record has to be read for it."""
        found: dict[KafkaKey, Queue] = {}
        for piece in sorted(self._state.keys(), key=_numbers):
            _, count, size = _numbers(piece)
            found.setdefault(KafkaKey(piece.split(":", 3)[3]), Queue()).add(piece, count, size)
        return found


def _numbers(piece: str) -> tuple[int, int, int]:
    number, count, size, _ = piece.split(":", 3)
    return int(number), int(count), int(size)
