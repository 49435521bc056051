"""The operator with the real client of the registry, against a server on loopback: one key never hurts the others."""

import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from pyflink.common import Row

from eml.flink.operator import EvolvingOperator
from eml.settings import Settings, load
from eml.stream.output.encoder import OutputIds
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from eml.stream.wire import frame
from tests.operator.fakes import FakeRuntime
from tests.operator.test_operator import Task, predictions
from tests.unit.stream.avro.encoding import field, record
from tests.unit.stream.models.test_key_model import records
from tests.unit.stream.registry.registry_server import RegistryServer, serving

SOON_S = 20.0  # at most: a busy machine is slow, not wrong
OURS = "readings-value"
SECRET = "hunter2-secret"  # noqa: S105  of nobody


class RealTask(Task):
    """An operator whose registry is the server; its timers follow the clock on the wall."""

    def __init__(self, settings: Settings) -> None:
        self.runtime = FakeRuntime()
        self.settings = settings
        self.operator = EvolvingOperator(settings, OutputIds(1, 2, 3))
        self.operator.open(self.runtime)

    def wait(self, done: Callable[[list[Row]], bool], most_s: float = SOON_S) -> list[Row]:
        """Rows of the timers, until they are what is wanted."""
        rows: list[Row] = []
        end = time.monotonic() + most_s
        while not done(rows) and time.monotonic() < end:
            time.sleep(0.02)
            rows += self.pass_time(20)
        return rows


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with serving() as server:
        for version in (1, 2):
            server.add(10 * version, schema_text(f"readings/v{version}"), (OURS, version))
        server.add(1, record(field("x", "double"), name="Prediction"), ("predictions-value", 1))
        server.add(2, record(field("x", "double"), name="Evolution"), ("evolutions-value", 1))
        yield server


@pytest.fixture
def start(server: RegistryServer) -> Iterator[Callable[..., RealTask]]:
    tasks: list[RealTask] = []

    def make(**registry: object) -> RealTask:
        tasks.append(RealTask(settings(server, **registry)))
        return tasks[-1]

    yield make
    for task in tasks:
        task.operator.close()


def settings(server: RegistryServer, **registry: object) -> Settings:
    """As a job loads them."""
    given = {"url": server.url, "retry_ms": 20, "newest_every_ms": 0, **registry}
    overrides = {f"registry.{name}": value for name, value in given.items()}
    return load(None, {"EML_KAFKA_BOOTSTRAP_SERVERS": "localhost:9092"}, overrides)


def of_schemas(ids: Iterable[int]) -> list[Raw]:
    """Records with these ids in their frames."""
    return [Raw(frame(i, b"junk"), Position("readings", 0, n, n), {}) for n, i in enumerate(ids)]


def reasons(rows: Iterable[Row]) -> list[str]:
    return [headers["eml.errors.reason"].decode() for row in rows for _, _, headers in row["dead_letters"]]


def is_announced(task: RealTask, schema_id: int) -> bool:
    """Whether the task's poller has found this version."""
    newest = task.operator._newest.newest(OURS)
    return newest is not None and newest.id == schema_id


# -- fault 2 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flooders", [1, 10])
def test_a_flood_of_unknown_ids_does_not_delay_another_key_s_new_version(start, flooders):
    task = start()
    task.send("pump", records([1] * 5))
    for number in range(flooders):
        first = 1_000_000 * (number + 1)
        task.send(f"flooder-{number}", of_schemas(range(first, first + 150)))
    rows = task.send("pump", records([2] * 5))
    assert len(predictions(rows)) == 5, "at once: another key's look-ups are not its own"


def test_a_version_that_was_announced_needs_no_look_up(server, start):
    task = start(newest_every_ms=20)
    server.places[20].clear()
    task.send("pump", records([1] * 5))
    server.add(20, schema_text("readings/v2"), (OURS, 2))
    end = time.monotonic() + SOON_S
    while not is_announced(task, 20) and time.monotonic() < end:
        time.sleep(0.02)
    server.trouble = lambda _: (503, b"")
    assert len(predictions(task.send("pump", records([2] * 5)))) == 5


