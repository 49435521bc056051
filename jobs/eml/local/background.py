"""A stack that stays when its caller leaves: `up`, `down` and `health` for `eml local`.

`up` starts this module as a process of its own, the keeper, which holds a `Stack` until it gets SIGTERM and writes its
state into the folder. Whatever kills the keeper ends the stack, too. Calls `stack`, `jars` and `state`; prints nothing.
"""

import fcntl
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

from eml.local import broker, registry, state
from eml.local.cache import cache_folder
from eml.local.errors import LocalError, StartError
from eml.local.process import free_port, log_end
from eml.local.stack import Stack, check_given

# The usual ports where they are free: addresses in a shell's environment stay right over a restart.
BROKER_PORT, REGISTRY_PORT = 9092, 8081
UP_TIMEOUT_S = 300.0  # more than the parts take until they give up themselves
DOWN_TIMEOUT_S = 60.0


def default_folder() -> Path:
    """Where the stack of `eml local up` is kept."""
    return cache_folder() / "stack"


def find(folder: Path) -> state.State | None:
    """The stack that runs in the background in this folder."""
    known = state.read(folder)
    return known if known and known.keeper.alive() else None


def health(known: state.State) -> dict[str, bool]:
    """Whether each part of it answers."""
    return {
        "broker": broker.answers(known.bootstrap_servers),
        "registry": registry.answers(known.registry_url),
    }


def up(folder: Path, bootstrap_servers: str | None = None, registry_url: str | None = None) -> state.State:
    """Start a keeper and wait until its stack is healthy."""
    check_given(bootstrap_servers, registry_url)
    folder.mkdir(parents=True, exist_ok=True)
    before = state.read(folder)
    if before:  # of a keeper that was killed: its processes are about to end, and still use the folder
        state.wait_for_end(before.supervisors, DOWN_TIMEOUT_S)
    log = folder / "keeper.log"
    keeper = _spawn([str(folder), bootstrap_servers or "", registry_url or ""], log)
    try:
        return _wait_for(keeper, folder, log)
    except BaseException:
        _end(keeper)
        raise


def down(folder: Path) -> bool:
    """Stop the stack of this folder; return whether there was one."""
    known = state.read(folder)
    if known is None:
        return False
    processes = (known.keeper, *known.supervisors)
    ran = any(process.alive() for process in processes)
    known.keeper.send(signal.SIGTERM)
    if not state.wait_for_end(processes, DOWN_TIMEOUT_S):
        known.keeper.send(signal.SIGKILL)
        for supervisor in known.supervisors:
            supervisor.send(signal.SIGKILL, group=True)
        if not state.wait_for_end(processes, DOWN_TIMEOUT_S):
            raise LocalError(f"A process of the stack does not end; see {folder / state.FILE} for the process ids.")
    (folder / state.FILE).unlink(missing_ok=True)
    return ran


def _spawn(arguments: list[str], log: Path) -> state.ProcessId:
    """Start a keeper; without `subprocess`, which is made for children that end before their parent."""
    program = [sys.executable, "-m", "eml.local.background", *arguments]
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return state.process_id(os.posix_spawn(sys.executable, program, os.environ, file_actions=files))


def _wait_for(keeper: state.ProcessId, folder: Path, log: Path) -> state.State:
    end = time.monotonic() + UP_TIMEOUT_S
    while time.monotonic() < end:
        known = find(folder)
        if known and known.keeper == keeper:
            return known
        if not keeper.alive():
            raise StartError(log.read_text(encoding="utf-8", errors="replace").strip() or "The stack did not start.")
        time.sleep(0.1)
    raise StartError(f"The stack was not up after {UP_TIMEOUT_S:.0f} s.\n{log_end(log)}")


def _end(keeper: state.ProcessId) -> None:
    """Do not leave half a stack behind; killing the keeper is safe, its supervisors notice."""
    keeper.send(signal.SIGTERM)
    if not state.wait_for_end([keeper], DOWN_TIMEOUT_S):
        keeper.send(signal.SIGKILL)


def keep(folder: Path, bootstrap_servers: str | None, registry_url: str | None) -> None:
    """Hold a stack until SIGTERM."""
    with (folder / "keeper.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LocalError(
                f"Another `eml local up` is at work in {folder}. Wait for it, or take --folder."
            ) from error
        stack = Stack(
            folder,
            bootstrap_servers,
            registry_url,
            broker_port=free_port(BROKER_PORT),
            registry_port=free_port(REGISTRY_PORT),
        )
        try:
            stack.start()
            state.write(folder, _state(stack))
            while True:
                time.sleep(1)  # `signal.pause` would miss a signal that comes just before it
        finally:
            stack.stop()


def _state(stack: Stack) -> state.State:
    return state.State(
        bootstrap_servers=stack.bootstrap_servers,
        registry_url=stack.registry_url,
        logs=tuple(str(process.log) for process in stack.processes),
        keeper=state.process_id(os.getpid()),
        supervisors=tuple(state.process_id(process.pid) for process in stack.processes if process.pid),
    )


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    """Unwind, so that `keep` stops the stack."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    raise SystemExit(0)


def main() -> int:
    """The keeper's process: folder, broker address or nothing, registry URL or nothing."""
    os.setsid()  # it stays when the terminal closes
    signal.signal(signal.SIGTERM, _leave)
    folder, bootstrap_servers, registry_url = sys.argv[1:]
    try:
        keep(Path(folder), bootstrap_servers or None, registry_url or None)
    except LocalError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
