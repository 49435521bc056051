"""What must not change what is predicted: a crash, bad records, a registry that is away."""

import time
from pathlib import Path

import pytest
import requests

from eml.local import topics as local_topics
from eml.local.registry import Registry
from eml.local.stack import Stack
from eml.settings import load
from eml.stream.wire import frame
from tests.integration.harness import (
    Job,
    Message,
    Predicted,
    Topics,
    expected,
    readings_of,
    receive,
    register_versions,
    send,
)
from tests.integration.scenario import Output, Scenario

pytestmark = pytest.mark.slow
OUTAGE_S = 12


def test_a_job_killed_in_each_stage_of_an_announced_evolution_goes_on_as_if_nothing_had_been(
    stack: Stack, tmp_path: Path
):
    settings: dict[str, dict[str, object]] = {"registry": {"newest_every_ms": 200}, "learner": {"warm_up": 64}}
    topics = Topics.new(stack)
    labels = f"{topics.readings}-labels"
    local_topics.create(stack.bootstrap_servers, [labels])
    settings["kafka"] = {"labels_topic": labels}
    with Job(stack, topics, tmp_path, settings).start() as job:
        output = Output(job)
        fleet = Scenario(f"{job.topics.readings}-killed", job, output, labels, load(tmp_path / "eml.toml"))
        devices = ("-1", "-2", "-3")

        def send_all(version: int, count: int) -> None:
            for device in devices:
                fleet.readings(version, count, device=device)

        def kill(version: int, count: int) -> None:
            time.sleep(1.5)  # some of it is in a checkpoint, some is only in memory and in open transactions
            job.kill()
            send_all(version, count)  # devices go on meanwhile
            job.start("--restore", "latest")

        old = fleet.register(["a", "b", "c", "d"])
        send_all(old, 150)
        for device in devices:
            fleet.wait(device)
        new = fleet.register(["b", "c", "d", "e"])
        send_all(old, 20)
        kill(old, 20)  # while it is announced
        while not all("announced" in fleet.event_kinds(0, device) for device in devices):  # it takes a record to tell
            send_all(old, 5)
            output.read(1000)
        send_all(old, 60)
        kill(new, 30)  # in the T-stage; at the switch
        send_all(new, 20)
        kill(new, 180)  # in the I-stage
        late = {device: fleet.readings(new, 20, labelled=False, device=device) for device in devices}
        for device in devices:
            fleet.wait(device)
        kill(new, 0)  # when it has settled, and readings wait for their labels
        for device in devices:
            fleet.labels(late[device], device=device)
        for device in devices:
            fleet.wait_for_scores(late[device], device)
        send_all(new, 10)
        for device in devices:
            said = fleet.agrees(device)
            assert len(said) >= 150 + 40 + 60 + 30 + 200 + 20 + 10
            assert {one["stage"] for one in said} >= {"initial", "steady", "transforming", "inheriting"}
            assert fleet.wait_for_event("evolution", device=device)[0]["announced"]
            assert [event["kind"] for event in fleet.events(device)].count("announced") == 1
        output.close()


def test_bad_records_are_dead_letters_and_their_neighbours_do_not_notice(stack: Stack, tmp_path: Path):
    topics = Topics.new(stack, partitions=1)
    writers = register_versions(stack, topics.readings)
    good = readings_of("pump", writers, (60, 40, 0), seed=3)
    mixed, bad = good[:30], _bad_records(stack, topics, good[0])
    for number, message in enumerate(bad):
        mixed += [message, good[30 + number]]
    mixed += good[30 + len(bad) :]
    send(stack, topics.readings, mixed)
    with Job(stack, topics, tmp_path, {"record": {"tombstones": "dead-letter"}}).start() as job:
        predicted = Predicted.read(job, len(good))
        letters = receive(job, topics.dead_letters, len(bad), 30)
    headers = [dict(letter.headers) for letter in letters]
    places = {
        int(h["__connect.errors.offset"]): (letter.key, letter.value)
        for h, letter in zip(headers, letters, strict=True)
    }
    assert places == {30 + 2 * n: (message.key, message.value) for n, message in enumerate(bad)}, (
        "the bytes as they came"
    )
    assert len(letters) == len(bad)
    assert [h["eml.errors.reason"] for h in headers] == [h["wanted"] for h in headers], "each for its own reason"
    assert {h["__connect.errors.topic"] for h in headers} == {topics.readings.encode()}
    assert predicted.said == {"pump": expected(good)}


