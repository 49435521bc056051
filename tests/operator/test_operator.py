"""The operator against a fake runtime: what it reads, writes, yields and waits for. No JVM."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from pyflink.common import Row

from eml.core import LearnerConfig
from eml.flink.operator import EvolvingOperator
from eml.settings import (
    JobSettings,
    KafkaSettings,
    LearningSettings,
    LimitsSettings,
    ModelSettings,
    RegistrySettings,
    Settings,
)
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.errors import BadSchemaError, RegistryUnavailableError
from eml.stream.keys import KafkaKey, KeyName, ReadKey
from eml.stream.model_keys import model_of
from eml.stream.models.key_model import KeyModel
from eml.stream.output.encoder import Encoder, OutputIds, read_evolution, read_prediction, read_score
from eml.stream.output.schemas import schema_text
from eml.stream.records import REPLAYS, Position, Raw
from tests.operator.fakes import FakeRuntime
from tests.synthetic import label_value
from tests.unit.stream.models.test_key_model import look_up, records
from tests.unit.stream.models.test_late_labels import LABEL, Stream, mixed
from tests.unit.stream.models.test_late_labels import SCHEMAS as LABELLED

SETTINGS = Settings(
    kafka=KafkaSettings(readings_topic="readings"),
    registry=RegistrySettings(url="http://127.0.0.1:9"),  # never asked
    learner=LearnerConfig(memory_size=128, rank=8, warm_up=32),
)


BUCKET = "07"


class Registry:
    """The registry's place in the operator: it can be down."""

    def __init__(self) -> None:
        self.down: set[int] = set()
        self.keys: dict[int, ReadKey] = {}

    def reading_schema(self, schema_id: int, key: str) -> ReadingSchema:  # noqa: ARG002  as the real one
        if schema_id in self.down:
            raise RegistryUnavailableError("down", 500)
        return look_up(schema_id)

    def cached_schema(self, schema_id: int) -> ReadingSchema | None:
        return None if schema_id in self.down else look_up(schema_id) if schema_id in (10, 20) else None

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
        self.settings = settings
        self.operator = EvolvingOperator(settings, OutputIds(1, 2, 3))
        self.operator.open(self.runtime)
        self.operator._registry = self.registry  # type: ignore[assignment]

    def send(self, key: str, raws: Iterable[Raw]) -> list[Row]:
        """A call with records of one key, in the one bucket that there is."""
        return self.send_all({key: raws})

    def send_all(self, raws: Mapping[str, Iterable[Raw]]) -> list[Row]:
        """A call with records of several keys."""
        return self.call([(key, raw) for key, of_key in raws.items() for raw in of_key])

    def call(self, records: Sequence[tuple[str, Raw]]) -> list[Row]:
        """A call with records in this order."""
        self.runtime.key = BUCKET
        columns = zip(
            *(
                (
                    model_of(self.settings.model, KafkaKey(key), raw.headers),
                    key,
                    raw.position.partition,
                    raw.position.offset,
                    raw.position.timestamp_ms,
                    raw.value,
                    raw.headers,
                    raw.position.topic == "labels",
                )
                for key, raw in records
            ),
            strict=True,
        )
        return list(self.operator.process_element(Row(*map(list, columns)), self.runtime))

    def pass_time(self, ms: int) -> list[Row]:
        self.runtime.now += ms
        return [row for key in self.runtime.due() for row in self._fire(key)]

    def _fire(self, key: str) -> Iterator[Row]:
        self.runtime.key = key
        yield from self.operator.on_timer(self.runtime.now, self.runtime)


def predictions(rows: Sequence[Row]) -> list[bytes]:
    return [value for row in rows for value in row["predictions"]]


def keys_of(rows: Sequence[Row], kind: str = "predictions") -> list[bytes | None]:
    if kind == "predictions":
        return [key for row in rows for key in row["prediction_keys"]]
    return [record[0] for row in rows for record in row[kind]]


def in_pieces(raws: Sequence[Raw], size: int) -> Iterator[Sequence[Raw]]:
    return (raws[start : start + size] for start in range(0, len(raws), size))


