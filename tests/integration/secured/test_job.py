"""The job on a secured cluster, end to end; and that no secret it was given is found anywhere afterwards.

One run has it all: SASL_SSL with a user and the least ACLs, a registry behind TLS with basic authentication and a
client's certificate, an evolution, a dead letter, a restart after a failure, a savepoint, a rotated password.
"""

import base64
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from kafka.consumer.fetcher import ConsumerRecord

from eml.local import topics as local_topics
from eml.settings import SettingsError, describe, load
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
    rotated: list[Message]  # sent after the registry's password was rotated, of a schema that was not known before
    answered: int  # of those
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
        "rotated registry password": canary("rotated-password"),
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
        registry: dict[str, object] = {
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
            yield _driven(job, proxy, password_file, secrets)


def _driven(job: Job, proxy: RegistryProxy, password_file: Path, secrets: dict[str, str]) -> Run:
    page = FlinkPage()
    job.start(*page.options)
    topics = job.topics
    writers = register_versions(job.stack, topics.readings)
    every = readings_of("pump", writers, (120, 60, 20), 0)
    messages, rotated = every[:180], every[180:]
    junk = Message(b"pump", JUNK, messages[0].timestamp_ms)
    send(job.stack, topics.readings, [*messages[:150], junk])  # 30 of them of the second version
    receive(job, topics.predictions, 150)
    _kill_worker(job)
    send(job.stack, topics.readings, messages[150:])
    predicted = Predicted.read(job, len(messages))
    page.wait_running()
    page.savepoint((job.folder / "savepoints").as_uri())
    new = secrets["rotated registry password"]
    proxy.authorization = basic("eml", new)
    password_file.write_text(new)
    send(job.stack, topics.readings, rotated)
    answered = len(receive(job, topics.predictions, len(every), 40)) - len(messages)
    answers = {path: (status, body) for path, status, body in page.answers()}
    evolutions, dead_letters = (receive(job, topic, 1) for topic in (topics.evolutions, topics.dead_letters))
    restarts = page.restarts()
    job.kill()
    return Run(
        job, job.folder, messages, rotated, answered, predicted, evolutions, dead_letters, answers, restarts, secrets
    )


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


def test_a_rotated_password_of_the_registry_is_picked_up(run: Run):
    assert run.answered == len(run.rotated)
    assert run.restarts == 1, "that of the killed worker"


def test_what_the_topics_hold_is_captured(run: Run):
    file = run.folder / "captured.jsonl"
    eml = "import sys; from eml.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", eml, "capture", str(file), "--settings", str(run.folder / "eml.toml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    records = len(run.messages) + len(run.rotated) + 1
    assert f"{records} records of 1 keys, 3 schemas" in done.stdout
    _assert_without(run, {"what capture says": (done.stdout + done.stderr).encode(), "its file": file.read_bytes()})


def test_no_secret_is_in_a_file_the_job_wrote(run: Run):
    files = [file for file in run.folder.rglob("*") if file.is_file() and file.name != "eml.toml"]
    assert {"checkpoints", "savepoints"} <= {file.relative_to(run.folder).parts[0] for file in files}
    assert any(file.suffix == ".log" and "starting with these settings" in file.read_text() for file in files)
    assert run.secrets["kafka password"] in (run.folder / "eml.toml").read_text(), "it is found where it is"
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


def test_no_secret_is_in_what_is_said_of_wrong_settings(run: Run):
    password = run.secrets["kafka password"]
    wrong = {
        "EML_KAFKA_PROPERTIES": f'{{"sasl.jaas.config" = "{password}"',
        "EML_KAFKA_BOOTSTRAP_SERVERS": password,
        "EML_REGISTRY_URL": f"https://eml:{password}@registry",
        "EML_KAFKA_START": password,
    }
    for name, value in wrong.items():
        with pytest.raises(SettingsError) as error:
            load(run.folder / "eml.toml", {name: value})
        _assert_without(run, {name: "".join(traceback.format_exception(error.value)).encode()})


def _assert_without(run: Run, where: dict[str, bytes]) -> None:
    found = []
    for name, secret in run.secrets.items():
        headers = basic("eml", secret).encode(), base64.b64encode(secret.encode())
        forms = {secret.encode(), secret.encode("utf-16-le"), *headers}
        found += [f"the {name} in {place}" for place, text in where.items() if any(form in text for form in forms)]
    assert not found
