"""What is known of a stack in the background: its addresses and processes, in a file in its folder.

Written and read by `background`. A process id alone proves nothing, the system gives it to another process later; with
the time of its start it names one process.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from eml.local.errors import LocalError

FILE = "state.json"


@dataclass(frozen=True, slots=True)
class ProcessId:
    """One process of this machine, also after its number was given to another."""

    pid: int
    started: str

    def alive(self) -> bool:
        """Whether this very process still runs."""
        return self.started != "" and started(self.pid) == self.started

    def send(self, number: signal.Signals, *, group: bool = False) -> None:
        """Send a signal to it, or to its whole process group; nothing happens where it is gone."""
        if self.alive():
            with suppress(ProcessLookupError):
                (os.killpg if group else os.kill)(self.pid, number)


def process_id(pid: int) -> ProcessId:
    """Name a process that runs."""
    return ProcessId(pid, started(pid))


def started(pid: int) -> str:
    """When a process started, in the system's own form; empty for one that is gone or a zombie."""
    stat = Path(f"/proc/{pid}/stat")
    if not Path("/proc/self/stat").is_file():  # no Linux
        found = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S603, S607
        return found.stdout.strip()
    try:
        fields = stat.read_text().rpartition(")")[2].split()  # the name before it may hold blanks
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]


def wait_for_end(processes: Iterable[ProcessId], timeout_s: float) -> bool:
    """Wait until all are gone; return whether they are."""
    end = time.monotonic() + timeout_s
    waiting = list(processes)
    while waiting := [process for process in waiting if process.alive()]:
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


@dataclass(frozen=True, slots=True)
class State:
    """A stack in the background."""

    bootstrap_servers: str
    registry_url: str
    logs: tuple[str, ...]
    keeper: ProcessId  # the process that keeps the stack
    supervisors: tuple[ProcessId, ...]  # each leads the process group of one Java process


def write(folder: Path, state: State) -> None:
    """Keep the state; who reads meanwhile sees the old file or the new one, never half of it."""
    partial = folder / f"{FILE}.{os.getpid()}"
    partial.write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")
    partial.replace(folder / FILE)


def read(folder: Path) -> State | None:
    """The state of the stack in this folder; None where none was left."""
    path = folder / FILE
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        fields["logs"] = tuple(fields["logs"])
        fields["keeper"] = ProcessId(**fields["keeper"])
        fields["supervisors"] = tuple(ProcessId(**each) for each in fields["supervisors"])
        return State(**fields)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise LocalError(
            f"{path} is damaged ({error}). Remove it; processes that still run must be ended by hand."
        ) from error