# -- fault 5 -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_registry_that_is_a_moment_behind_costs_no_record(server, start):
    task = start()
    task.send("pump", records([1] * 5))
    late = server.schemas.pop(20)
    assert not task.send("pump", records([2] * 5))
    assert not task.wait(bool, 0.3)
    server.schemas[20] = late
    rows = task.wait(lambda rows: len(predictions(rows)) == 5)
    assert len(predictions(rows)) == 5
    assert not reasons(rows)


@pytest.mark.slow
def test_a_registry_that_has_forgotten_everything_is_no_reason_for_dead_letters(server, start):
    task = start(unknown_id_patience_ms=1_200)
    task.send("pump", records([1] * 5))
    everything, server.schemas = server.schemas, {}
    rows = task.send("pump", records([2] * 5)) + task.wait(lambda _: False, 1.8)
    assert not reasons(rows)
    server.schemas = everything
    assert len(predictions(task.wait(lambda rows: len(predictions(rows)) == 5))) == 5


# -- fault 7 -----------------------------------------------------------------------------------------------------------


def demand(server: RegistryServer, token: str) -> None:
    right = f"Bearer {token}"
    server.trouble = lambda handler: None if handler.headers["Authorization"] == right else (401, {"message": "no"})


@pytest.mark.parametrize("settled", [True, False])
def test_a_token_rotated_on_disk_is_picked_up(server, start, tmp_path, settled):
    """Before the registry asks for the new one, or only after it refused the old one."""
    file = Path(tmp_path) / "token"
    file.write_text("old\n")
    demand(server, "old")
    task = start(bearer_token_file=str(file))
    assert len(predictions(task.send("pump", records([1] * 5)))) == 5
    demand(server, "new")
    if not settled:
        assert not task.send("pump", records([2] * 5))
        assert len(predictions(task.send("other", records([1] * 5)))) == 5, "known schemas flow on"
    file.write_text("new\n")
    rows = task.send("pump", records([2] * 5)) if settled else task.wait(lambda rows: len(predictions(rows)) == 5)
    assert len(predictions(rows)) == 5
    assert not reasons(rows)


def test_a_restarted_operator_has_the_secret_of_today(server, tmp_path):
    file = Path(tmp_path) / "token"
    file.write_text("old")
    graph = pickle.dumps(EvolvingOperator(settings(server, bearer_token_file=str(file)), OutputIds(1, 2, 3)))
    file.write_text("new")
    demand(server, "new")
    operator = pickle.loads(graph)  # noqa: S301  our own bytes
    task = RealTask(operator._settings)
    assert len(predictions(task.send("pump", records([1] * 5)))) == 5
    task.operator.close()


# -- fault 11 ----------------------------------------------------------------------------------------------------------


def test_records_of_foreign_subjects_do_not_move_a_key(server, start):
    task = start()
    task.send("pump", records([1] * 40))
    strays = []
    for number in (31, 32, 33):
        text = schema_text("readings/v2").replace('"Reading"', f'"Stray{number}"')
        server.add(number, text, (f"orders-{number}-value", 1))
        strays.append(Raw(frame(number, (records([2])[0].value or b"")[5:]), Position("readings", 0, number, 0), {}))
    rows = task.send("pump", strays)
    assert reasons(rows) == ["foreign-subject"] * 3
    assert not [event for row in rows for event in row["evolutions"]]
    assert "record.subjects" in rows[0]["dead_letters"][0][2]["__connect.errors.exception.message"].decode()
    rows = task.send("pump", records([1] * 5))
    assert len(predictions(rows)) == 5


# -- fault 19 ----------------------------------------------------------------------------------------------------------


def test_the_pickled_operator_carries_no_secret_it_does_not_need(server, tmp_path):
    file = Path(tmp_path) / "token"
    file.write_text(SECRET)
    environ = {
        "EML_KAFKA_BOOTSTRAP_SERVERS": "localhost:9092",
        "EML_REGISTRY_URL": server.url,
        "EML_REGISTRY_BEARER_TOKEN_FILE": str(file),
        "EML_KAFKA_PROPERTIES": f'{{ sasl.jaas.config = "{SECRET}" }}',
    }
    assert SECRET.encode() not in pickle.dumps(EvolvingOperator(load(None, environ), OutputIds(1, 2, 3)))
