"""The operator against a fake runtime: what it reads, writes, yields and waits for. No JVM."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pytest
from pyflink.common import Row

from eml.core import LearnerConfig
from eml.flink.operator import EvolvingOperator
from eml.settings import (
    JobSettings,
    KafkaSettings,
    LearningSettings,
    LimitsSettings,
    RegistrySettings,
    Settings,
)
from eml.stream.errors import BadSchemaError, RegistryUnavailableError
from eml.stream.keys import ReadKey
from eml.stream.outputs import read_evolution, read_prediction
from eml.stream.records import Raw
from eml.stream.schema import ReadingSchema
from tests.operator.fakes import FakeRuntime
from tests.unit.stream.test_fleet import look_up, records
from tests.unit.stream.test_late_labels import SCHEMAS as LABELLED
from tests.unit.stream.test_late_labels import Stream, mixed

SETTINGS = Settings(
    kafka=KafkaSettings(readings_topic="readings"),
    registry=RegistrySettings(url="http://127.0.0.1:9"),  # never asked
    learner=LearnerConfig(memory_size=128, rank=8, warm_up=32),
)


class Registry:
    """The registry's place in the operator: it can be down."""

    def __init__(self) -> None:
        self.down: set[int] = set()
        self.keys: dict[int, ReadKey] = {}

    def reading_schema(self, schema_id: int, key: str) -> ReadingSchema:  # noqa: ARG002  as the real one
        if schema_id in self.down:
            raise RegistryUnavailableError("down", 500)
        return look_up(schema_id)

    def key_schema(self, schema_id: int) -> ReadKey:
        if schema_id in self.down:
            raise RegistryUnavailableError("down", 500)
        if schema_id not in self.keys:
            raise BadSchemaError("unknown-schema", f"the registry does not know schema {schema_id}")
        return self.keys[schema_id]


class Task:
    """An operator in a fake runtime."""

    def __init__(self, settings: Settings = SETTINGS, runtime: FakeRuntime | None = None) -> None:
        self.runtime = runtime or FakeRuntime()
        self.registry = Registry()
        self.operator = EvolvingOperator(settings, 1, 2)
        self.operator.open(self.runtime)
        self.operator._registry = self.registry  # type: ignore[assignment]

    def send(self, key: str, raws: Iterable[Raw]) -> list[Row]:
        self.runtime.key = key
        places = [(raw.position.partition, raw.position.offset, raw.position.timestamp_ms) for raw in raws]
        labels = [raw.position.topic == "labels" for raw in raws]
        rows = zip(places, raws, labels, strict=True)
        columns = zip(*((*place, raw.value, raw.headers, label) for place, raw, label in rows), strict=True)
        return list(self.operator.process_element(Row(*map(list, columns)), self.runtime))

    def pass_time(self, ms: int) -> list[Row]:
        self.runtime.now += ms
        return [row for key in self.runtime.due() for row in self._fire(key)]

    def _fire(self, key: str) -> Iterator[Row]:
        self.runtime.key = key
        yield from self.operator.on_timer(self.runtime.now, self.runtime)


def predictions(rows: Sequence[Row]) -> list[bytes]:
    return [value for row in rows for value in row["predictions"]]


def in_pieces(raws: Sequence[Raw], size: int) -> Iterator[Sequence[Raw]]:
    return (raws[start : start + size] for start in range(0, len(raws), size))


STREAM = [1] * 60 + [2] * 60


def test_a_row_holds_what_a_micro_batch_became():
    task = Task()
    (row,) = task.send("pump", [*records(STREAM), replace(records([1])[0], value=b"junk", headers={"h": b"1"})])
    assert row["kafka_key"] == b"pump"
    assert [read_prediction(value)["source_offset"] for value in row["predictions"]] == list(range(120))
    assert [read_evolution(value)["new_version"] for value in row["evolutions"]] == [2]
    ((content, headers),) = row["dead_letters"]
    assert content == b"junk"
    assert headers["eml.errors.reason"] == b"not-framed"
    assert headers["h"] == b"1"
    counts = {name: counter.count for name, counter in task.runtime.counters.items() if counter.count}
    assert counts.pop("scored") > counts.pop("right") > 0
    assert counts == {
        "predictions": 120,
        "evolutions": 1,
        "dead_letters": 1,
        "dead_letters_not_framed": 1,
        "updates": 1,
    }


