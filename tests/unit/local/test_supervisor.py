"""The supervisor: its command ends with whatever ends first, and never outlives the caller."""

import os
import signal
import subprocess
import sys

import pytest

from eml.local import supervisor
from eml.local.state import ProcessId, process_id, wait_for_end

# Says its process id, then sleeps; the stubborn one does not mind SIGTERM.
SLEEP = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"
# Starts a supervisor and forks a child that keeps the supervisor's pipe open for a while after its death.
FORKING = f"""
import os, subprocess, sys, time
guard = subprocess.Popen([sys.executable, {supervisor.__file__!r}, sys.executable, "-c", {SLEEP!r}],
                         stdin=subprocess.PIPE)
if os.fork() == 0:
    os.closerange(0, 3)
    time.sleep(5)
    os._exit(0)
time.sleep(60)
"""


class Supervised:
    """A supervisor, its command, and the caller's end of the pipe."""

    def __init__(self, *options: str, program: str = SLEEP) -> None:
        self.process = subprocess.Popen(  # noqa: S603  our own script
            [sys.executable, supervisor.__file__, *options, sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        assert self.process.stdin is not None
        self.stdin = self.process.stdin
        self.command: ProcessId = process_id(int(self.process.stdout.readline()))

    def assert_ended(self) -> None:
        assert wait_for_end([self.command], timeout_s=10)
        self.process.wait(10)


@pytest.fixture
def supervised():
    started: list[Supervised] = []

    def start(*options: str, **more) -> Supervised:
        started.append(Supervised(*options, **more))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        with each.process:  # closes its pipes
            pass


def test_a_line_stops_the_command(supervised):
    one = supervised()
    one.stdin.write(b"stop\n")
    one.stdin.flush()
    one.assert_ended()


def test_the_end_of_the_pipe_stops_the_command(supervised):
    one = supervised()
    one.stdin.close()
    one.assert_ended()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_stops_the_command(supervised, number):
    one = supervised()
    one.process.send_signal(number)
    one.assert_ended()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's death")
def test_the_command_does_not_outlive_a_killed_supervisor(supervised):
    one = supervised()
    one.process.kill()
    one.assert_ended()


def test_a_command_that_minds_no_sigterm_is_killed(supervised):
    one = supervised("--grace", "0.2", program=STUBBORN)
    one.stdin.close()
    one.assert_ended()
    assert one.process.returncode == 256 - signal.SIGKILL


def test_the_command_s_end_ends_the_supervisor_with_its_status():
    command = [sys.executable, supervisor.__file__, sys.executable, "-c", "raise SystemExit(7)"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:  # noqa: S603  our own script
        assert process.wait(10) == 7


def test_the_scratch_folder_is_removed_only_if_the_caller_dies(supervised, tmp_path):
    folders = [tmp_path / "stopped", tmp_path / "orphaned"]
    for folder in folders:
        folder.mkdir()
        (folder / "file").touch()
    stopped, orphaned = (supervised("--scratch", str(folder)) for folder in folders)
    stopped.stdin.write(b"stop\n")
    stopped.stdin.flush()
    orphaned.stdin.close()
    stopped.assert_ended()
    orphaned.assert_ended()
    assert os.listdir(tmp_path) == ["stopped"]  # noqa: PTH208  names are what is compared


def test_a_fork_of_the_caller_does_not_keep_the_command_alive():
    command = [sys.executable, "-W", "ignore", "-c", FORKING]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as caller:  # noqa: S603  our own script
        assert caller.stdout is not None
        supervised = process_id(int(caller.stdout.readline()))
        caller.kill()
    assert wait_for_end([supervised], timeout_s=10)
