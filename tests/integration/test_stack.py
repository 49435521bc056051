"""The embedded stack, for real: it answers, keeps its schemas, and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
import requests
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # a public name all the same

from eml import cli
from eml.local import broker, registry, state
from eml.local.stack import Stack
from eml.local.state import ProcessId, process_id, wait_for_end
from eml.settings import load

SCHEMA = {"type": "record", "name": "Reading", "fields": [{"name": "temperature", "type": "double"}]}
TIMEOUT_S = 10
# A caller that says where its stack is and then does nothing for it any more.
CALLER = """
import json, sys, time
from eml.local.stack import running
with running(bootstrap_servers=sys.argv[1] or None) as stack:
    processes = [(process.pid, str(process.folder)) for process in stack.processes]
    print(json.dumps(processes), flush=True)
    time.sleep(600)
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def name() -> str:
    """A name nobody else has, for a topic or a subject."""
    return f"test-{uuid.uuid4().hex[:12]}"


def register(stack: Stack, subject: str) -> int:
    answer = requests.post(
        f"{stack.registry_url}/subjects/{subject}/versions",
        json={"schema": json.dumps(SCHEMA)},
        headers={"Content-Type": "application/vnd.schemaregistry.v1+json"},
        timeout=TIMEOUT_S,
    )
    answer.raise_for_status()
    return int(answer.json()["id"])


def schema(stack: Stack, number: int) -> object:
    answer = requests.get(f"{stack.registry_url}/schemas/ids/{number}", timeout=TIMEOUT_S)
    answer.raise_for_status()
    return json.loads(answer.json()["schema"])


def subjects(stack: Stack) -> list[str]:
    answer: list[str] = requests.get(f"{stack.registry_url}/subjects", timeout=TIMEOUT_S).json()
    return answer


def children(pid: int) -> list[ProcessId]:
    """The Java processes of a supervisor."""
    return [process_id(int(child)) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_the_broker_answers_and_makes_no_topic_unasked(stack, name):
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers})
    assert len(admin.list_topics(timeout=TIMEOUT_S).brokers) == 1
    admin.list_topics(topic=name, timeout=TIMEOUT_S)
    assert name not in admin.list_topics(timeout=TIMEOUT_S).topics


def test_what_a_transaction_wrote_is_read_back(stack, name):
    servers = {"bootstrap.servers": stack.bootstrap_servers}
    admin = AdminClient(dict(servers))
    admin.create_topics([NewTopic(name, 1)])[name].result(TIMEOUT_S)
    producer = Producer({**servers, "transactional.id": name})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, b"value", key=b"key")
    producer.commit_transaction(30)
    settings = {"group.id": name, "auto.offset.reset": "earliest", "isolation.level": "read_committed"}
    consumer = Consumer({**servers, **settings})
    try:
        consumer.subscribe([name])
        message = consumer.poll(30)
        assert message is not None
        assert (message.key(), message.value()) == (b"key", b"value")
    finally:
        consumer.close()


def test_a_registered_schema_is_read_back(stack, name):
    number = register(stack, name)
    assert schema(stack, number) == SCHEMA
    assert name in subjects(stack)
    assert register(stack, name) == number


def test_schemas_outlive_the_registry_on_the_same_port(stack, name):
    if "EML_TEST_REGISTRY" in os.environ:
        pytest.skip("the registry of EML_TEST_REGISTRY is not ours to stop")
    number = register(stack, name)
    stack.registry.stop()
    try:
        assert not stack.registry.healthy()
        with pytest.raises(requests.ConnectionError):
            subjects(stack)
    finally:
        stack.registry.start()
    assert schema(stack, number) == SCHEMA
    assert name in subjects(stack)


@pytest.mark.parametrize(("number", "all_parts"), [(signal.SIGKILL, True), (signal.SIGTERM, False)])
def test_a_caller_that_dies_leaves_no_process_and_no_folder(stack, number, all_parts):
    shared = "" if all_parts else stack.bootstrap_servers
    command = [sys.executable, "-c", CALLER, shared]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as caller:  # noqa: S603  our own script
        assert caller.stdout is not None
        processes = json.loads(caller.stdout.readline())
        java = [child for pid, _ in processes for child in children(pid)]
        everything = [*java, *(process_id(pid) for pid, _ in processes)]
        caller.send_signal(number)
    assert len(everything) == (4 if all_parts else 2)
    assert wait_for_end(everything, timeout_s=40)
    assert not any(Path(folder).exists() for _, folder in processes)


def test_up_status_and_down(stack, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = ["--folder", str(tmp_path)]
    try:
        assert cli.main(["local", "up", *folder, "--broker", stack.bootstrap_servers]) == 0
        known = state.read(tmp_path)
        assert known is not None
        out = capsys.readouterr().out
        assert f"export EML_KAFKA_BOOTSTRAP_SERVERS={known.bootstrap_servers}\n" in out
        assert f"export EML_REGISTRY_URL={known.registry_url}\n" in out
        assert load(Path("eml.toml")).kafka.bootstrap_servers == known.bootstrap_servers
        assert "Next: `eml topics create`" in out
        assert cli.main(["local", "up", *folder]) == 0
        said = capsys.readouterr().out
        assert "runs already" in said
        assert "eml.toml has this broker's address already" in said
        assert state.read(tmp_path) == known
        assert cli.main(["local", "status", *folder]) == 0
        assert capsys.readouterr().out.count(" healthy ") == 2
    finally:
        assert cli.main(["local", "down", *folder]) == 0
    assert capsys.readouterr().out == "Stopped.\n"
    assert not any(process.alive() for process in (known.keeper, *known.supervisors))
    assert not registry.answers(known.registry_url)
    assert broker.answers(stack.bootstrap_servers)  # it was not ours to stop
    assert cli.main(["local", "status", *folder]) == 1
