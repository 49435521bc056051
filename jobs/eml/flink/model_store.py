"""Models in Flink's state, with a bounded cache of live models over it.

Used by `operator`, one per task. Flink's key is a bucket of models; each part of a model is an entry of a map state
under the model's key. State is read on a cache miss and written when something changed, so cache and state never
differ at the end of a call: a checkpoint between calls holds everything. Decides nothing about records.

    index     KEY             when all parts were last written, which parts there are, and of how many pieces
    model     KEY             the newest learner, as it was when last written whole
    changes   NUMBER:KEY      pieces of the log of what changed in it since
    window    KEY             what is small and changes often
    others    KEY             learners of versions that were left
    labels    NUMBER:KEY      pieces of the log of readings and labels that wait for each other

The parts of a model must expire together: a model without its window, or a log of labels without its first piece,
cannot be used. So Flink's time to live, which counts for each entry on its own, is twice as long as
`job.state_ttl_ms`, and only cleans up. What decides is the time of the last full write, kept in the index: all parts
are written again four times in `state_ttl_ms`, and a model whose last full write is older than that and one quarter
is forgotten as a whole.
"""

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from pyflink.common import Time, Types
from pyflink.datastream import RuntimeContext
from pyflink.datastream.state import MapState, MapStateDescriptor, StateTtlConfig

from eml.flink import waiting_queues
from eml.flink.types import BYTES
from eml.settings import Settings
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.models import state_codec
from eml.stream.models.key_model import KeyModel
from eml.stream.models.warm_start import WarmStartModels
from eml.stream.state_format import pack, unpack

PARTS = ("model", "window", "others")  # one entry each
LOGS = ("labels", "changes")  # entries by number
EXPIRING = ("index", *PARTS, *LOGS)
STATES = (*EXPIRING, waiting_queues.STATE)  # all that the operator has
MAGIC, VERSION = b"EMLI", 1
REFRESHES = 4  # full writes in a time to live
FORGOTTEN = 1 + 1 / REFRESHES  # times to live after the last full write: at least one after the last record
CLEANED_UP = 2  # times to live after which Flink removes a part


@dataclass(frozen=True, slots=True)
class Index:
    """What state holds of a model."""

    written_at: float | None = None  # seconds since 1970 of the last full write; None: nothing was written yet
    parts: frozenset[str] = frozenset()
    labels: int = 0  # pieces of each log
    changes: int = 0

    def dump(self) -> bytes:
        """As bytes."""
        return pack(MAGIC, VERSION, [self.written_at, sorted(self.parts), self.labels, self.changes], b"")

    @classmethod
    def load(cls, data: bytes) -> "Index":
        """The index that was dumped."""
        (written_at, parts, *pieces), _ = unpack(MAGIC, VERSION, data, "the index of a model's parts")
        return cls(written_at, frozenset(parts), *pieces)


@dataclass(slots=True)
class Live:
    """A model in the cache."""

    model: KeyModel
    index: Index = Index()
    labels_size: int = 0  # bytes of their log in state, about as many as they take in memory
    nbytes: int = 0  # what all of it takes in memory, as it was last counted

    def count(self) -> int:
        """Count anew what it takes in memory; by how much that grew."""
        before, self.nbytes = self.nbytes, self.model.nbytes + self.labels_size
        return self.nbytes - before


