"""One process of the stack, played by a Python that listens on a port: its start, its stop and its caller's death."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from eml.local.errors import StartError
from eml.local.process import LOOPBACK, PORTS, Process, free_port, is_free
from eml.local.state import process_id, wait_for_end

LISTEN = """
import socket, sys, time
print("about to listen", flush=True)
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    time.sleep(60)
"""
# A caller that never stops what it started, unless Ctrl-C makes it.
CALLER = """
import signal, sys, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have them ignore it
from tests.unit.local.test_process import Listener
process = Listener(Path(sys.argv[1]), int(sys.argv[2]))
process.start()
print(process.pid, flush=True)
try:
    time.sleep(60)
finally:
    process.stop()
"""


class Listener(Process):
    """A process that is healthy as soon as it listens."""

    name = "listener"
    timeout_s = 20.0
    grace_s = 5.0

    def __init__(self, folder: Path, port: int, program: str = LISTEN) -> None:
        super().__init__(folder, (port,))
        self._port, self._program = port, program

    def command(self) -> list[str]:
        return [sys.executable, "-c", self._program, str(self._port)]

    def healthy(self) -> bool:
        return not is_free(self._port)


def test_it_stops_and_starts_again_on_the_same_port(tmp_path):
    port = free_port()
    process = Listener(tmp_path, port)
    for _ in range(2):
        process.start()
        pid = process.pid
        process.start()  # again: nothing happens
        assert process.pid == pid
        socket.create_connection((LOOPBACK, port), timeout=5).close()
        process.stop()
        process.stop()
        assert process.pid is None
        assert is_free(port)
    assert process.log.read_text() == "about to listen\n" * 2


def test_a_process_that_ends_while_it_starts_shows_the_end_of_its_log(tmp_path):
    process = Listener(tmp_path, free_port(), "print('\\n' * 100 + 'the disk is full')")
    with pytest.raises(StartError, match=r"(?s)ended while it started.*listener\.log.*the disk is full"):
        process.start()
    assert process.pid is None


def test_a_process_that_never_gets_healthy_is_stopped(tmp_path):
    process = Listener(tmp_path, free_port(), "import time; time.sleep(60)")
    process.timeout_s = 0.5
    with pytest.raises(StartError, match="not healthy after 0 s"):
        process.start()
    assert process.pid is None


def test_somebody_else_on_the_port_does_not_pass_for_healthy(tmp_path):
    port = free_port()
    listens = f"another process listens on {LOOPBACK}:{port}"
    with socket.create_server((LOOPBACK, port)), pytest.raises(StartError, match=listens):
        Listener(tmp_path, port).start()


def test_a_wanted_port_is_taken_only_where_it_is_free():
    port = free_port()
    assert free_port(port) == port
    with socket.create_server((LOOPBACK, port)):
        other = free_port(port)
        assert len({free_port() for _ in range(50)}) == 50
    assert other != port
    assert other in PORTS


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_the_caller(tmp_path, number):
    port = free_port()
    with subprocess.Popen(  # noqa: S603  our own script
        [sys.executable, "-c", CALLER, str(tmp_path), str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as caller:
        assert caller.stdout is not None
        supervisor = process_id(int(caller.stdout.readline()))
        caller.send_signal(number)
    assert wait_for_end([supervisor], timeout_s=20)
    assert is_free(port)
