"""The keyed operator: loads a key's state, lets `fleet` decide, stores what changed, yields what is to be written.

Built into the graph by `pipeline`, called by Flink once per micro-batch of a key; state and cache are `model_store`'s.
It holds no rule of its own: what becomes of a record is decided in `stream`. No record and no key may fail the task:
records that cannot be read wait in state or become dead letters, and so does one that makes our own code fail.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from functools import partial

from pyflink.common import Row
from pyflink.datastream import KeyedProcessFunction, RuntimeContext

from eml.core import SnapshotVersionError
from eml.flink.metrics import Metrics
from eml.flink.model_store import Live, ModelStore
from eml.flink.notices import Notices
from eml.flink.rows import Rows
from eml.settings import Settings, for_workers
from eml.stream import isolation, keeping
from eml.stream.errors import BadRecordError, RegistryUnavailableError
from eml.stream.fleet import KeyModel, wait_ms
from eml.stream.keys import ReadKey, names_of
from eml.stream.limits import in_pieces, record_size
from eml.stream.newest import NewestVersions
from eml.stream.records import DeadLetter, Raw
from eml.stream.registry import SchemaRegistry
from eml.stream.runs import LookUp, Results
from eml.stream.schema_cache import SchemaCache
from eml.stream.subjects import Subjects

log = logging.getLogger(__name__)

LONGEST_BLOCK_S = 1.0  # between two questions to the registry while the task is blocked
STOPS = SnapshotVersionError  # no record is at fault: the task must stop and say so


class EvolvingOperator(KeyedProcessFunction):
    """One model per key, moved through micro-batches."""

    def __init__(self, settings: Settings, prediction_schema_id: int, evolution_schema_id: int) -> None:
        self._settings = for_workers(settings)
        self._schema_ids = prediction_schema_id, evolution_schema_id

    def open(self, runtime_context: RuntimeContext) -> None:
        """Called by Flink before the first record, also after a restart."""
        settings, record, subjects = self._settings.registry, self._settings.record, Subjects.of(self._settings)
        self._rows = Rows(self._settings, *self._schema_ids)
        cache = SchemaCache(settings.cached_schemas, max(self._schema_ids))
        self._registry = SchemaRegistry(settings, record, subjects=subjects, cache=cache)
        asker = SchemaRegistry(settings, record, subjects=subjects, cache=cache)  # for its own thread
        self._newest = NewestVersions(asker, settings.newest_every_ms)
        self._store = ModelStore(runtime_context, self._settings)
        self._name_of = names_of(record.key_format, self._settings.limits, self._key_schema)
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
        yield from self._guarded(ctx, self._rows.records(value))

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[Row]:  # noqa: ARG002
        """Time to ask the registry again for the key's waiting records."""
        yield from self._guarded(ctx, None)

    def _guarded(self, ctx: KeyedProcessFunction.Context, records: list[Raw] | None) -> Iterator[Row]:
        """Serve new records, or those that wait; where even the key's state cannot be read, they are dead letters."""
        key = ctx.get_current_key()
        try:
            live, no_name = self._live(key)
        except STOPS:
            raise
        except BadRecordError as error:
            lost = self._lost(key, records)
            if lost:
                yield self._all_dead(key, "", lost, error, of_key=True)
            return
        except Exception as error:
            if self._settings.job.on_internal_error == "stop":
                raise
            log.error("the state of key %r cannot be read: %s", key, isolation.place_of(error))  # noqa: TRY400
            self._metrics.failed(1)
            lost = self._lost(key, records)
            results = Results(dead_letters=[isolation.dead_letter(raw, error) for raw in lost])
            self._tell("", results)
            if lost:
                yield self._rows.row(key, "", results)
            return
        if no_name is not None:
            yield from self._wait_for_name(key, live, records, no_name, ctx)
        else:
            yield from self._retry(key, live, ctx) if records is None else self._take(key, live, records, ctx)

    def _live(self, key: str) -> tuple[Live, RegistryUnavailableError | None]:
        """The key's model; where its name cannot be had now, without the model, and why."""
        try:
            name = self._name_of(key)
        except RegistryUnavailableError as error:
            live = self._store.get(key, "")
            return live, None if live.model.key else error  # a model in the cache has its name
        return self._store.get(key, name), None

    def _lost(self, key: str, records: list[Raw] | None) -> list[Raw]:
        """The records of a key that cannot be served: new ones, or those that wait."""
        self._store.forget(key)
        return self._store.drop_waiting() if records is None else records

    def _key_schema(self, schema_id: int) -> ReadKey:
        return self._registry.key_schema(schema_id)

    # -- records ---------------------------------------------------------------------------------------------------

    def _take(self, key: str, live: Live, records: list[Raw], ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        """Serve records in bounded pieces: behind those that wait, or at once."""
        for piece in in_pieces(records, self._settings.limits):
            if live.waiting:
                yield from self._wait(key, live, piece, ctx)
            else:
                yield from self._step(key, live, piece, ctx)

    def _retry(self, key: str, live: Live, ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        """The waiting records, as soon as the first can be read; until then nothing is rewritten."""
        if not live.waiting:
            return
        pause_ms = self._pause_ms(live.model.key)
        if pause_ms:
            self._set_timer(ctx, pause_ms)
        else:
            yield from self._take(key, live, self._store.take_waiting(live), ctx)

    def _pause_ms(self, name: str) -> int:
        """How long the first waiting record must go on waiting; 0: its schema is there, or it is a bad record."""
        first = self._store.first_waiting()
        return wait_ms(first, self._look_up(name)) if first is not None else 0

    def _look_up(self, name: str) -> LookUp:
        return partial(self._registry.reading_schema, key=name)

    def _step(self, key: str, live: Live, records: list[Raw], ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        try:
            results = self._run(live.model, records)
            row = self._rows.row(key, live.model.key, results)
            failed = False
        except STOPS:
            raise
        except Exception:
            if self._settings.job.on_internal_error == "stop":
                raise
            results = self._isolated(key, live, records)
            row = self._rows.row(key, live.model.key, results)
            failed = True
        if self._store.store(key, live, everything=failed):
            self._metrics.updated()
        self._tell(live.model.key, results)
        if results.predictions or results.dead_letters or results.evolutions:
            yield row
        if results.waiting:
            self._set_timer(ctx, results.retry_after_ms)
            yield from self._wait(key, live, results.waiting, ctx)

    def _run(self, model: KeyModel, records: Sequence[Raw]) -> Results:
        return model.step(records, self._look_up(model.key), self._newest.newest)

    def _isolated(self, key: str, live: Live, records: Sequence[Raw]) -> Results:
        """The same records from the state before them, in pieces: only what is at fault becomes a dead letter."""

        def step(model: KeyModel, piece: Sequence[Raw]) -> Results:
            results = self._run(model, piece)
            self._rows.row(key, model.key, results)  # it must also be possible to write them
            return results

        def load(parts: keeping.Parts) -> KeyModel:
            return self._store.load(live.model.key, parts)

        self._store.forget(key)
        again = isolation.Isolation(load, step, self._store.parts())
        results = again.run(records)
        live.model = again.model
        self._metrics.failed(again.failures)
        return results

    # -- waiting ---------------------------------------------------------------------------------------------------

    def _wait_for_name(
        self,
        key: str,
        live: Live,
        records: list[Raw] | None,
        error: RegistryUnavailableError,
        ctx: KeyedProcessFunction.Context,
    ) -> Iterator[Row]:
        """Keep the records of a key whose own schema cannot be had now; one timer asks for it again."""
        if records is None:
            if live.waiting:
                self._set_timer(ctx, error.retry_after_ms)
            return
        if not live.waiting:
            self._set_timer(ctx, error.retry_after_ms)
            self._tell(key, Results(waiting=records, wait_reason=error.reason))
        yield from self._wait(key, live, records, ctx)

    def _name_pause_ms(self, key: str) -> int:
        """How long the name of a key must be waited for; 0: it is there, or the key is a bad one."""
        try:
            self._name_of(key)
        except RegistryUnavailableError as error:
            return error.retry_after_ms
        except BadRecordError:
            pass
        return 0

    def _wait(self, key: str, live: Live, records: list[Raw], ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        """Keep records until their schema can be had; beyond the limits they are dead letters, or block the task."""
        fitting = self._fitting(live, records)
        self._store.add_waiting(live, records[:fitting])
        rest = records[fitting:]
        if not rest:
            return
        if self._settings.job.waiting_full == "block":
            yield from self._block(key, live, rest, ctx)
            return
        limits = self._settings.limits
        error = BadRecordError(
            "waiting-full",
            f"{limits.waiting_records} records or {limits.waiting_bytes} bytes of this key wait for a schema that the"
            " registry cannot be asked for now: send this one again when the registry is back, or raise"
            " limits.waiting_records and limits.waiting_bytes",
        )
        yield self._all_dead(key, live.model.key, rest, error)

    def _fitting(self, live: Live, records: Sequence[Raw]) -> int:
        """How many of the records may wait behind those that do."""
        count, size = live.waiting, live.waiting_bytes
        for number, raw in enumerate(records):
            count, size = count + 1, size + record_size(raw)
            if count > self._settings.limits.waiting_records or size > self._settings.limits.waiting_bytes:
                return number
        return len(records)

    def _block(self, key: str, live: Live, rest: list[Raw], ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        """Hold the task until there is room: Kafka keeps what comes meanwhile, of all keys of the task."""
        log.warning("the task is blocked: too many records of key %r wait (job.waiting_full)", live.model.key or key)
        while rest:
            pause_ms = self._pause_ms(live.model.key) if live.model.key else self._name_pause_ms(key)
            if pause_ms:
                time.sleep(min(pause_ms / 1000, LONGEST_BLOCK_S))
                continue
            if not live.model.key:
                yield from self._guarded(ctx, rest)
                return
            yield from self._step(key, live, self._store.take_waiting(live), ctx)
            if not live.waiting:
                yield from self._step(key, live, rest, ctx)
                return
            fitting = self._fitting(live, rest)
            self._store.add_waiting(live, rest[:fitting])
            rest = rest[fitting:]

    def _set_timer(self, ctx: KeyedProcessFunction.Context, pause_ms: int) -> None:
        service = ctx.timer_service()
        service.register_processing_time_timer(service.current_processing_time() + pause_ms)

    # -- output -----------------------------------------------------------------------------------------------------

    def _all_dead(
        self, key: str, name: str, records: Sequence[Raw], error: BadRecordError, *, of_key: bool = False
    ) -> Row:
        """All of these records as dead letters; tombstones are counted, as everywhere."""
        class_name, counted = type(error).__name__, self._settings.record.tombstones == "count"
        dead = [raw for raw in records if raw.value is not None or not counted]
        letters = [DeadLetter(raw, error.reason, class_name, str(error), None, of_key=of_key) for raw in dead]
        results = Results(dead_letters=letters, tombstones=len(records) - len(dead))
        self._tell(name, results)
        return self._rows.row(key, name, results)

    def _tell(self, name: str, results: Results) -> None:
        self._metrics.count(results)
        self._notices.count(name, results)
