"""The keyed operator: loads a key's state, lets `fleet` decide, stores what changed, yields what is to be written.

Built into the graph by `pipeline`, called by Flink once per micro-batch of a key. It holds no rule of its own: what
becomes of a record is decided in `stream`.

Live models stay in a bounded cache over Flink's state. State is read on a miss and written when a model changed, so
cache and state never differ at the end of a call: a checkpoint between calls holds everything.
"""

import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyflink.common import Row, Time, Types
from pyflink.datastream import KeyedProcessFunction, RuntimeContext
from pyflink.datastream.state import ListStateDescriptor, StateTtlConfig, ValueStateDescriptor

from eml.flink.metrics import Metrics
from eml.flink.notices import Notices
from eml.settings import Settings
from eml.stream import keeping, waiting
from eml.stream.donors import Donors
from eml.stream.errors import BadRecordError, RegistryUnavailableError
from eml.stream.fleet import KeyModel
from eml.stream.newest import NewestVersions
from eml.stream.outputs import Encoder, dead_letter_headers
from eml.stream.records import DeadLetter, Position, Raw
from eml.stream.registry import SchemaRegistry
from eml.stream.runs import Results

BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
HEADERS = Types.MAP(Types.STRING(), BYTES)
# A micro-batch has a column for each of partition, offset, timestamp, value, headers and whether it is a label: a row
# for each record would take five times as long to read.
COLUMNS = (Types.INT(), Types.LONG(), Types.LONG(), BYTES, HEADERS, Types.BOOLEAN())
INPUT = Types.ROW([Types.STRING(), Types.ROW([Types.OBJECT_ARRAY(column) for column in COLUMNS])])  # key, micro-batch
OUTPUT = Types.ROW_NAMED(
    ["kafka_key", "predictions", "evolutions", "dead_letters"],
    [
        BYTES,
        Types.OBJECT_ARRAY(BYTES),
        Types.OBJECT_ARRAY(BYTES),
        Types.OBJECT_ARRAY(Types.ROW_NAMED(["content", "headers"], [BYTES, HEADERS])),
    ],
)
NO_HEADERS: Mapping[str, bytes] = {}
VALUE_STATES = ("model", "window", "others")
LIST_STATES = ("waiting", "labels")
STATES_PER_KEY = len(VALUE_STATES) + len(LIST_STATES)  # `environment` sizes PyFlink's state cache by it
REFRESHES = 4  # times in its life that an unchanged state is written again, so that only silent keys expire


@dataclass(slots=True)
class Live:
    """A model in the cache."""

    model: KeyModel
    waiting: int  # records in the waiting state
    seen: float
    written: float