STREAM = [1] * 60 + [2] * 60


def test_a_row_holds_what_a_micro_batch_became():
    task = Task()
    (row,) = task.send("pump", [*records(STREAM), replace(records([1])[0], value=b"junk", headers={"h": b"1"})])
    assert set(keys_of([row])) == set(keys_of([row], "evolutions")) == {b"pump"}
    assert [read_prediction(value)["source_offset"] for value in row["predictions"]] == list(range(120))
    assert [read_evolution(value)["new_version"] for _, value in row["evolutions"]] == [2]
    labelled = [said for said in map(read_prediction, row["predictions"]) if said["truth"] is not None]
    assert [read_score(value)["source_offset"] for value in row["scores"]] == [
        said["source_offset"] for said in labelled
    ]
    assert set(row["score_keys"]) == {b"pump"}
    ((_, content, headers),) = row["dead_letters"]
    assert content == b"junk"
    assert headers["eml.errors.reason"] == b"not-framed"
    assert headers["h"] == b"1"
    counts = {name: counter.count for name, counter in task.runtime.counters.items() if counter.count}
    assert counts.pop("scored") > counts.pop("right") > 0
    assert counts == {
        "predictions": 120,
        "predictions_version_1": 60,
        "predictions_version_2": 60,
        "evolutions": 1,
        "dead_letters": 1,
        "dead_letters_not_framed": 1,
        "updates": 1,
    }


def test_readings_with_labels_and_without_need_no_object_each_and_get_what_they_get_one_after_another(monkeypatch):
    streams = {f"pump-{i}": records([1] * 90 + [2] * 60, seed=i, labelled=0.15) for i in range(3)}
    encoder = Encoder(OutputIds(1, 2))
    expected = {
        key: [
            encoder.prediction(KeyName(key), said)
            for said in KeyModel(KeyName(key), SETTINGS).step(raws, look_up).predictions
        ]
        for key, raws in streams.items()
    }
    monkeypatch.delattr(KeyModel, "step")
    task, said = Task(), {key: list[bytes]() for key in streams}
    for number in range(150):
        rows = task.call([(key, raws[number]) for key, raws in streams.items()])
        for key, value in zip(keys_of(rows), predictions(rows), strict=True):
            said[(key or b"").decode()].append(value)
    assert said == expected
    assert task.runtime.counters["predictions"].count == 450


def test_a_learner_is_read_once_and_written_only_when_it_changed():
    task = Task()
    for piece in in_pieces(records([1] * 100, labelled=0.0), 5):
        task.send("pump", piece)
    assert task.runtime.traffic["read index"] == 1
    assert task.runtime.traffic["write model"] == 1, "its first record made the model"
    assert task.runtime.traffic["write index"] == 1, "and when it was made"
    for piece in in_pieces(records([1] * 64, labelled=1.0), 4):
        task.send("pump", piece)
    assert task.runtime.traffic["read index"] == 1
    written = task.runtime.traffic["write model"] + task.runtime.traffic["write changes"]
    assert written == 1 + 11, "not in the five pieces in which no window closed"


def test_a_new_task_goes_on_from_the_state_alone():
    raws = records(STREAM)
    unbroken = predictions(Task().send("pump", raws))
    task, broken = Task(), []
    for piece in in_pieces(raws, 7):
        broken += predictions(task.send("pump", piece))
        task = Task(runtime=task.runtime)  # as after a crash: nothing but Flink's state is left
    assert broken == unbroken


def test_a_small_cache_changes_nothing_but_the_traffic():
    small = replace(SETTINGS, limits=LimitsSettings(cached_bytes=1))
    streams = {f"pump-{i}": records(STREAM, seed=i) for i in range(5)}
    expected = {key: predictions(Task().send(key, raws)) for key, raws in streams.items()}
    task = Task(small)
    said: dict[str, list[bytes]] = {key: [] for key in streams}
    for pieces in zip(*(in_pieces(raws, 30) for raws in streams.values()), strict=True):
        for key, piece in zip(streams, pieces, strict=True):
            said[key] += predictions(task.send(key, piece))
    assert said == expected
    assert len(task.operator._store._cache) == 1
    assert task.runtime.traffic["read index"] == 20


