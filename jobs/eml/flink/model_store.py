"""A key's models and waiting records in Flink's state, with a bounded cache of live models over it.

Used by `operator`, one per task. State is read on a cache miss and written when something changed, so cache and state
never differ at the end of a call: a checkpoint between calls holds everything. Decides nothing about records.

The parts of a key must expire together: a model without its window, or a log of labels without its first piece, cannot
be used. So Flink's time to live, which counts for each part (and each piece of a list) on its own, is twice as long as
`job.state_ttl_ms`, and only cleans up. What decides is the time of the last full write, kept with the window: all parts
are written again four times in `state_ttl_ms`, and a key whose last full write is older than that and one quarter is
forgotten as a whole. Waiting records never expire.
"""

import struct
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from pyflink.common import Time, Types
from pyflink.datastream import RuntimeContext
from pyflink.datastream.state import ListStateDescriptor, StateTtlConfig, ValueStateDescriptor

from eml.settings import Settings
from eml.stream import keeping, waiting
from eml.stream.donors import Donors
from eml.stream.fleet import KeyModel
from eml.stream.limits import record_size
from eml.stream.records import Raw

BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
VALUES = ("model", "window", "others")
LISTS = ("waiting", "labels")
STATES_PER_KEY = len(VALUES) + len(LISTS)
WRITTEN_AT = struct.Struct(">d")  # seconds since 1970 of the last full write, before the window's bytes
REFRESHES = 4  # full writes in a time to live
FORGOTTEN = 1 + 1 / REFRESHES  # times to live after the last full write: at least one after the last record
CLEANED_UP = 2  # times to live after which Flink removes a part


@dataclass(slots=True)
class Live:
    """A key in the cache."""

    model: KeyModel
    written_at: float | None  # the last full write; None: nothing was written yet
    sizes: dict[str, int] = field(default_factory=dict)  # bytes of each part in state
    waiting: int = 0  # records that wait for a schema
    waiting_bytes: int = 0

    @property
    def size(self) -> int:
        """Bytes of the key's models, about as many as they take in memory."""
        return sum(self.sizes.values())


