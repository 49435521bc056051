"""The state file and the identity of processes."""

import os
import signal
import subprocess
import sys
import time

import pytest

from eml.local import state
from eml.local.errors import LocalError
from eml.local.state import ProcessId, State, process_id, wait_for_end


@pytest.fixture
def sleeper():
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True) as process:
        yield process
        process.kill()


def test_what_is_written_is_read_back(tmp_path):
    kept = State("127.0.0.1:9092", "http://127.0.0.1:8081", ("a.log",), ProcessId(1, "5"), (ProcessId(2, "6"),))
    assert state.read(tmp_path) is None
    state.write(tmp_path, kept)
    assert state.read(tmp_path) == kept
    assert [path.name for path in tmp_path.iterdir()] == [state.FILE]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"logs": [], "keeper": {"pid": 1}, "supervisors": []}'])
def test_a_damaged_file_is_an_error_that_says_what_to_do(tmp_path, text):
    (tmp_path / state.FILE).write_text(text)
    with pytest.raises(LocalError, match=r"is damaged .* Remove it"):
        state.read(tmp_path)


def test_a_process_is_alive_until_it_ends_even_unreaped(sleeper):
    known = process_id(sleeper.pid)
    assert known.alive()
    assert not wait_for_end([known], timeout_s=0.1)
    sleeper.kill()  # nobody waits for it yet: a zombie
    assert wait_for_end([known], timeout_s=10)
    assert not known.alive()


def test_another_process_of_the_same_number_is_left_alone(sleeper):
    stranger = ProcessId(sleeper.pid, "before")
    assert not stranger.alive()
    stranger.send(signal.SIGKILL)
    stranger.send(signal.SIGKILL, group=True)
    time.sleep(0.1)
    assert sleeper.poll() is None


def test_a_signal_reaches_the_process(sleeper):
    process_id(sleeper.pid).send(signal.SIGTERM, group=True)
    assert sleeper.wait(10) == -signal.SIGTERM


def test_a_process_that_never_was_is_not_alive():
    gone = subprocess.Popen(["true"])  # noqa: S607
    gone.wait()
    assert not process_id(gone.pid).alive()
    assert process_id(os.getpid()).alive()