def test_the_cache_holds_as_many_models_as_fit_into_memory():
    raws = records(STREAM)
    task = Task()
    task.send("pump-0", raws)
    one = task.operator._store._cache[KafkaKey("pump-0")].model.nbytes
    bounded = Task(replace(SETTINGS, limits=LimitsSettings(cached_bytes=int(3.5 * one))))
    for number in range(5):
        bounded.send(f"pump-{number}", raws)
    store = bounded.operator._store
    assert list(store._cache) == ["pump-2", "pump-3", "pump-4"], "those used last"
    assert store._cached_bytes == sum(live.model.nbytes for live in store._cache.values())


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
    assert [headers["eml.errors.reason"] for _, _, headers in row["dead_letters"]] == [b"waiting-full"] * 10
    assert [content for _, content, _ in row["dead_letters"]] == [raw.value for raw in raws[50:]], "as they came"
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
    assert [content for _, content, _ in row["dead_letters"]] == [raw.value for raw in raws[12:]]


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
    assert row["dead_letters"][0][2]["trace"] is None


@pytest.mark.parametrize("key", ["", b"\xff\xfe".decode("latin-1")])
def test_a_record_without_a_usable_key_is_a_dead_letter(key):
    (row,) = Task().send(key, records([1] * 2))
    reason = b"bad-key" if key else b"no-key"
    assert [headers["eml.errors.reason"] for _, _, headers in row["dead_letters"]] == [reason] * 2
    assert keys_of([row], "dead_letters") == [key.encode("latin-1") or None] * 2
    assert not row["predictions"]


def test_a_tombstone_without_a_usable_key_is_counted():
    task = Task()
    assert not task.send("", [replace(records([1])[0], value=None)])
    assert task.runtime.counters["tombstones"].count == 1


def test_a_key_with_letters_beyond_ascii_keeps_its_name_and_bytes():
    (row,) = Task().send("Pümpe".encode().decode("latin-1"), records([1]))
    assert keys_of([row]) == ["Pümpe".encode()]
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
        self.registry.cached_schema = lambda schema_id: LABELLED.get(schema_id)  # type: ignore[method-assign]  # noqa: PLW0108


def test_readings_that_wait_for_labels_are_added_to_state_not_rewritten():
    settings = replace(SETTINGS, kafka=KafkaSettings(readings_topic="readings", labels_topic="labels"))
    task, stream = LabelTask(settings), Stream()
    stream.readings(1, 30)
    for piece in in_pieces(stream.raws, 1):
        task.send("pump", piece)
    state = task.runtime.states["labels"].held(BUCKET).values()
    assert len(state) == 30
    assert sum(map(len, state)) < 30 * 600


def test_an_announcement_is_noticed_with_a_micro_batch():
    task = Task()
    task.operator._newest = Newest()  # type: ignore[assignment]
    raws = records([1] * 60)
    task.send("pump", raws[:50])
    task.operator._newest.version = 2  # type: ignore[attr-defined]
    (row,) = task.send("pump", raws[50:])
    (event,) = (read_evolution(value) for _, value in row["evolutions"])
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


def test_replayed_records_are_counted_and_die_again_with_their_count():
    task, raws = Task(), records([1] * 6)
    again = [replace(raw, headers={REPLAYS: b"2"}) for raw in raws[:3]]
    (row,) = task.send("pump", [replace(again[0], value=b"junk"), *again[1:], *raws[3:]])
    assert task.runtime.counters["replayed"].count == 3
    ((_, _, headers),) = row["dead_letters"]
    assert headers[REPLAYS] == b"2"


# -- a call with many keys -----------------------------------------------------------------------------------------


def taking_turns(streams: Mapping[str, Sequence[Raw]]) -> list[tuple[str, Raw]]:
    """A record of each key after the other."""
    return [(key, raw) for turn in zip(*streams.values(), strict=True) for key, raw in zip(streams, turn, strict=True)]