class ModelStore:
    """Models by key; Flink's state is that of the key at hand."""

    def __init__(self, context: RuntimeContext, settings: Settings) -> None:
        self._settings = settings
        self._ttl_s = settings.job.state_ttl_ms / 1000
        self._donors = Donors()
        self._cache: OrderedDict[str, Live] = OrderedDict()
        self._cached_bytes = 0
        ttl = _time_to_live(CLEANED_UP * settings.job.state_ttl_ms)
        values = {name: ValueStateDescriptor(name, BYTES) for name in VALUES}
        lists = {name: ListStateDescriptor(name, BYTES) for name in LISTS}
        for descriptor in (*values.values(), lists["labels"]):
            descriptor.enable_time_to_live(ttl)
        self._model, self._window, self._others = (context.get_state(values[name]) for name in VALUES)
        self._waiting, self._labels = (context.get_list_state(lists[name]) for name in LISTS)

    # -- models ----------------------------------------------------------------------------------------------------

    def get(self, key: str, name: str) -> Live:
        """The key's model, from the cache or from state; a new one where there is none, or none that still lives.

        Without a name, a key that is not in the cache comes without its models: only its records can wait.
        """
        live = self._cache.get(key)
        if live is not None and self._is_over(live.written_at):
            self.forget(key)
            self._clear()
            live = None
        if live is None or (name and not live.model.key):
            live = self._read(name)
            self._put(key, live)
        self._cache.move_to_end(key)
        return live

    def load(self, name: str, parts: keeping.Parts) -> KeyModel:
        """A model from its parts."""
        return keeping.load(name, self._settings, parts, self._donors)

    def parts(self) -> keeping.Parts:
        """What state holds of the key at hand."""
        return self._parts()[1]

    def forget(self, key: str) -> None:
        """Take a key out of the cache; its state stays."""
        live = self._cache.pop(key, None)
        if live is not None:
            self._cached_bytes -= live.size
            self._donors.forget(live.model.key)

    def store(self, key: str, live: Live, *, everything: bool = False) -> bool:
        """Write what changed, all of it now and then; whether a model was written."""
        now, before = time.time(), live.size
        everything |= live.written_at is not None and now - live.written_at > self._ttl_s / REFRESHES
        first = live.written_at is None
        if first or everything:
            live.written_at = now
        changes = keeping.take_changes(live.model, everything=everything)
        if changes.model is not None:
            self._model.update(changes.model)
            live.sizes["model"] = len(changes.model)
        if changes.others is not None:
            self._others.update(changes.others)
            live.sizes["others"] = len(changes.others)
        if changes.small is not None or first or everything:
            self._window.update(WRITTEN_AT.pack(live.written_at) + (changes.small or b""))
        self._store_labels(live, changes)
        if self._cache.get(key) is live:
            self._cached_bytes += live.size - before
            self._shrink()
        return changes.model is not None

    def _store_labels(self, live: Live, changes: keeping.Changes) -> None:
        for piece in changes.labels:
            self._labels.add(piece)
            live.sizes["labels"] = live.sizes.get("labels", 0) + len(piece)
        if changes.all_labels is not None:
            self._labels.update([changes.all_labels])
            live.sizes["labels"] = len(changes.all_labels)

    def _read(self, name: str) -> Live:
        written_at, parts = self._parts() if name else (None, keeping.Parts())
        if self._is_over(written_at) or (written_at is None and parts.labels):
            self._clear()
            written_at, parts = None, keeping.Parts()
        sizes = {"model": len(parts.model or b""), "others": len(parts.others or b"")}
        sizes["labels"] = sum(map(len, parts.labels))
        waits = [record_size(raw) for raw in self.waiting()]
        return Live(self.load(name, parts), written_at, sizes, len(waits), sum(waits))

    def _parts(self) -> tuple[float | None, keeping.Parts]:
        window = self._window.value()
        if window is None:  # Flink has cleaned up what was forgotten long ago
            return None, keeping.Parts(labels=list(self._labels.get() or ()))
        (written_at,) = WRITTEN_AT.unpack_from(window)
        small = window[WRITTEN_AT.size :] or None
        labels = list(self._labels.get() or ())
        return written_at, keeping.Parts(self._model.value(), small, self._others.value(), labels)

    def _is_over(self, written_at: float | None) -> bool:
        return written_at is not None and time.time() - written_at > FORGOTTEN * self._ttl_s

    def _clear(self) -> None:
        for state in (self._model, self._window, self._others, self._labels):
            state.clear()

    def _put(self, key: str, live: Live) -> None:
        self._cache[key] = live
        self._cached_bytes += live.size
        self._shrink()

    def _shrink(self) -> None:
        """Drop the models used longest ago; the one at hand stays, however large."""
        limit, most = self._settings.limits.cached_bytes, self._settings.job.cached_learners
        while len(self._cache) > 1 and (len(self._cache) > most or self._cached_bytes > limit):
            _, dropped = self._cache.popitem(last=False)
            self._cached_bytes -= dropped.size

    # -- records that wait -----------------------------------------------------------------------------------------

    def waiting(self) -> list[Raw]:
        """The records of the key at hand that wait for a schema, in their order."""
        return [raw for piece in self._waiting.get() or () for raw in waiting.load(piece)]

    def add_waiting(self, live: Live, records: Sequence[Raw]) -> None:
        """Keep records behind those that wait already."""
        if records:
            self._waiting.add(waiting.dump(records))
            live.waiting += len(records)
            live.waiting_bytes += sum(map(record_size, records))

    def take_waiting(self, live: Live) -> list[Raw]:
        """The waiting records, which wait no more."""
        live.waiting = live.waiting_bytes = 0
        return self.drop_waiting()

    def drop_waiting(self) -> list[Raw]:
        """The waiting records of a key whose model cannot be read; they wait no more."""
        records = self.waiting()
        self._waiting.clear()
        return records

    def first_waiting(self) -> Raw | None:
        """The first of the waiting records: its schema decides whether the others can be read."""
        pieces = iter(self._waiting.get() or ())
        first = next(pieces, None)
        return waiting.load(first)[0] if first is not None else None


def _time_to_live(ms: int) -> StateTtlConfig:
    """A mode that keeps PyFlink's write cache enabled; otherwise every write blocks on the JVM."""
    builder = StateTtlConfig.new_builder(Time.milliseconds(ms))
    builder.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)  # disables PyFlink's read cache: ours replaces it
    builder.set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)
    return builder.build()
