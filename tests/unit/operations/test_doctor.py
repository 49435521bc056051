"""`eml doctor` where neither Kafka nor a registry runs: what it finds of the machine, and that it does not wait."""

import json
import os
import time

import pytest

from eml import cli
from eml.operations import findings, machine_checks
from eml.operations.findings import FAIL, OK, WARN, Finding

NOBODY = ("-S", "kafka.bootstrap_servers=127.0.0.1:9", "-S", "registry.url=http://127.0.0.1:9")


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("EML_") and name != "EML_CACHE"]:
        monkeypatch.delenv(name)


def doctor(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
    """The exit status and what is found, by name."""
    status = cli.main(["doctor", "--json", *arguments])
    return status, {found["name"]: found for found in json.loads(capsys.readouterr().out)}


def test_the_machine_is_looked_at_without_settings(capsys):
    status, found = doctor(capsys)
    assert {"python", "packages", "java", "maven", "memory", "disk", "ports", "settings"} <= found.keys()
    assert status == int(any(one["state"] == FAIL for one in found.values()))
    assert found["settings"]["state"] == WARN
    assert "eml local up" in found["settings"]["fix"]


def test_a_cluster_that_does_not_answer_fails_soon(capsys):
    begun = time.monotonic()
    status, found = doctor(capsys, *NOBODY)
    assert time.monotonic() - begun < 10
    assert status == 1
    assert "correct kafka.bootstrap_servers" in found["broker"]["said"]
    assert "is registry.url right?" in found["registry"]["said"]


def test_settings_that_are_wrong_are_reported_and_the_machine_is_looked_at(capsys):
    status, found = doctor(capsys, *NOBODY, "-S", "kafka.start=soon")
    assert status == 1
    assert "kafka.start" in found["settings"]["said"]
    assert "java" in found


def test_no_java_fails_with_what_to_install(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    status, found = doctor(capsys)
    assert (status, found["java"]["state"]) == (1, FAIL)
    assert "openjdk-17" in found["java"]["fix"]
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin/java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019' >&2\n")
    java.chmod(0o755)
    _, found = doctor(capsys)
    assert "need 17" in found["java"]["said"]


@pytest.mark.parametrize(("gb", "state"), [(1.9, FAIL), (3.0, WARN), (9.0, OK)])
def test_scarce_memory_is_a_warning_too_little_fails(gb, state, monkeypatch):
    monkeypatch.setattr(machine_checks, "_available_bytes", lambda: int(gb * machine_checks.GB))
    (found,) = machine_checks.memory()
    assert found.state == state
    assert bool(found.fix) == (state != OK)


def test_every_line_has_its_fix_below(capsys):
    findings.show([Finding("java", OK, "17"), Finding("topics", FAIL, "no readings", "eml topics create")])
    assert capsys.readouterr().out.splitlines() == [
        "ok    java           17",
        "fail  topics         no readings",
        f"{'':<20} -> eml topics create",
    ]
