"""The stack in the background where it does not come up: an error for the caller, and nothing left behind."""

import fcntl
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from eml.local import background, state
from eml.local.errors import LocalError, StartError, UnreachableError
from eml.local.state import ProcessId, State, process_id

NOBODY = "http://127.0.0.1:1"
STATE = State("127.0.0.1:1", NOBODY, (), ProcessId(2**22, "1"), ())


@pytest.fixture
def sleeper():
    """Something that runs in a process group of its own."""
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(command, start_new_session=True) as process:  # noqa: S603  our own script
        yield process
        process.kill()


def test_two_keepers_do_not_share_a_folder(tmp_path):
    with (tmp_path / "keeper.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LocalError, match="Another `eml local up` is at work"):
            background.keep(tmp_path, None, None)
        with pytest.raises(StartError, match="Another `eml local up` is at work"):
            background.up(tmp_path)


def test_a_stack_that_does_not_come_up_leaves_no_state(tmp_path):
    with pytest.raises(UnreachableError, match="No registry answers"):
        background.up(tmp_path, registry_url=NOBODY)
    assert background.find(tmp_path) is None


def test_down_ends_what_a_killed_keeper_left(tmp_path, sleeper, monkeypatch):
    monkeypatch.setattr(background, "DOWN_TIMEOUT_S", 0.3)
    state.write(tmp_path, replace(STATE, supervisors=(process_id(sleeper.pid),)))
    assert background.find(tmp_path) is None
    assert background.down(tmp_path)
    assert sleeper.wait(5) == -signal.SIGKILL


def test_down_asks_the_keeper_first(tmp_path, sleeper):
    state.write(tmp_path, replace(STATE, keeper=process_id(sleeper.pid)))
    assert background.find(tmp_path) is not None
    assert background.down(tmp_path)
    assert sleeper.wait(5) == -signal.SIGTERM
    assert state.read(tmp_path) is None