@pytest.mark.parametrize("size", [1, 13, 600])
def test_a_call_with_many_keys_gives_each_what_it_gets_alone(size):
    streams = {f"pump-{i}": records(STREAM, seed=i) for i in range(5)}
    alone = {key: predictions(Task().send(key, raws)) for key, raws in streams.items()}
    task = Task()
    said: dict[str, list[bytes]] = {key: [] for key in streams}
    turns = taking_turns(streams)
    for start in range(0, len(turns), size):
        for row in task.call(turns[start : start + size]):
            for key, value in zip(row["prediction_keys"], row["predictions"], strict=True):
                said[key.decode()].append(value)
    assert said == alone


def test_one_key_of_a_call_waits_another_sends_junk_and_the_others_do_not_notice():
    streams = {f"pump-{i}": records([1] * 40, seed=i) for i in range(4)}
    streams["waits"] = records([2] * 40)
    streams["junk"] = [replace(raw, value=b"junk") for raw in records([1] * 40)]
    task = Task()
    task.registry.down = {20}
    turns = taking_turns(streams)
    rows = task.call(turns[:120])
    task = Task(runtime=task.runtime)  # a crash in between
    task.registry.down = {20}
    rows += task.call(turns[120:])
    for number in range(4):
        expected = predictions(Task().send(f"pump-{number}", streams[f"pump-{number}"]))
        found = [
            value
            for key, value in zip(keys_of(rows), predictions(rows), strict=True)
            if key == f"pump-{number}".encode()
        ]
        assert found == expected
    assert keys_of(rows, "dead_letters") == [b"junk"] * 40
    assert b"waits" not in keys_of(rows)
    task.registry.down = set()
    later = task.pass_time(600)
    assert predictions(later) == predictions(Task().send("waits", streams["waits"]))
    assert not task.runtime.timers


class KilledError(BaseException):
    """As a worker's end: nothing catches it."""


@pytest.mark.parametrize("after", [1, 3])
def test_a_task_killed_in_the_middle_of_a_call_with_many_keys_repeats_every_bit(monkeypatch, after):
    streams = {f"pump-{i}": records([1] * 30 + [2] * 30, seed=i) for i in range(4)} | {"waits": records([3] * 60)}
    turns = taking_turns(streams)
    calls = [turns[start : start + 60] for start in range(0, len(turns), 60)]

    def serve(task: Task, calls: Sequence[Sequence[tuple[str, Raw]]]) -> list[Row]:
        task.registry.down = {30}
        rows = [row for call in calls for row in task.call(call)]
        task.registry.down = set()
        return rows

    unbroken = Task()
    expected = serve(unbroken, calls) + unbroken.pass_time(600)
    task = Task()
    rows = serve(task, calls[:2])
    checkpoint = deepcopy(task.runtime)
    stepped = []

    def step(model: KeyModel, *rest: Any) -> Any:
        stepped.append(model.key)
        if len(stepped) > after:
            raise KilledError
        return one_after_another(model, *rest)

    one_after_another = KeyModel.step
    monkeypatch.setattr(KeyModel, "step", step)
    with pytest.raises(KilledError):
        serve(task, calls[2:3])
    monkeypatch.undo()
    assert len(stepped) == after + 1, "some models had written their state, others had not"
    task = Task(runtime=checkpoint)
    rows += serve(task, calls[2:]) + task.pass_time(600)
    assert len(predictions(rows)) == len(turns)
    assert by_key(rows) == by_key(expected)


def by_key(rows: Sequence[Row]) -> dict[bytes | None, list[bytes]]:
    said: dict[bytes | None, list[bytes]] = {}
    for key, value in zip(keys_of(rows), predictions(rows), strict=True):
        said.setdefault(key, []).append(value)
    return said


