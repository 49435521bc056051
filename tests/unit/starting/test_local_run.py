"""A run on one machine: logs that are kept, a lock that a second start meets, and failures on the console."""

import os
import subprocess
import sys

import pytest

from eml.core.errors import EmlError
from eml.settings import JobSettings
from eml.starting.console import reason
from eml.starting.local_run import KEPT_LOGS, is_local, lock, log_environment, loopback_options


def test_fault_18_each_start_has_a_log_of_its_own_and_old_ones_go(tmp_path):
    for number in range(KEPT_LOGS + 5):
        log = tmp_path / f"flink-eml-20260101-0000{number:02d}-99999999-python-host.log"
        log.touch()
        os.utime(log, (number, number))
    (tmp_path / "kept.log").touch()
    variables = log_environment(JobSettings(log_dir=str(tmp_path)), {})
    assert variables["FLINK_LOG_DIR"] == str(tmp_path)
    assert variables["FLINK_IDENT_STRING"].endswith(f"-{os.getpid()}")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert len(left) == KEPT_LOGS - 1 + 1
    assert "kept.log" in left
    assert "flink-eml-20260101-000024-99999999-python-host.log" in left


@pytest.mark.slow
def test_fault_4_a_second_start_of_the_same_job_is_refused_until_the_first_has_ended(tmp_path):
    program = "import sys, pathlib; from eml.starting.local_run import lock; lock(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", program, str(tmp_path)]
    held = lock(tmp_path)
    second = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert f"running already (process {os.getpid()}" in second.stderr
    held.close()
    assert subprocess.run(command, check=False).returncode == 0  # noqa: S603
    (tmp_path / "file").touch()
    with pytest.raises(EmlError, match=r"job\.checkpoint_dir"):
        lock(tmp_path / "file")


def test_fault_0_a_local_run_stays_on_loopback_and_a_cluster_is_left_alone():
    assert is_local({})
    assert not is_local({"PYFLINK_GATEWAY_PORT": "1"})
    options = loopback_options({"rest.port": "12345"})
    assert options["rest.bind-port"] == "12345"
    assert options["web.submit.enable"] == "false"
    assert {value for name, value in options.items() if "address" in name or "host" in name} == {"127.0.0.1"}


def test_fault_18_the_console_says_the_cause_of_a_failure():
    java = "java.lang.RuntimeException: a\n\tat b\nCaused by: java.io.IOException: disk full\n\tat c"
    assert reason(java) == "java.io.IOException: disk full"
    python = (
        "x.TaskException: a\nCaused by: java.lang.RuntimeException: Error from SDK harness: Traceback (most recent call"
        ' last):\n  File "a.py", line 1\n    step()\neml.stream.errors.RegistryError: refused\n\n\tat org.b'
    )
    assert reason(python) == "eml.stream.errors.RegistryError: refused"
