"""Mistakes of a first start, each answered by one line that names the fix: those that need a broker and a registry.

`deploy/FAILURES.md` has the list, with the tests of those that need neither, or a job.
"""

import json
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
import requests

from eml import cli
from eml.local import topics as local_topics
from eml.local.stack import Stack
from eml.stream.wire import frame
from tests.integration.harness import Message, send

pytestmark = pytest.mark.slow

NOBODY = "http://127.0.0.1:9"
LONGEST_S = 10.0  # of an answer, on a busy machine
TEMPERATURE = {"name": "temperature", "type": "double"}
AS_LABEL = {"name": "label", "type": {"type": "array", "items": "string"}}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def topic(stack: Stack) -> str:
    """One that nobody else has."""
    name = f"turbines-{uuid.uuid4().hex[:8]}"
    local_topics.create(stack.bootstrap_servers, [name])
    return name


def line(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit status, and the one line on the standard error."""
    begun = time.monotonic()
    status = cli.main(list(arguments))
    assert time.monotonic() - begun < LONGEST_S
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    return status, said


def addresses(stack: Stack, registry: str = "") -> list[str]:
    return [
        *("-S", f"kafka.bootstrap_servers={stack.bootstrap_servers}"),
        *("-S", f"registry.url={registry or stack.registry_url}"),
    ]


def register(stack: Stack, subject: str, *fields: dict[str, Any]) -> int:
    schema = json.dumps({"type": "record", "name": "Turbine", "fields": fields})
    url = f"{stack.registry_url}/subjects/{subject}/versions"
    answer = requests.post(url, json={"schema": schema}, timeout=10)
    answer.raise_for_status()
    return int(answer.json()["id"])


def test_a_registry_that_is_down(stack: Stack, topic: str, capsys):
    command = [sys.executable, "-m", "eml.job", *addresses(stack, NOBODY)]
    job = subprocess.run(command, capture_output=True, text=True, check=False, timeout=4 * LONGEST_S)  # noqa: S603
    assert (job.returncode, "is registry.url right?" in job.stderr) == (3, True), job.stderr
    send(stack, topic, [Message(b"turbine-1", frame(1, b""), 1000 * int(time.time()))])
    status, said = line(capsys, "init", *addresses(stack, NOBODY), "--topic", topic)
    assert (status, "Look at registry.url" in said) == (3, True), said


def test_a_topic_that_is_missing(stack: Stack, topic: str, capsys):
    named = ["-S", f"kafka.predictions_topic={topic}-none"]
    status, said = line(capsys, "tail", "predictions", *addresses(stack), *named)
    assert (status, f"'{topic}-none'" in said, "`eml topics create`" in said) == (1, True, True), said
    status, said = line(capsys, "init", *addresses(stack), "--topic", topic[:-1])
    assert (status, f"did you mean '{topic}'? (--topic)" in said) == (1, True), said


@pytest.mark.parametrize(
    ("fields", "fix"),
    [
        ([{"name": "label", "type": "string"}], "no field is a feature: a number, boolean or category"),
        ([TEMPERATURE, AS_LABEL], "(record.label_field): make it a string, an int, a long, a boolean or an enum"),
    ],
    ids=["no-numeric-field", "label-of-a-wrong-type"],
)
def test_a_schema_that_cannot_be_learnt_from(stack: Stack, topic: str, capsys, fields, fix):
    number = register(stack, f"{topic}-value", *fields)
    send(stack, topic, [Message(b"turbine-1", frame(number, b"\0"), 1000 * int(time.time()))])
    status, said = line(capsys, "init", *addresses(stack), "--topic", topic)
    assert (status, fix in said) == (1, True), said
    assert not Path("eml.toml").exists()


@pytest.mark.parametrize(
    ("key", "value", "fix"),
    [
        (b"turbine-1", b'{"temperature": 3.5}', "are JSON, not Avro: .* write with an Avro serializer"),
        (None, frame(1, b"\0"), "have no key: .* send each record with its device's name as key"),
        (b"turbine-1", frame(2_130_706_433, b"!"), "has no Avro schema with id 2130706433, .* is it the registry of"),
    ],
    ids=["json-for-avro", "no-key", "another-registry"],
)
def test_records_that_the_job_cannot_read(stack: Stack, topic: str, capsys, key, value, fix):
    if key is None:
        value = frame(register(stack, f"{topic}-value", TEMPERATURE), bytes(8))
    send(stack, topic, [Message(key, value, 1000 * int(time.time()))])
    status, said = line(capsys, "init", *addresses(stack), "--topic", topic)
    assert (status, bool(re.search(fix, said))) == (1, True), said
    assert not Path("eml.toml").exists()