class ModelStore:
    """Models by key; Flink's state is that of the bucket at hand."""

    def __init__(self, context: RuntimeContext, settings: Settings) -> None:
        self._settings = settings
        self._ttl_s = settings.job.state_ttl_ms / 1000
        self._warm_start = WarmStartModels()
        self._cache: OrderedDict[KafkaKey, Live] = OrderedDict()
        self._cached_bytes = 0
        self._now = 0.0
        ttl = _time_to_live(CLEANED_UP * settings.job.state_ttl_ms)
        descriptors = {name: MapStateDescriptor(name, Types.STRING(), BYTES) for name in EXPIRING}
        for name in EXPIRING:
            descriptors[name].enable_time_to_live(ttl)
        self._states: dict[str, MapState] = {name: context.get_map_state(descriptors[name]) for name in EXPIRING}

    def enter(self) -> None:
        """A call begins: from now on state is that of Flink's current key, a bucket."""
        self._now = time.time()

    # -- models ----------------------------------------------------------------------------------------------------

    def get(self, key: KafkaKey, name: KeyName) -> Live:
        """The model of a key, from the cache or from state; a new one where there is none, or none that still lives.

        Without a name, a key that is not in the cache comes without its models: only its records can wait.
        """
        live = self._cache.get(key)
        if live is not None and self._is_over(live.index):
            self.forget(key)
            self._clear(key, live.index)
            live = None
        if live is None or (name and not live.model.key):
            live = self._read(key, name)
            self._put(key, live)
        self._cache.move_to_end(key)
        return live

    def cached(self, key: KafkaKey) -> Live | None:
        """The model of a key, where it is in the cache with its name, and still lives."""
        live = self._cache.get(key)
        if live is None or not live.model.key or self._is_over(live.index):
            return None
        self._cache.move_to_end(key)
        return live

    def load(self, name: KeyName, parts: state_codec.StateParts) -> KeyModel:
        """A model from its parts."""
        return state_codec.load(name, self._settings, parts, self._warm_start)

    def parts(self, key: KafkaKey) -> state_codec.StateParts:
        """What state holds of a model."""
        return self._parts(key, self._index(key))

    def forget(self, key: KafkaKey) -> None:
        """Take a model out of the cache; its state stays."""
        live = self._cache.pop(key, None)
        if live is not None:
            self._cached_bytes -= live.nbytes
            self._warm_start.forget(live.model.key)

    def store(self, key: KafkaKey, live: Live, *, everything: bool = False) -> bool:
        """Write what changed, all of it now and then; whether a model was written."""
        written = self._write(key, live, everything=everything)
        if self._cache.get(key) is live:
            self._cached_bytes += live.count()
            self._shrink()
        return written

    def _write(self, key: KafkaKey, live: Live, *, everything: bool) -> bool:
        index = live.index
        written_at = index.written_at
        everything |= written_at is not None and self._is_old(index)
        if written_at is not None and not everything and not state_codec.has_changes(live.model):
            return False
        changes = state_codec.take_changes(live.model, everything=everything, log=True)
        written = {"model": changes.model, "window": changes.window, "others": changes.others}
        for part, data in written.items():
            if data is not None:
                self._states[part].put(key, data)
        if everything or written_at is None:
            written_at = self._now
        new = {part for part, data in written.items() if data is not None}
        size = 0 if changes.all_labels is not None else live.labels_size
        live.labels_size = size + sum(map(len, (changes.all_labels or b"", *changes.labels)))
        labels = self._append("labels", key, index.labels, changes.all_labels, changes.labels)
        pieces = self._append("changes", key, index.changes, changes.model and b"", changes.changes)
        index = Index(written_at, index.parts | new, labels, pieces)
        if index != live.index:
            self._states["index"].put(key, index.dump())
            live.index = index
        return changes.model is not None or bool(changes.changes)

    def _append(self, log: str, key: KafkaKey, count: int, anew: bytes | None, pieces: Sequence[bytes]) -> int:
        """Write new pieces of a log that has `count`, behind its only piece `anew` where it begins anew; the count."""
        state = self._states[log]
        if anew is not None:
            for number in range(1 if anew else 0, count):
                state.remove(f"{number}:{key}")
            count = 0
        for piece in (*([anew] if anew else []), *pieces):
            state.put(f"{count}:{key}", piece)
            count += 1
        return count

    def _read(self, key: KafkaKey, name: KeyName) -> Live:
        index = self._index(key) if name else Index()
        if self._is_over(index):
            self._clear(key, index)
            index = Index()
        parts = self._parts(key, index)
        return Live(self.load(name, parts), index, sum(map(len, parts.labels)))

    def _index(self, key: KafkaKey) -> Index:
        data = self._states["index"].get(key)
        return Index() if data is None else Index.load(data)

    def _parts(self, key: KafkaKey, index: Index) -> state_codec.StateParts:
        found = {part: self._states[part].get(key) for part in PARTS if part in index.parts}
        labels, changes = (
            [self._states[log].get(f"{number}:{key}") for number in range(getattr(index, log))] for log in LOGS
        )
        return state_codec.StateParts(found.get("model"), found.get("window"), found.get("others"), labels, changes)

    def _is_old(self, index: Index) -> bool:
        """Whether all of a model is to be written again, or for the first time."""
        return index.written_at is None or self._now - index.written_at > self._ttl_s / REFRESHES

    def _is_over(self, index: Index) -> bool:
        return index.written_at is not None and self._now - index.written_at > FORGOTTEN * self._ttl_s

    def _clear(self, key: KafkaKey, index: Index) -> None:
        for part in (*index.parts, "index"):
            self._states[part].remove(key)
        for log in LOGS:
            for number in range(getattr(index, log)):
                self._states[log].remove(f"{number}:{key}")

    def _put(self, key: KafkaKey, live: Live) -> None:
        self._cache[key] = live
        self._cached_bytes += live.count()
        self._shrink()

    def _shrink(self) -> None:
        """Drop the models used longest ago; the one at hand stays, however large."""
        while len(self._cache) > 1 and self._cached_bytes > self._settings.limits.cached_bytes:
            _, dropped = self._cache.popitem(last=False)
            self._cached_bytes -= dropped.nbytes


def _time_to_live(ms: int) -> StateTtlConfig:
    """A mode that keeps PyFlink's write cache enabled; otherwise every write blocks on the JVM."""
    builder = StateTtlConfig.new_builder(Time.milliseconds(ms))
    builder.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)  # disables PyFlink's read cache: ours replaces it
    builder.set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)
    return builder.build()