def test_keys_of_a_bucket_that_wait_for_different_schemas_are_served_as_each_can_be_had():
    task = Task()
    task.registry.down = {10, 20}
    task.send_all({"one": records([1] * 5), "two": records([2] * 5)})
    task.registry.down = {20}
    assert set(keys_of(task.pass_time(600))) == {b"one"}
    task = Task(runtime=task.runtime)
    assert set(keys_of(task.pass_time(600))) == {b"two"}
    assert not task.runtime.timers


# -- one model for many devices ------------------------------------------------------------------------------------


def fleet(by: str, **model: str) -> Settings:
    return replace(SETTINGS, model=ModelSettings(by=by, **model))


SITES = fleet("key-pattern", key_pattern="^(site-[0-9]+)/")


def test_devices_that_match_one_name_share_a_model_and_keep_their_own():
    task = Task(SITES)
    first, second = records([1] * 60, labelled=1.0), records([1] * 60, labelled=0.0)
    task.send("site-3/pump-1", first)
    rows = task.send("site-3/pump-2", second)
    said = [read_prediction(value) for value in predictions(rows)]
    assert {(one["key"], one["model"]) for one in said} == {("site-3/pump-2", "site-3")}
    assert keys_of(rows) == [b"site-3/pump-2"] * 60
    assert all(one["label"] is not None for one in said), "what the first device taught"
    other = task.send("site-4/pump-1", second)
    assert {read_prediction(value)["label"] for value in predictions(other)} == {None}, "another model"
    assert set(task.runtime.states["model"].held(BUCKET)) == {"site-3", "site-4"}


@pytest.mark.parametrize(
    ("settings", "key", "advice"),
    [(SITES, "depot/pump", "model.key_pattern"), (fleet("header:site"), "pump", "'site'")],
)
def test_a_record_of_no_model_is_a_dead_letter_that_says_what_to_do(settings, key, advice):
    (row,) = Task(settings).send(key, records([1]))
    ((kafka_key, _, headers),) = row["dead_letters"]
    assert kafka_key == key.encode()
    assert headers["eml.errors.reason"] == b"no-model"
    assert advice in headers["__connect.errors.exception.message"].decode()


def test_a_device_without_a_name_is_a_dead_letter_and_its_fleet_goes_on():
    task = Task(fleet("all"))
    rows = task.call([("pump", records([1])[0]), ("", records([1])[0])])
    assert keys_of(rows) == [b"pump"]
    (headers,) = (headers for row in rows for _, _, headers in row["dead_letters"])
    assert headers["eml.errors.reason"] == b"no-key"
    assert headers["__connect.errors.stage"] == b"KEY_CONVERTER"


def test_events_of_two_devices_may_have_the_same_name():
    kafka = KafkaSettings(readings_topic="readings", labels_topic="labels")
    task, stream = LabelTask(replace(fleet("all"), kafka=kafka)), Stream()
    ids = stream.readings(1, 5)
    readings = list(stream.raws)
    labels = {device: [_label(stream, event_id, device) for event_id in ids] for device in ("one", "two")}
    task.send_all({"one": readings, "two": readings})
    task.send("two", labels["two"])
    assert task.runtime.counters["labels_joined"].count == 5
    task.send("one", labels["one"])
    assert task.runtime.counters["labels_joined"].count == 10
    assert task.runtime.counters["labels_repeated"].count == 0
    (row,) = task.send("one", labels["two"][:1])
    assert row["dead_letters"][0][2]["eml.errors.reason"] == b"wrong-key"


def _label(stream: Stream, event_id: str, device: str) -> Raw:
    value = label_value(LABEL, schema_text("label"), event_id, stream.states[event_id], device)
    return Raw(value, Position("labels", 0, 99, 9000), {})


def test_a_fleet_s_waiting_records_keep_their_devices_through_a_crash():
    task = Task(fleet("header:site"))
    task.registry.down = {10}
    raws = [replace(raw, headers={"site": b"north"}) for raw in records([1] * 4)]
    assert not task.call(list(zip(["a", "b", "a", "c"], raws, strict=True)))
    task = Task(fleet("header:site"), task.runtime)
    assert keys_of(task.pass_time(600)) == [b"a", b"b", b"a", b"c"]
