"""One process of the stack: start it, wait until it is healthy, stop it; again and again, on the same ports.

`broker` and `registry` derive from it; `stack` drives it. The Java process is not our child but the child of a
`supervisor`, which stops it when we die in whatever way. Nothing here knows what the process does.
"""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cache
from itertools import cycle, islice
from pathlib import Path

from eml.local import supervisor
from eml.local.errors import LocalError, StartError

LOOPBACK = "127.0.0.1"
# Below the ports that systems give to outgoing connections (Linux: from 32768): while a process is stopped, no
# client's connection can take its port.
PORTS = range(20_000, 32_000)
LOG_LINES = 25  # of the log's end, in an error


def is_free(port: int) -> bool:
    """Whether nobody listens on this port of the loopback interface."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Java does: closed connections do not matter
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


@cache
def _candidates() -> Iterator[int]:
    """Ports in random order (not of the seeded generator: two test runs at once would agree), none twice."""
    return cycle(random.SystemRandom().sample(PORTS, len(PORTS)))


def free_port(wanted: int | None = None) -> int:
    """The wanted port if it is free, else any free one that was not handed out before."""
    if wanted is not None and is_free(wanted):
        return wanted
    for port in islice(_candidates(), len(PORTS)):
        if is_free(port):
            return port
    raise LocalError(f"No free port between {PORTS.start} and {PORTS.stop} on {LOOPBACK}; close some servers.")


def log_end(log: Path) -> str:
    """A log's last lines, under its path."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    return "\n".join([f"The end of {log}:", *text.splitlines()[-LOG_LINES:]])


class Process(ABC):
    """A Java process with a log file, on ports that are chosen once.

    `scratch` is a folder that nobody needs any more if the caller dies.
    """

    name: str
    timeout_s: float  # to become healthy
    grace_s: float  # from SIGTERM to SIGKILL

    def __init__(self, folder: Path, ports: tuple[int, ...], scratch: Path | None = None) -> None:
        self.folder = folder.absolute()
        self.log = self.folder / f"{self.name}.log"
        self._ports = ports
        self._scratch = scratch
        self._supervisor: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> list[str]:
        """Prepare the folder and return what to run."""

    @abstractmethod
    def healthy(self) -> bool:
        """Whether it answers as it should; known within a few seconds."""

    @property
    def pid(self) -> int | None:
        """The supervisor's process id, which is also the process group of the Java process; None when stopped."""
        return None if self._supervisor is None else self._supervisor.pid

    def start(self) -> None:
        """Start and wait until healthy; nothing happens where it runs already."""
        if self._supervisor is not None and self._supervisor.poll() is None:
            return
        self.stop()
        for port in self._ports:
            if not is_free(port):  # whoever is there might pass for healthy
                raise StartError(f"The {self.name} cannot start: another process listens on {LOOPBACK}:{port}.")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._supervisor = self._run(self.command())
        try:
            self._wait(self._supervisor)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop and wait for the end; nothing happens where it is stopped."""
        running, self._supervisor = self._supervisor, None
        if running is None:
            return
        try:
            running.communicate(b"stop\n", timeout=self.grace_s + 5)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        scratch = [] if self._scratch is None else ["--scratch", str(self._scratch)]
        # Isolated: it starts fast, and no module in the current folder gets between.
        program = [sys.executable, "-I", "-S", supervisor.__file__, "--grace", str(self.grace_s), *scratch, *command]
        with self.log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603  our own command
                program,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the caller, who then stops us in order
            )

    def _wait(self, running: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + self.timeout_s
        while True:
            healthy = self.healthy()
            if running.poll() is not None:
                raise StartError(f"The {self.name} ended while it started.\n{log_end(self.log)}")
            if healthy:
                return
            if time.monotonic() > end:
                raise StartError(f"The {self.name} was not healthy after {self.timeout_s:.0f} s.\n{log_end(self.log)}")
            time.sleep(0.1)
