"""The keyed operator: loads the models of a call, lets `key_model` decide, stores what changed, yields what is written.

Built into the graph by `pipeline`, called by Flink once per micro-batch of a bucket of models; state and cache are
`model_store`'s, records that wait `waiting_queues`'. It holds no rule of its own: what becomes of a record is decided
in `stream`. No record and no model may fail the task: records that cannot be read wait in state or become dead
letters, and so does one that makes our own code fail.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from functools import cache, partial

from pyflink.common import Row
from pyflink.datastream import KeyedProcessFunction, RuntimeContext

from eml.core import SnapshotVersionError
from eml.flink.compiling import compile_predictor
from eml.flink.metrics import Metrics
from eml.flink.model_store import Live, ModelStore
from eml.flink.notices import Notices
from eml.flink.rows import Rows, Written
from eml.flink.waiting_queues import WaitingQueues
from eml.settings import Settings, for_workers
from eml.stream.avro.micro_batch import Decode, MicroBatch, decode
from eml.stream.errors import BadRecordError, RegistryUnavailableError
from eml.stream.keys import Headers, KafkaKey, KeyName, ReadKey
from eml.stream.limits import in_pieces
from eml.stream.model_keys import model_names
from eml.stream.models import isolation, state_codec
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import LookUp, NewestSchema, Results
from eml.stream.models.record_reader import schema_wait_ms
from eml.stream.output.dead_letters import DeadLetter
from eml.stream.output.encoder import OutputIds
from eml.stream.records import NO_KEY_NAME, Raw
from eml.stream.registry.client import SchemaRegistry
from eml.stream.registry.newest_versions import NewestVersions
from eml.stream.registry.schema_cache import SchemaCache
from eml.stream.registry.subjects import Subjects
from eml.stream.wire import PREFIXES, SchemaId, SchemaRef

log = logging.getLogger(__name__)

LONGEST_BLOCK_S = 1.0  # between two questions to the registry while the task is blocked
STOPS = SnapshotVersionError  # no record is at fault: the task must stop and say so


class EvolvingOperator(KeyedProcessFunction):
    """The models of a bucket, moved through micro-batches."""

    def __init__(self, settings: Settings, ids: OutputIds) -> None:
        self._settings = for_workers(settings)
        self._ids = ids

    def open(self, runtime_context: RuntimeContext) -> None:
        """Called by Flink before the first record, also after a restart."""
        compile_predictor()  # before a record waits for it
        settings, record, subjects = self._settings.registry, self._settings.record, Subjects.of(self._settings)
        self._rows = Rows(self._settings, self._ids)
        schemas = SchemaCache(settings.cached_schemas, SchemaId(max(self._ids)))
        self._registry = SchemaRegistry(settings, record, subjects=subjects, cache=schemas)
        asker = SchemaRegistry(settings, record, subjects=subjects, cache=schemas)  # for its own thread
        self._newest = NewestVersions(asker, settings.newest_every_ms)
        self._store = ModelStore(runtime_context, self._settings)
        self._waiting = WaitingQueues(runtime_context, self._settings.limits)
        self._name_of = model_names(self._settings, self._key_schema)
        self._prefix = PREFIXES[self._settings.record.schema_id_format]
        self._metrics = Metrics(runtime_context.get_metrics_group())
        self._notices = Notices()
        self._out = Written()  # what the call at hand has given so far
        self._decode: Decode = decode
        self._newest_of: NewestSchema = self._newest.newest  # asked once in a call for each subject
        self._call: MicroBatch | None = None  # at hand

    def close(self) -> None:
        """Called by Flink at the end, also before a restart."""
        self._notices.close()
        self._newest.close()
        self._registry.close()

    # -- called by Flink -------------------------------------------------------------------------------------------

    def process_element(self, value: Row, ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        """A micro-batch of the bucket's models, column by column."""
        self._enter(ctx.get_current_key())
        call = self._rows.call(value)
        self._call = call
        call.decode_together(self._registry.cached_schema)
        self._decode, self._newest_of = call.decode, cache(self._newest.newest)
        self._metrics.replayed(call.replayed())
        for key, numbers in call.models.items():
            if not self._serve_columns(key, numbers, call):
                self._serve(key, call.raws(numbers), ctx)
        yield from self._finished()

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[Row]:
        """Time to ask the registry again for waiting records of the bucket."""
        self._enter(ctx.get_current_key())
        self._newest_of = cache(self._newest.newest)
        due = [key for key, queue in self._waiting.all().items() if queue.retry_at_ms <= timestamp]
        for key in due:
            self._serve(key, None, ctx)
        yield from self._finished()

    def _enter(self, bucket: str) -> None:
        self._store.enter()
        self._waiting.enter(bucket)

    def _finished(self) -> Iterator[Row]:
        """The rows of a call."""
        written, self._out = self._out, Written()
        self._decode, self._call = decode, None
        self._metrics.flush()
        yield from self._rows.rows(written)

    def _serve_columns(self, key: KafkaKey, numbers: list[int], call: MicroBatch) -> bool:
        """Serve good readings of one schema without an object for each; False where they are others.

        Where something is wrong, the model is as it was before: `_serve` finds what it is, and with which record.
        """
        if key in self._waiting.all():
            return False
        try:
            live, no_name = self._live(key)
            readings = call.readings(numbers, live.model.device_of)
            if no_name is not None or readings is None:
                return False
            results = live.model.serve(readings, self._newest_of)
            written = self._rows.written(key, live.model.key, results)
        except STOPS:
            raise
        except Exception:  # noqa: BLE001  it comes again there
            self._store.forget(key)
            return False
        self._store_model(key, live, results, written)
        return True

    # -- a model ---------------------------------------------------------------------------------------------------

    def _serve(self, key: KafkaKey, records: list[Raw] | None, ctx: KeyedProcessFunction.Context) -> None:
        """Serve new records, or those that wait; where even the model's state cannot be read, they are dead letters."""
        try:
            live, no_name = self._live(key)
        except STOPS:
            raise
        except BadRecordError as error:
            self._all_dead(key, NO_KEY_NAME, self._lost(key, records), error, of_key=True)
            return
        except Exception as error:
            if self._settings.job.on_internal_error == "stop":
                raise
            log.error("the state of key %r cannot be read: %s", key, isolation.place_of(error))  # noqa: TRY400
            self._metrics.failed(1)
            letters = [isolation.dead_letter(raw, error) for raw in self._lost(key, records)]
            self._write(key, NO_KEY_NAME, Results(dead_letters=letters))
            return
        if no_name is not None:
            self._wait_for_name(key, records, no_name, ctx)
        elif records is None:
            self._retry(key, live, ctx)
        else:
            self._take(key, live, records, ctx)

    def _live(self, key: KafkaKey) -> tuple[Live, RegistryUnavailableError | None]:
        """The model; where its name cannot be had now, without its learners, and why."""
        live = self._store.cached(key)
        if live is not None:
            return live, None
        try:
            name = self._name_of(key, self._headers(key))
        except RegistryUnavailableError as error:
            live = self._store.get(key, NO_KEY_NAME)
            return live, None if live.model.key else error  # a model in the cache has its name
        return self._store.get(key, name), None

    def _lost(self, key: KafkaKey, records: list[Raw] | None) -> list[Raw]:
        """The records of a model that cannot be served: new ones, or those that wait."""
        self._store.forget(key)
        return self._waiting.take(key) if records is None else records

    def _key_schema(self, name: SchemaRef) -> ReadKey:
        return self._registry.key_schema(name)

    def _headers(self, key: KafkaKey) -> Headers | None:
        """Of a record with this key: they may name the key's schema."""
        if self._settings.record.key_format != "avro":
            return None
        numbers = self._call.models.get(key) if self._call is not None else None
        if self._call is not None and numbers:
            return self._call.columns.headers[numbers[0]]
        first = self._waiting.first(key)
        return None if first is None else first.headers

    # -- records ---------------------------------------------------------------------------------------------------

    def _take(self, key: KafkaKey, live: Live, records: list[Raw], ctx: KeyedProcessFunction.Context) -> None:
        """Serve records in bounded pieces: behind those that wait, or at once."""
        for piece in in_pieces(records, self._settings.limits):
            if key in self._waiting.all():
                self._wait(key, live, piece, ctx)
            else:
                self._step(key, live, piece, ctx)

    def _retry(self, key: KafkaKey, live: Live, ctx: KeyedProcessFunction.Context) -> None:
        """The waiting records, as soon as the first can be read; until then nothing is rewritten."""
        pause_ms = self._pause_ms(key, live.model.key)
        if pause_ms:
            self._set_timer(key, pause_ms, ctx)
        else:
            self._take(key, live, self._waiting.take(key), ctx)

    def _pause_ms(self, key: KafkaKey, name: KeyName) -> int:
        """How long the first waiting record must go on waiting; 0: its schema is there, or it is a bad record."""
        first = self._waiting.first(key)
        return schema_wait_ms(first, self._look_up(name), self._prefix) if first is not None else 0

    def _look_up(self, name: KeyName) -> LookUp:
        return partial(self._registry.reading_schema, key=name)

    def _step(self, key: KafkaKey, live: Live, records: list[Raw], ctx: KeyedProcessFunction.Context) -> None:
        try:
            results = self._run(live.model, records)
            written = self._rows.written(key, live.model.key, results)
            failed = False
        except STOPS:
            raise
        except Exception:
            if self._settings.job.on_internal_error == "stop":
                raise
            results = self._isolated(key, live, records)
            written = self._rows.written(key, live.model.key, results)
            failed = True
        self._store_model(key, live, results, written, everything=failed)
        if results.waiting:
            self._wait(key, live, results.waiting, ctx)
            self._set_timer(key, results.retry_after_ms, ctx)

    def _store_model(
        self, key: KafkaKey, live: Live, results: Results, written: Written, *, everything: bool = False
    ) -> None:
        """A model has served records: keep what changed in it, and what it gave."""
        if self._store.store(key, live, everything=everything):
            self._metrics.updated()
        self._tell(live.model.key, results)
        self._out.add(written)

    def _run(self, model: KeyModel, records: Sequence[Raw]) -> Results:
        return model.step(records, self._look_up(model.key), self._newest_of, self._decode)

    def _isolated(self, key: KafkaKey, live: Live, records: Sequence[Raw]) -> Results:
        """The same records from the state before them, in pieces: only what is at fault becomes a dead letter."""

        def step(model: KeyModel, piece: Sequence[Raw]) -> Results:
            results = self._run(model, piece)
            self._rows.written(key, model.key, results)  # it must also be possible to write them
            return results

        def load(parts: state_codec.StateParts) -> KeyModel:
            return self._store.load(live.model.key, parts)

        self._store.forget(key)
        again = isolation.Isolation(load, step, self._store.parts(key))
        results = again.run(records)
        live.model = again.model
        self._metrics.failed(again.failures)
        return results

    # -- waiting ---------------------------------------------------------------------------------------------------

    def _wait_for_name(
        self,
        key: KafkaKey,
        records: list[Raw] | None,
        error: RegistryUnavailableError,
        ctx: KeyedProcessFunction.Context,
    ) -> None:
        """Keep the records of a key whose own schema cannot be had now; one timer asks for it again."""
        waits = key in self._waiting.all()
        if records is not None:
            self._wait(key, self._store.get(key, NO_KEY_NAME), records, ctx)
        if records is None or not waits:
            self._set_timer(key, error.retry_after_ms, ctx)
        if records is not None and not waits:
            self._tell(KeyName(key), Results(waiting=records, wait_reason=error.reason))

    def _name_pause_ms(self, key: KafkaKey) -> int:
        """How long the name of a key must be waited for; 0: it is there, or the key is a bad one."""
        try:
            self._name_of(key, self._headers(key))
        except RegistryUnavailableError as error:
            return error.retry_after_ms
        except BadRecordError:
            pass
        return 0

    def _wait(self, key: KafkaKey, live: Live, records: list[Raw], ctx: KeyedProcessFunction.Context) -> None:
        """Keep records until their schema can be had; beyond the limits they are dead letters, or block the task."""
        fitting = self._waiting.fitting(key, records)
        self._waiting.add(key, records[:fitting])
        rest = records[fitting:]
        if not rest:
            return
        if self._settings.job.waiting_full == "block":
            self._block(key, live, rest, ctx)
            return
        limits = self._settings.limits
        error = BadRecordError(
            "waiting-full",
            f"{limits.waiting_records} records or {limits.waiting_bytes} bytes of this key wait for a schema that the"
            " registry cannot be asked for now: send this one again when the registry is back, or raise"
            " limits.waiting_records and limits.waiting_bytes",
        )
        self._all_dead(key, live.model.key, rest, error)

    def _block(self, key: KafkaKey, live: Live, rest: list[Raw], ctx: KeyedProcessFunction.Context) -> None:
        """Hold the task until there is room: Kafka keeps what comes meanwhile, of all models of the task."""
        log.warning("the task is blocked: too many records of key %r wait (job.waiting_full)", live.model.key or key)
        while rest:
            pause_ms = self._pause_ms(key, live.model.key) if live.model.key else self._name_pause_ms(key)
            if pause_ms:
                time.sleep(min(pause_ms / 1000, LONGEST_BLOCK_S))
                continue
            if not live.model.key:
                self._serve(key, None, ctx)
                self._serve(key, rest, ctx)
                return
            self._step(key, live, self._waiting.take(key), ctx)
            if key not in self._waiting.all():
                self._step(key, live, rest, ctx)
                return
            fitting = self._waiting.fitting(key, rest)
            self._waiting.add(key, rest[:fitting])
            rest = rest[fitting:]

    def _set_timer(self, key: KafkaKey, pause_ms: int, ctx: KeyedProcessFunction.Context) -> None:
        """Ask again for what the model's waiting records need; the timer is the bucket's."""
        queue = self._waiting.all().get(key)
        if queue is None:  # none of its records could be kept
            return
        service = ctx.timer_service()
        queue.retry_at_ms = service.current_processing_time() + pause_ms
        service.register_processing_time_timer(queue.retry_at_ms)

    # -- output -----------------------------------------------------------------------------------------------------

    def _all_dead(
        self, key: KafkaKey, name: KeyName, records: Sequence[Raw], error: BadRecordError, *, of_key: bool = False
    ) -> None:
        """All of these records as dead letters; tombstones are counted, as everywhere."""
        class_name, counted = type(error).__name__, self._settings.record.tombstones == "count"
        dead = [raw for raw in records if raw.value is not None or not counted]
        letters = [DeadLetter(raw, error.reason, class_name, str(error), None, of_key=of_key) for raw in dead]
        self._write(key, name, Results(dead_letters=letters, tombstones=len(records) - len(dead)))

    def _write(self, key: KafkaKey, name: KeyName, results: Results) -> None:
        self._tell(name, results)
        self._out.add(self._rows.written(key, name, results))

    def _tell(self, name: KeyName, results: Results) -> None:
        self._metrics.count(results)
        self._notices.count(name, results)