def _bad_records(stack: Stack, topics: Topics, good: Message) -> list[Message]:
    """One of each kind, with the reason it should be given in a header."""
    value = good.value or b""
    contents = [
        ("not-framed", b"hello"),
        ("unknown-schema", frame(2_000_000_000, b"abc")),
        ("truncated", value[:-3]),
        ("trailing-bytes", value + b"\0"),
        ("not-finite", value[:-8] + b"\0\0\0\0\0\0\xf8\x7f"),
        ("unsupported-schema", frame(_register_text(stack, topics), b"\x04no")),
        ("foreign-subject", frame(_register_foreign(stack, topics), b"\0" * 8)),
        ("no-value", None),
    ]
    bad = [Message(good.key, content, good.timestamp_ms, (("wanted", why.encode()),)) for why, content in contents]
    no_key = (("wanted", b"no-key"),)
    bad_key = (("wanted", b"bad-key"),)
    return [*bad, Message(None, value, good.timestamp_ms, no_key), Message(b"\xff", value, good.timestamp_ms, bad_key)]


def _register_text(stack: Stack, topics: Topics) -> int:
    """A schema with nothing to measure: its only field is of the wrong type."""
    schema = '{"type": "record", "name": "Note", "fields": [{"name": "text", "type": "string"}]}'
    subject = f"{stack.registry_url}/subjects/{topics.readings}-Note/versions"
    return int(requests.post(subject, json={"schema": schema}, timeout=10).json()["id"])


def _register_foreign(stack: Stack, topics: Topics) -> int:
    """A schema of another topic, which would do for a reading."""
    name = f"Order{topics.readings.replace('-', '_')}"  # of this test alone: equal schemas may share an id
    schema = f'{{"type": "record", "name": "{name}", "fields": [{{"name": "price", "type": "double"}}]}}'
    subject = f"{stack.registry_url}/subjects/{topics.readings}-orders-value/versions"
    return int(requests.post(subject, json={"schema": schema}, timeout=10).json()["id"])


def test_while_the_registry_is_away_known_schemas_flow_and_new_ones_wait(stack: Stack, tmp_path: Path):
    registry = Registry(_folder(tmp_path, "registry"), stack.bootstrap_servers)
    registry.start()
    try:
        _outage(Stack(tmp_path, stack.bootstrap_servers, registry.url), registry, tmp_path)
    finally:
        registry.stop()


def _outage(stack: Stack, registry: Registry, folder: Path) -> None:
    topics = Topics.new(stack)
    writers = register_versions(stack, topics.readings)
    upgraded = readings_of("upgraded", writers, (50, 30, 20), seed=1)
    steady = readings_of("steady", writers, (80, 0, 0), seed=2)
    with Job(stack, topics, folder).start() as job:
        send(stack, topics.readings, upgraded[:50] + steady[:50])
        receive(job, topics.predictions, 100)
        registry.stop()
        end = time.monotonic() + OUTAGE_S
        send(stack, topics.readings, upgraded[50:] + steady[50:])
        seen = receive(job, topics.predictions, 130)
        time.sleep(max(0.0, end - time.monotonic()))
        assert len(seen) == 130, "the known schema flows on, the new one waits"
        registry.start()
        assert Predicted.read(job, 180).said == {"upgraded": expected(upgraded), "steady": expected(steady)}
        assert not receive(job, topics.dead_letters, 1, 3), "nothing is dead for it"


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder
