"""The commands that look at a job from outside, on a real broker, registry and job."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from eml import cli
from eml.local import topics as local_topics
from eml.local.stack import Stack
from eml.settings import load
from tests.integration.harness import Job, Message, Topics, readings_of, receive, register_versions, send

pytestmark = pytest.mark.slow

COUNTS = (30, 20, 0)  # records of a machine under each version
AGO_MS = 1000 * int(time.time()) - 60_000  # what is older than its retention the broker drops


@pytest.fixture(scope="module")
def job(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    """A job that has answered two machines, and runs until the module ends."""
    folder = tmp_path_factory.mktemp("operations")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        topics = Topics.new(stack)
        writers = register_versions(stack, topics.readings)
        with Job(stack, topics, folder, {"job": {"name": topics.predictions}}).start() as job:
            for number, key in enumerate(("machine-1", "machine-2")):
                send(stack, topics.readings, readings_of(key, writers, (COUNTS[0], COUNTS[1] * number, 0), number))
            receive(job, topics.predictions, 2 * COUNTS[0] + COUNTS[1])
            yield job


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    """The exit status of a command, and the JSON that it prints."""
    status = cli.main([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


# -- eml status --------------------------------------------------------------------------------------------------------


def test_status_knows_the_job_its_checkpoint_its_lag_and_the_mix_of_versions(job: Job, capsys):
    file = str(job.folder / "eml.toml")
    end = time.monotonic() + 30
    status, said = run(capsys, "status", "--settings", file)
    while (said["lag"]["records"] or said["checkpoint"] is None) and time.monotonic() < end:
        time.sleep(0.5)  # offsets are committed some time after a checkpoint, and the page is behind by seconds
        status, said = run(capsys, "status", "--settings", file)
    assert status == 0, said
    assert (said["job"]["state"], said["job"]["runs"]) == ("RUNNING", True)
    assert said["checkpoint"]["id"] > 0
    assert (said["lag"]["records"], said["lag"]["partitions"]) == (0, 2)
    assert said["lag"]["committed"] >= 1
    assert said["devices_by_version"] == {"1": 1, "2": 1}
    assert said["predictions"] == 2 * COUNTS[0] + COUNTS[1]
    assert cli.main(["status", "--settings", file]) == 0
    assert "version 1: 1, version 2: 1" in capsys.readouterr().out


def test_status_of_a_job_that_does_not_run_is_1(job: Job, capsys):
    file = str(job.folder / "eml.toml")
    status, said = run(capsys, "status", "--settings", file, "-S", "job.name=another", "-S", "kafka.group_id=another")
    assert (status, said["job"], said["lag"]["committed"]) == (1, None, 0)
    assert "--flink URL" in said["problems"][0]
    status, said = run(capsys, "status", "--settings", file, "--flink", "http://127.0.0.1:9")
    assert status == 1
    assert "Flink's page at http://127.0.0.1:9 does not answer" in said["problems"][0]


# -- eml doctor --------------------------------------------------------------------------------------------------------


def test_doctor_finds_a_cluster_well(job: Job, capsys):
    begun = time.monotonic()
    status, found = run(capsys, "doctor", "--settings", str(job.folder / "eml.toml"))
    assert time.monotonic() - begun < 15
    states = {(one["name"], one["state"]) for one in found if one["name"] not in ("memory", "disk", "ports")}
    assert {("broker", "ok"), ("topics", "ok"), ("transactions", "ok"), ("registry", "ok"), ("clocks", "ok")} <= states
    assert status == int(any(one["state"] == "fail" for one in found))


def test_doctor_names_what_keeps_a_job_from_running(job: Job, capsys):
    wrong = ["kafka.labels_topic=no-labels", "kafka.transaction_timeout_ms=2000000000", "job.parallelism=9"]
    options = [part for each in wrong for part in ("-S", each)]
    status, found = run(capsys, "doctor", "--settings", str(job.folder / "eml.toml"), *options)
    failed = {one["name"]: one for one in found if one["state"] == "fail"}
    assert status == 1
    assert "no no-labels (kafka.labels_topic)" in failed["topics"]["said"]
    assert "eml topics create" in failed["topics"]["fix"]
    assert "is 2000000000, the brokers allow" in failed["transactions"]["said"]
    assert "has 2 partitions, job.parallelism is 9" in failed["partitions"]["said"]


def test_doctor_knows_the_subject_s_compatibility_and_a_clock_that_is_ahead(stack: Stack, job: Job, capsys):
    file, subject = str(job.folder / "eml.toml"), f"{job.topics.readings}-value"
    url = f"{stack.registry_url}/config/{subject}"
    requests.put(url, json={"compatibility": "FULL"}, timeout=10).raise_for_status()
    _, found = run(capsys, "doctor", "--settings", file)
    (said,) = [one for one in found if one["name"] == "subject"]
    assert (said["state"], said["said"]) == ("warn", f"{subject}: compatibility FULL")
    requests.put(url, json={"compatibility": "BACKWARD"}, timeout=10).raise_for_status()
    ahead = Topics.new(stack)
    send(stack, ahead.readings, [Message(b"a", b"", 1000 * int(time.time()) + 600_000)])
    _, found = run(capsys, "doctor", "--settings", file, "-S", f"kafka.readings_topic={ahead.readings}")
    assert any("ahead of this machine's clock" in one["said"] for one in found if one["name"] == "clocks")


# -- eml init ----------------------------------------------------------------------------------------------------------


def init(stack: Stack, file: Path, *arguments: str) -> int:
    addresses = ["--broker", stack.bootstrap_servers, "--registry", stack.registry_url]
    return cli.main(["init", *addresses, "--output", str(file), *arguments])


def test_init_writes_settings_that_fit_the_topic(stack: Stack, job: Job, tmp_path: Path, capsys):
    file = tmp_path / "eml.toml"
    assert init(stack, file, "--topic", job.topics.readings) == 0
    said = capsys.readouterr().out
    assert f"{job.topics.readings}-value, version 2" in said
    assert "python -m eml.job --settings" in said
    settings = load(file, {})
    assert settings.kafka.readings_topic == job.topics.readings
    assert (settings.record.label_field, settings.record.key_format) == ("label", "text")
    assert settings.record.subjects == ()
    assert settings.model.by == "all", "two machines with fewer than 250 labels each"
    assert "labels per device so far, of 2 devices seen" in file.read_text()


def test_init_takes_a_subject_where_there_are_no_records_yet(stack: Stack, job: Job, tmp_path: Path):
    empty = Topics.new(stack)
    assert init(stack, tmp_path / "a.toml", "--topic", empty.readings) == 1
    assert init(stack, tmp_path / "b.toml", "--topic", empty.readings, "--subject", f"{job.topics.readings}-value") == 0
    assert load(tmp_path / "b.toml", {}).record.subjects == (f"{job.topics.readings}-value",)


def test_init_names_the_nearest_topic(stack: Stack, tmp_path: Path, capsys):
    local_topics.create(stack.bootstrap_servers, [topic := f"turbines-{time.time_ns()}"])
    assert init(stack, tmp_path / "eml.toml", "--topic", topic[:-1]) == 1
    assert f"did you mean '{topic}'?" in capsys.readouterr().err