def test_a_learner_is_read_once_and_written_only_when_it_changed():
    task = Task()
    for piece in in_pieces(records([1] * 100, labelled=0.0), 5):
        task.send("pump", piece)
    assert task.runtime.traffic["read window"] == 1
    assert task.runtime.traffic["write model"] == 1, "its first record made the model"
    assert task.runtime.traffic["write window"] == 1, "and when it was made"
    for piece in in_pieces(records([1] * 64, labelled=1.0), 4):
        task.send("pump", piece)
    assert task.runtime.traffic["read window"] == 1
    assert task.runtime.traffic["write model"] == 1 + 11, "not in the five pieces in which no window closed"


def test_a_new_task_goes_on_from_the_state_alone():
    raws = records(STREAM)
    unbroken = predictions(Task().send("pump", raws))
    task, broken = Task(), []
    for piece in in_pieces(raws, 7):
        broken += predictions(task.send("pump", piece))
        task = Task(runtime=task.runtime)  # as after a crash: nothing but Flink's state is left
    assert broken == unbroken


def test_a_small_cache_changes_nothing_but_the_traffic():
    small = replace(SETTINGS, job=JobSettings(cached_learners=2))
    streams = {f"pump-{i}": records(STREAM, seed=i) for i in range(5)}
    expected = {key: predictions(Task().send(key, raws)) for key, raws in streams.items()}
    task = Task(small)
    said: dict[str, list[bytes]] = {key: [] for key in streams}
    for pieces in zip(*(in_pieces(raws, 30) for raws in streams.values()), strict=True):
        for key, piece in zip(streams, pieces, strict=True):
            said[key] += predictions(task.send(key, piece))
    assert said == expected
    assert len(task.operator._store._cache) == 2
    assert task.runtime.traffic["read window"] == 20


def test_records_of_a_schema_that_cannot_be_had_wait_in_state_and_others_flow():
    raws = records(STREAM)
    unbroken = predictions(Task().send("pump", raws))
    task = Task()
    task.registry.down = {20}
    said = predictions(task.send("pump", raws[:70]))
    assert len(said) == 60
    assert not task.send("pump", raws[70:100]), "what is behind waits, too"
    assert predictions(task.send("other", records([1] * 10))), "another key flows on"
    assert not task.pass_time(600)
    survivor = Task(runtime=task.runtime)  # a crash meanwhile loses nothing
    survivor.registry.down = {20}
    assert not survivor.pass_time(600)
    survivor.registry.down = set()
    said += predictions(survivor.pass_time(600))
    said += predictions(survivor.send("pump", raws[100:]))
    assert said == unbroken
    assert not survivor.runtime.timers


def test_too_many_waiting_records_become_dead_letters_and_stop_nobody():
    task = Task(replace(SETTINGS, limits=LimitsSettings(waiting_records=50)))
    task.registry.down = {10}
    raws = records([1] * 60)
    for piece in in_pieces(raws[:50], 10):
        assert not task.send("pump", piece)
    (row,) = task.send("pump", raws[50:])
    assert [headers["eml.errors.reason"] for _, headers in row["dead_letters"]] == [b"waiting-full"] * 10
    assert [content for content, _ in row["dead_letters"]] == [raw.value for raw in raws[50:]], "as they came"
    assert predictions(task.send("other", records([2] * 10))), "another key flows on"
    task.registry.down = set()
    said = predictions(task.pass_time(600))
    assert said == predictions(Task().send("pump", raws[:50])), "those that waited are served in their order"


def test_waiting_records_are_bounded_in_bytes_too():
    raws = records([1] * 20)
    room = sum(len(raw.value or b"") for raw in raws[:12])
    task = Task(replace(SETTINGS, limits=LimitsSettings(waiting_bytes=room)))
    task.registry.down = {10}
    (row,) = task.send("pump", raws)
    assert [content for content, _ in row["dead_letters"]] == [raw.value for raw in raws[12:]]


