"""Fault 14, keys in Avro: named by their values, and waiting in state while their schema cannot be had."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from pyflink.common import Row

from eml.settings import JobSettings, LimitsSettings, RecordSettings, Settings
from eml.stream.avro.key_schema import compile_key
from eml.stream.keys import KeyName
from eml.stream.output.encoder import read_prediction
from eml.stream.output.schemas import schema_text
from eml.stream.wire import frame
from tests.operator.fakes import FakeRuntime
from tests.operator.test_operator import BUCKET, SETTINGS, STREAM, Task, in_pieces, keys_of, predictions
from tests.operator.test_registry_faults import OURS, RealTask, reasons, settings
from tests.unit.stream.models.test_key_model import records
from tests.unit.stream.registry.registry_server import RegistryServer, serving

AVRO = replace(SETTINGS, record=RecordSettings(key_format="avro"))
KEY_ID = 5
PUMP = frame(KEY_ID, b"\x08pump").decode("latin-1")
FAN = frame(KEY_ID, b"\x06fan").decode("latin-1")
SOON_MS = 600


class KeyedTask(Task):
    """A task whose registry knows the schema of keys."""

    def __init__(self, settings: Settings = AVRO, runtime: FakeRuntime | None = None) -> None:
        super().__init__(settings, runtime)
        self.registry.keys[KEY_ID] = compile_key('"string"', RecordSettings())


def names(rows: Sequence[Row]) -> set[object]:
    return {read_prediction(value)["key"] for value in predictions(rows)}


def offsets(rows: Sequence[Row]) -> list[object]:
    return [read_prediction(value)["source_offset"] for value in predictions(rows)]


def test_fault_14_an_avro_key_has_a_model_a_name_and_its_own_bytes():
    task = KeyedTask()
    rows = task.send(PUMP, records(STREAM))
    assert names(rows) == {"pump"}
    assert keys_of(rows)[0] == PUMP.encode("latin-1")
    assert predictions(rows) == predictions(Task().send("pump", records(STREAM)))


@pytest.mark.parametrize("restarted", [False, True])
def test_records_wait_for_the_schema_of_their_key_and_other_keys_flow(restarted):
    raws, task = records(STREAM), KeyedTask()
    unbroken = predictions(KeyedTask().send(PUMP, raws))
    said = predictions(task.send(PUMP, raws[:40]))
    runtime = task.runtime
    task = KeyedTask(runtime=runtime)  # its cache is empty: it needs the name again
    task.registry.down = {KEY_ID}
    other = frame(6, b"\x06fan").decode("latin-1")
    task.registry.keys[6] = task.registry.keys[KEY_ID]
    for piece in in_pieces(raws[40:100], 20):
        assert not task.send(PUMP, piece)
    assert len(predictions(task.send(other, records([1] * 5)))) == 5
    assert len(runtime.timers) == 1, "one timer per key, however many micro-batches wait"
    assert runtime.counters["waits"].count == runtime.counters["waits_outage"].count == 1
    assert not task.pass_time(SOON_MS)
    assert len(runtime.timers) == 1
    if restarted:
        task = KeyedTask(runtime=runtime)
    task.registry.down = set()
    rows = task.pass_time(SOON_MS)
    assert names(rows) == {"pump"}
    said += predictions(rows)
    said += predictions(task.send(PUMP, raws[100:]))
    assert said == unbroken
    assert not runtime.timers
    assert not runtime.states["waiting"].held(BUCKET)


def test_new_records_go_behind_those_that_waited_for_the_name():
    task = KeyedTask()
    task.registry.down = {KEY_ID}
    raws = records([1] * 20)
    task.send(PUMP, raws[:10])
    task.registry.down = set()
    rows = task.send(PUMP, raws[10:]) + task.pass_time(SOON_MS)
    assert offsets(rows) == list(range(20))
    assert names(rows) == {"pump"}


def test_a_key_in_the_cache_needs_no_registry_for_its_name():
    task = KeyedTask()
    task.send(PUMP, records([1] * 5))
    task.registry.down = {KEY_ID}
    rows = task.send(PUMP, records([1] * 5))
    assert len(predictions(rows)) == 5
    assert names(rows) == {"pump"}


def test_while_the_name_is_missing_no_model_is_read_and_waiting_records_are_not_read_again():
    task = KeyedTask()
    task.send(PUMP, records([1] * 40))
    task = KeyedTask(runtime=task.runtime)
    task.registry.down = {KEY_ID}
    task.runtime.traffic.clear()
    for raw in records([1] * 30):
        task.send(PUMP, [raw])
    assert dict(task.runtime.traffic) == {"write waiting": 30}


def test_records_that_wait_for_a_name_are_bounded():
    task = KeyedTask(replace(AVRO, limits=LimitsSettings(waiting_records=12)))
    task.registry.down = {KEY_ID}
    raws = records([1] * 30)
    rows = [row for piece in in_pieces(raws, 10) for row in task.send(PUMP, piece)]
    assert reasons(rows) == ["waiting-full"] * 18
    task.registry.down = set()
    assert offsets(task.pass_time(SOON_MS)) == list(range(12))


def test_where_it_is_asked_for_they_block_the_task_until_the_name_is_there(monkeypatch):
    job = JobSettings(waiting_full="block")
    task = KeyedTask(replace(AVRO, job=job, limits=LimitsSettings(waiting_records=12)))
    task.registry.down = {KEY_ID}
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            task.registry.down = set()

    monkeypatch.setattr("eml.flink.operator.time.sleep", sleep)
    raws = records([1] * 30)
    rows = [row for piece in in_pieces(raws, 10) for row in task.send(PUMP, piece)]
    assert len(slept) == 3
    assert offsets(rows) == list(range(30))
    assert not task.pass_time(SOON_MS), "nothing is left for the timer"
    assert not task.runtime.timers


def test_records_that_waited_for_a_key_that_is_bad_become_dead_letters():
    task = KeyedTask()
    task.registry.down = {6}
    bad = frame(6, b"\x08pump").decode("latin-1")
    assert not task.send(bad, records([1] * 3))
    task.registry.down = set()
    rows = task.pass_time(SOON_MS)
    assert reasons(rows) == ["unknown-schema"] * 3
    assert rows[0]["dead_letters"][0][2]["__connect.errors.stage"] == b"KEY_CONVERTER"
    assert not task.runtime.timers
    task.registry.down = {6}
    task.send(bad, records([1] * 3))
    assert task.runtime.timers, "what waits after them has a timer again"


def test_a_timer_of_a_bad_key_with_nothing_to_write_yields_no_row():
    task = KeyedTask()
    task.runtime.key = "no frame"
    task.runtime.register_processing_time_timer(1)
    assert not task.pass_time(1)


def test_a_name_that_makes_our_own_code_fail_stops_no_other_key():
    def fails(_: bytes) -> KeyName:
        raise ZeroDivisionError

    task = KeyedTask()
    task.registry.keys[6] = fails
    assert reasons(task.send(frame(6, b"x").decode("latin-1"), records([1] * 2))) == ["internal"] * 2
    assert len(predictions(task.send(PUMP, records([1] * 2)))) == 2


# -- with the real client of the registry -----------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with serving() as server:
        for version in (1, 2):
            server.add(10 * version, schema_text(f"readings/v{version}"), (OURS, version))
        server.add(KEY_ID, '"string"', ("readings-key", 1))
        yield server


def start(server: RegistryServer, **registry: object) -> RealTask:
    given = settings(server, **registry)
    return RealTask(replace(given, record=replace(given.record, key_format="avro")))


def test_a_flood_of_unknown_ids_in_keys_does_not_delay_new_versions_of_readings(server):
    task = start(server, unknown_id_patience_ms=0)
    try:
        assert len(predictions(task.send(PUMP, records([1] * 5)))) == 5
        for number in range(60):
            task.send(frame(1_000_000 + number, b"\x08pump").decode("latin-1"), records([1]))
        assert len(predictions(task.send(FAN, records([2] * 5)))) == 5
        assert sum(path.startswith("/schemas/ids/1000") for path in server.asked) < 10
    finally:
        task.operator.close()


def test_a_key_schema_that_comes_a_moment_late_costs_no_record(server):
    task = start(server)
    late = server.schemas.pop(KEY_ID)
    try:
        task.send(FAN, records([1] * 5))
        server.schemas[KEY_ID] = late
        rows = task.wait(lambda rows: len(predictions(rows)) == 5)
        assert names(rows) == {"fan"}
        assert not reasons(rows)
    finally:
        task.operator.close()


def test_a_device_under_two_key_schemas_is_two_keys(server):
    server.add(6, '{"type": "string", "avro.java.string": "String"}', ("readings-key", 2))
    task = start(server)
    try:
        both = [PUMP, frame(6, b"\x08pump").decode("latin-1")]
        rows = [row for key in both for row in task.send(key, records([1] * 5))]
        assert names(rows) == {"pump"}
        assert len(task.runtime.states["model"].held(BUCKET)) == 2
    finally:
        task.operator.close()