class EvolvingOperator(KeyedProcessFunction):
    """One model per key, moved through micro-batches."""

    def __init__(self, settings: Settings, prediction_schema_id: int, evolution_schema_id: int) -> None:
        self._settings = settings
        self._schema_ids = prediction_schema_id, evolution_schema_id

    def open(self, runtime_context: RuntimeContext) -> None:
        """Called by Flink before the first record, also after a restart."""
        kafka = self._settings.kafka
        self._encoder = Encoder(*self._schema_ids)
        subject = f"{kafka.readings_topic}-value"
        settings, record = self._settings.registry, self._settings.record
        self._registry = SchemaRegistry(settings, record, subject=subject)
        self._newest = NewestVersions(SchemaRegistry(settings, record, subject=subject), settings.newest_every_ms)
        self._donors = Donors()
        self._cache: OrderedDict[str, Live] = OrderedDict()
        self._ttl = self._settings.job.state_ttl_ms / 1000
        ttl = _time_to_live(self._settings.job.state_ttl_ms)
        values = [ValueStateDescriptor(name, BYTES) for name in VALUE_STATES]
        lists = [ListStateDescriptor(name, BYTES) for name in LIST_STATES]
        for descriptor in (*values, *lists):
            descriptor.enable_time_to_live(ttl)
        self._model_state, self._window_state, self._others_state = map(runtime_context.get_state, values)
        self._waiting_state, self._labels_state = map(runtime_context.get_list_state, lists)
        self._metrics = Metrics(runtime_context.get_metrics_group())
        self._notices = Notices()

    def close(self) -> None:
        """Called by Flink at the end, also before a restart."""
        self._notices.close()
        self._newest.close()
        self._registry.close()

    # -- called by Flink -------------------------------------------------------------------------------------------

    def process_element(self, value: Row, ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        """A micro-batch of one key, column by column."""
        key, records = ctx.get_current_key(), self._raws(value)
        name = _readable(key)
        if name is None:
            yield self._unusable_key(key, records)
            return
        live = self._live(name)
        if live.waiting:
            self._wait(live, records)
            return
        yield from self._step(key, live, records, ctx)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[Row]:  # noqa: ARG002
        """Time to ask the registry again."""
        key = ctx.get_current_key()
        live = self._live(_readable(key) or "")
        if live.waiting:
            records = [raw for piece in self._waiting_state.get() for raw in waiting.load(piece)]
            self._waiting_state.clear()
            live.waiting = 0
            yield from self._step(key, live, records, ctx)

    # -- one step --------------------------------------------------------------------------------------------------

    def _step(self, key: str, live: Live, records: list[Raw], ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        results = live.model.step(records, self._registry.reading_schema, self._newest.newest)
        if results.waiting:
            self._wait(live, results.waiting)
            service = ctx.timer_service()
            service.register_processing_time_timer(service.current_processing_time() + results.retry_after_ms)
        self._store(live)
        self._metrics.count(results)
        self._notices.count(live.model.key, results)
        if results.predictions or results.dead_letters or results.evolutions:
            yield self._row(key, live.model.key, results)

    def _wait(self, live: Live, records: list[Raw]) -> None:
        limit = self._settings.job.waiting_records
        live.waiting += len(records)
        if live.waiting > limit:
            raise RegistryUnavailableError(
                f"more than {limit} records of key {live.model.key!r} wait for a schema that the registry at"
                f" {self._settings.registry.url} cannot be asked for: bring it back, or raise job.waiting_records",
                self._settings.registry.longest_retry_ms,
            )
        self._waiting_state.add(waiting.dump(records))

    def _raws(self, columns: Iterable[Sequence[Any]]) -> list[Raw]:
        readings, labels = self._settings.kafka.readings_topic, self._settings.kafka.labels_topic
        return [
            Raw(value, Position(labels if is_label else readings, partition, offset, timestamp), headers or NO_HEADERS)
            for partition, offset, timestamp, value, headers, is_label in zip(*columns, strict=True)
        ]

    # -- state -----------------------------------------------------------------------------------------------------

    def _live(self, name: str) -> Live:
        now = time.time()
        live = self._cache.get(name)
        if live is None or now - live.seen > self._ttl:
            live = self._read(name, now)
            self._cache[name] = live
            if len(self._cache) > self._settings.job.cached_learners:
                self._cache.popitem(last=False)
        self._cache.move_to_end(name)
        live.seen = now
        return live

    def _read(self, name: str, now: float) -> Live:
        parts = keeping.Parts(
            self._model_state.value(),
            self._window_state.value(),
            self._others_state.value(),
            list(self._labels_state.get() or ()),
        )
        model = keeping.load(name, self._settings, parts, self._donors)
        waits = sum(len(waiting.load(piece)) for piece in self._waiting_state.get() or ())
        return Live(model, waits, now, now)

    def _store(self, live: Live) -> None:
        """Write what changed; and all of it now and then, for its time to live counts from the last write."""
        stale = live.seen - live.written > self._ttl / REFRESHES
        if stale:
            live.written = live.seen
        changes = keeping.take_changes(live.model, everything=stale)
        if changes.model is not None:
            self._metrics.updated()
            self._model_state.update(changes.model)
        if changes.small is not None:
            self._window_state.update(changes.small)
        if changes.others is not None:
            self._others_state.update(changes.others)
        for piece in changes.labels:
            self._labels_state.add(piece)
        if changes.all_labels is not None:
            self._labels_state.update([changes.all_labels])

    # -- output ----------------------------------------------------------------------------------------------------

    def _row(self, key: str, name: str, results: Results) -> Row:
        encoder = self._encoder
        return Row(
            kafka_key=key.encode("latin-1") or None,
            predictions=[encoder.prediction(name, scored) for scored in results.predictions],
            evolutions=[encoder.evolution(name, evolved) for evolved in results.evolutions],
            dead_letters=[Row(letter.raw.value, dead_letter_headers(letter)) for letter in results.dead_letters],
        )

    def _unusable_key(self, key: str, records: list[Raw]) -> Row:
        error = BadRecordError(
            "no-key", "the record has no key, or one that is not UTF-8: send each with its device's name"
        )
        name = type(error).__name__
        letters = [DeadLetter(raw, error.reason, name, str(error), None, of_key=True) for raw in records]
        results = Results(dead_letters=letters)
        self._metrics.count(results)
        self._notices.count("", results)
        return self._row(key, "", results)


def _time_to_live(ms: int) -> StateTtlConfig:
    """Of a kind that lets PyFlink keep writes until the end of a bundle: each alone is a wait for the JVM."""
    builder = StateTtlConfig.new_builder(Time.milliseconds(ms))
    builder.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)  # with this, reads are not cached: the models are
    builder.set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)
    return builder.build()


def _readable(key: str) -> str | None:
    """The key as text; it comes with one character per byte, so that no two keys become one on the way."""
    try:
        return key.encode("latin-1").decode() or None
    except UnicodeDecodeError:
        return None