def test_where_it_is_asked_for_a_full_waiting_list_blocks_the_task_until_the_registry_is_back(monkeypatch):
    raws, slept = records([1] * 60), []
    job = JobSettings(waiting_full="block")
    task = Task(replace(SETTINGS, job=job, limits=LimitsSettings(waiting_records=20)))
    task.registry.down = {10}

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            task.registry.down = set()

    monkeypatch.setattr("eml.flink.operator.time.sleep", sleep)
    said = predictions([row for piece in in_pieces(raws, 15) for row in task.send("pump", piece)])
    assert slept == [0.5] * 3
    assert said == predictions(Task().send("pump", raws))
    assert not task.runtime.counters["dead_letters"].count


def test_while_records_wait_nothing_is_rewritten_with_every_question():
    task = Task()
    task.registry.down = {10}
    task.send("pump", records([1] * 60))
    written = task.runtime.traffic["write waiting"]
    for _ in range(5):
        assert not task.pass_time(600)
    assert task.runtime.traffic["write waiting"] == written
    assert task.runtime.timers, "and it goes on asking"


@pytest.mark.parametrize("limits", [LimitsSettings(batch_records=7), LimitsSettings(batch_bytes=500)])
def test_a_long_micro_batch_is_served_in_bounded_pieces(limits):
    raws = records(STREAM)
    rows = Task(replace(SETTINGS, limits=limits)).send("pump", raws)
    assert max(len(row["predictions"]) for row in rows) <= 7
    assert predictions(rows) == predictions(Task().send("pump", raws))
    task = Task(replace(SETTINGS, limits=limits))
    task.registry.down = {20}
    rows = task.send("pump", raws)
    task.registry.down = set()
    assert predictions(rows + task.pass_time(600)) == predictions(Task().send("pump", raws))


def test_a_header_without_a_value_waits_through_an_outage():
    raws = [replace(raw, headers={"trace": None, "h": b"1"}) for raw in records([1] * 3)]
    task = Task()
    task.registry.down = {10}
    assert not task.send("pump", raws)
    task = Task(runtime=task.runtime)  # a restart: they come from state
    assert len(predictions(task.pass_time(600))) == 3
    task.registry.down = {10}
    bad = replace(raws[0], value=b"junk", headers={"trace": None})
    (row,) = task.send("other", [bad])
    assert row["dead_letters"][0][1]["trace"] is None


@pytest.mark.parametrize("key", ["", b"\xff\xfe".decode("latin-1")])
def test_a_record_without_a_usable_key_is_a_dead_letter(key):
    (row,) = Task().send(key, records([1] * 2))
    reason = b"bad-key" if key else b"no-key"
    assert [headers["eml.errors.reason"] for _, headers in row["dead_letters"]] == [reason] * 2
    assert row["kafka_key"] == (key.encode("latin-1") or None)
    assert not row["predictions"]


def test_a_tombstone_without_a_usable_key_is_counted():
    task = Task()
    (row,) = task.send("", [replace(records([1])[0], value=None)])
    assert not row["dead_letters"]
    assert task.runtime.counters["tombstones"].count == 1


def test_a_key_with_letters_beyond_ascii_keeps_its_name_and_bytes():
    (row,) = Task().send("Pümpe".encode().decode("latin-1"), records([1]))
    assert row["kafka_key"] == "Pümpe".encode()
    assert read_prediction(row["predictions"][0])["key"] == "Pümpe"


def test_an_idle_but_living_key_renews_its_state_and_a_silent_one_is_forgotten(monkeypatch):
    now = 1000.0
    monkeypatch.setattr("eml.flink.model_store.time.time", lambda: now)
    settings = replace(SETTINGS, job=JobSettings(state_ttl_ms=100_000))
    task = Task(settings)
    raws = records([1] * 60)
    task.send("pump", raws[:40])
    written = task.runtime.traffic["write model"]
    unlabelled = records([1] * 5, labelled=0.0)
    now += 24.0
    task.send("pump", unlabelled[:1])
    assert task.runtime.traffic["write model"] == written
    now += 2.0
    task = Task(settings, task.runtime)  # a restart, or a cache that is too small, must not put it off
    task.send("pump", unlabelled[1:2])
    assert task.runtime.traffic["write model"] == written + 1, "all parts are written again, four times in a life"
    now += 100.0
    (row,) = task.send("pump", unlabelled[2:3])
    assert read_prediction(row["predictions"][0])["label"] is not None, "at least a whole time to live after its last"
    now += 126.0
    (row,) = Task(settings, task.runtime).send("pump", unlabelled[3:4])
    assert read_prediction(row["predictions"][0])["label"] is None
    assert read_prediction(task.send("pump", unlabelled[4:])[0]["predictions"][0])["label"] is None


