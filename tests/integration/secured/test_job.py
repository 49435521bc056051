"""The job on a secured cluster, end to end; and that no secret it was given is found anywhere afterwards.

One run has it all: SASL_SSL with a user and the least ACLs, a registry behind TLS with basic authentication and a
client's certificate, an evolution, a dead letter, a restart after a failure, a savepoint.
"""

import base64
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from kafka.consumer.fetcher import ConsumerRecord

from eml.local import topics as local_topics
from eml.settings import describe, load
from tests.integration.harness import (
    Job,
    Message,
    Predicted,
    expected,
    readings_of,
    receive,
    register_versions,
    send,
)
from tests.integration.secured.flink_page import FlinkPage
from tests.integration.secured.proxy import RegistryProxy, basic
from tests.integration.secured.stack import Secured, canary

pytestmark = pytest.mark.slow
JUNK = b"\x01 no record of ours"


@dataclass
class Run:
    """What a job left."""

    job: Job
    folder: Path
    messages: list[Message]
    predicted: Predicted
    evolutions: list[ConsumerRecord]
    dead_letters: list[ConsumerRecord]
    answers: dict[str, tuple[int, bytes]]
    restarts: int
    secrets: dict[str, str]


@pytest.fixture(scope="module")
def run(secured: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("job")
    secrets = {
        "kafka password": secured.password,
        "registry password": canary("registry-password"),
        "Kafka client's key": _middle(secured.kafka_client.key),
        "registry client's key": _middle(secured.client.key),
    }
    password_file = secured.folder / "registry-password"
    password_file.write_text(secrets["registry password"] + "\n")
    labels = f"labels-{folder.name}"
    local_topics.create(secured.bootstrap_servers, [labels])
    topics = secured.new_topics(labels)
    authorization = basic("eml", secrets["registry password"])
    with RegistryProxy(secured.registry_url, secured.server, authorization, secured.authority.file) as proxy:
        registry = {
            "url": proxy.url,
            "username": "eml",
            "password_file": str(password_file),
            "ca_file": str(secured.authority.file),
            "certificate_file": str(secured.client.certificate),
            "key_file": str(secured.client.key),
        }
        kafka = secured.kafka(labels_topic=labels)
        kafka["properties"] = secured.properties() | {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": secured.kafka_client.key.read_text(),
            "ssl.keystore.certificate.chain": secured.kafka_client.certificate.read_text(),
        }
        with Job(secured, topics, folder, {"kafka": kafka, "registry": registry}) as job:
            yield _driven(job, secrets)


def _driven(job: Job, secrets: dict[str, str]) -> Run:
    page = FlinkPage()
    job.start(*page.options)
    topics = job.topics
    writers = register_versions(job.stack, topics.readings)
    messages = readings_of("pump", writers, (120, 60, 0), 0)
    junk = Message(b"pump", JUNK, messages[0].timestamp_ms)
    send(job.stack, topics.readings, [*messages[:150], junk])  # 30 of them of the second version
    receive(job, topics.predictions, 150)
    _kill_worker(job)
    send(job.stack, topics.readings, messages[150:])
    predicted = Predicted.read(job, len(messages))
    page.wait_running()
    page.savepoint((job.folder / "savepoints").as_uri())
    answers = {path: (status, body) for path, status, body in page.answers()}
    evolutions, dead_letters = (receive(job, topic, 1) for topic in (topics.evolutions, topics.dead_letters))
    restarts = page.restarts()
    job.kill()
    return Run(job, job.folder, messages, predicted, evolutions, dead_letters, answers, restarts, secrets)


def _kill_worker(job: Job) -> None:
    """-9 for the Python worker, as if its memory were full: the task fails and is restarted."""
    assert job.process is not None
    for process in Path("/proc").glob("[0-9]*"):
        try:
            ours = os.getsid(int(process.name)) == job.process.pid
            if ours and b"pyflink.fn_execution.beam.beam_boot" in (process / "cmdline").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)
                return
        except (ProcessLookupError, FileNotFoundError):
            continue
    raise AssertionError("no Python worker")


def _middle(key: Path) -> str:
    """A line of a key file that no other key has."""
    return key.read_text().splitlines()[2]


def test_readings_are_predicted_evolve_and_fail_as_on_a_plain_cluster(run: Run):
    assert run.predicted.said == {"pump": expected(run.messages)}
    assert len(run.evolutions) >= 1
    assert [record.value for record in run.dead_letters] == [JUNK]
    assert run.restarts >= 1


def test_no_secret_is_in_a_file_the_job_wrote(run: Run):
    files = [file for file in run.folder.rglob("*") if file.is_file() and file.name != "eml.toml"]
    assert {"checkpoints", "savepoints"} <= {file.relative_to(run.folder).parts[0] for file in files}
    assert any(file.suffix == ".log" and "starting with these settings" in file.read_text() for file in files)
    _assert_without(run, {str(file.relative_to(run.folder)): file.read_bytes() for file in files})


def test_no_secret_is_in_flinks_answers(run: Run):
    asked = {path for path, (status, _) in run.answers.items() if status == 200}
    job = next(path for path in asked if path.startswith("jobs/") and path.endswith("/plan")).removesuffix("/plan")
    needed = {"jobmanager/config", "jobmanager/environment", "config", *(job + x for x in ("", "/plan", "/config"))}
    assert needed <= asked
    exceptions = run.answers[f"{job}/exceptions?maxExceptions=20"][1]
    assert b"Exception" in exceptions, "the restart left one"
    _assert_without(run, {path: body for path, (_, body) in run.answers.items()})


def test_no_secret_is_in_a_record_the_job_wrote(run: Run):
    records = [*run.evolutions, *run.dead_letters]
    _assert_without(run, {f"record {place}": value for place, value in run.predicted.bytes.items()})
    _assert_without(run, {repr(r.topic): repr((r.key, r.value, r.headers)).encode() for r in records})


def test_no_secret_is_in_the_settings_when_shown(run: Run):
    settings = load(run.folder / "eml.toml")
    _assert_without(run, {"describe": describe(settings).encode(), "repr": repr(settings).encode()})


def _assert_without(run: Run, where: dict[str, bytes]) -> None:
    found = []
    for name, secret in run.secrets.items():
        forms = {secret.encode(), base64.b64encode(secret.encode()), secret.encode("utf-16-le")}
        found += [f"the {name} in {place}" for place, text in where.items() if any(form in text for form in forms)]
    assert not found