@pytest.mark.parametrize("silent", [0.7, 0.76, 0.95, 1.05, 1.3, 2.5])
@pytest.mark.parametrize("restarted", [False, True])
def test_time_to_live_never_tears_the_log_of_labels(monkeypatch, silent, restarted):
    """Flink expires the pieces of a list one by one; here those that are older than its time to live are gone."""
    now = 1000.0
    monkeypatch.setattr("eml.flink.model_store.time.time", lambda: now)
    kafka = KafkaSettings(readings_topic="readings", labels_topic="labels")
    settings = replace(SETTINGS, kafka=kafka, job=JobSettings(state_ttl_ms=100_000))
    runtime = FakeRuntime()
    runtime.clock = lambda: now
    task = LabelTask(settings, runtime)
    stream = Stream()
    ids = stream.readings(1, 40)
    for piece in in_pieces(stream.raws, 2):  # over a quarter of a life and more
        task.send("pump", piece)
        now += 3.0
    now += silent * 100.0
    sent = len(stream.raws)
    stream.labels(ids)
    if restarted:
        task = LabelTask(settings, runtime)
    task.send("pump", stream.raws[sent:])
    joined = runtime.counters["labels_joined"].count
    assert joined == (0 if silent > 1.25 else 40)


def test_labels_and_the_models_of_other_versions_outlive_a_task():
    settings = replace(SETTINGS, kafka=KafkaSettings(readings_topic="readings", labels_topic="labels"))
    raws = mixed().raws
    unbroken = predictions(LabelTask(settings).send("pump", raws))
    task, broken = LabelTask(settings), []
    for piece in in_pieces(raws, 9):
        broken += predictions(task.send("pump", piece))
        task = LabelTask(settings, task.runtime)  # as after a crash
    assert broken == unbroken
    assert task.runtime.counters["labels_joined"].count > 0
    assert task.runtime.counters["labels_duplicates"].count > 0


class LabelTask(Task):
    """A task whose registry knows the schemas of readings with labels apart."""

    def __init__(self, settings: Settings, runtime: FakeRuntime | None = None) -> None:
        super().__init__(settings, runtime)
        self.registry.reading_schema = lambda schema_id, key: LABELLED[schema_id]  # type: ignore[method-assign]  # noqa: ARG005


def test_readings_that_wait_for_labels_are_added_to_state_not_rewritten():
    settings = replace(SETTINGS, kafka=KafkaSettings(readings_topic="readings", labels_topic="labels"))
    task, stream = LabelTask(settings), Stream()
    stream.readings(1, 30)
    for piece in in_pieces(stream.raws, 1):
        task.send("pump", piece)
    state = task.runtime.states["labels"].held("pump")
    assert len(state) == 30
    assert sum(map(len, state)) < 30 * 600


def test_an_announcement_is_heard_with_a_micro_batch():
    task = Task()
    task.operator._newest = Newest()  # type: ignore[assignment]
    raws = records([1] * 60)
    task.send("pump", raws[:50])
    task.operator._newest.version = 2  # type: ignore[attr-defined]
    (row,) = task.send("pump", raws[50:])
    (event,) = map(read_evolution, row["evolutions"])
    assert (event["kind"], event["new_version"], event["source_offset"]) == ("announced", 2, 50)
    assert task.runtime.counters["announced"].count == 1


class Newest:
    """The operator's view of the newest version."""

    version = 1

    def newest(self, _: str) -> ReadingSchema:
        return look_up(10 * self.version)


def test_the_figures_of_an_evolution_are_metrics():
    task = Task(replace(SETTINGS, learning=LearningSettings(recovery_records=20)))
    task.send("pump", records([1] * 100 + [2] * 80))
    assert task.runtime.counters["recoveries"].count == 1
    (first,) = task.runtime.distributions["recovery_first"].values
    assert 0 <= first <= 1000
    assert len(task.runtime.distributions["recovery_regret"].values) == 1
    assert task.runtime.counters["right"].count <= task.runtime.counters["scored"].count
