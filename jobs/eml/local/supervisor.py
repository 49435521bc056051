"""The parent of one Java process, there so that the process never outlives who asked for it.

Run by `process.Process` as a program of its own, `supervisor.py [--grace SECONDS] [--scratch FOLDER] COMMAND...`,
with a pipe as its standard input. It starts the command and waits for the first of: a line on the pipe (stop), the end
of the pipe (the caller died, even by kill -9), SIGTERM, or the end of the command. It knows nothing of Kafka or the
registry.

Only the standard library here: it starts once per process and must be quick and small.
"""

import argparse
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

CALLER_POLL_S = 1.0  # how soon the caller's death is seen where a fork of it keeps the pipe open
PR_SET_PDEATHSIG = 1  # of Linux' prctl


def main() -> int:
    """Run the command until something ends it; return its exit status."""
    parser = argparse.ArgumentParser(prog="supervisor.py")
    parser.add_argument("--grace", type=float, default=15.0, help="seconds from SIGTERM to SIGKILL")
    parser.add_argument("--scratch", type=Path, help="folder to remove if the caller dies")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    caller = os.getppid()
    signals = _signals()
    child = subprocess.Popen(  # noqa: S603  the caller's command
        arguments.command,
        stdin=subprocess.DEVNULL,
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509  there is one thread only
    )
    orphaned = _watch(child, caller, signals)
    _stop(child, arguments.grace)
    if orphaned and arguments.scratch:
        shutil.rmtree(arguments.scratch, ignore_errors=True)
    return child.returncode


def _signals() -> int:
    """Have signals arrive as bytes in a pipe: nothing is ever interrupted, and none is missed."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, _ignore)  # a handler of Python's: only then the byte is written
    return reader


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """`_watch` reads the signal from the pipe."""


def _die_with_parent() -> None:
    """Have the kernel kill the command if this process is itself killed by kill -9."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _watch(child: subprocess.Popen[bytes], caller: int, signals: int) -> bool:
    """Wait for a reason to stop; return whether it is the caller's death."""
    pipe = sys.stdin.fileno()
    while child.poll() is None:
        ready = select.select([pipe, signals], [], [], CALLER_POLL_S)[0]
        if pipe in ready:
            return not os.read(pipe, 1)
        if signals in ready and set(os.read(signals, 64)) != {signal.SIGCHLD}:
            return False
        if os.getppid() != caller:
            return True
    return False


def _stop(child: subprocess.Popen[bytes], grace_s: float) -> None:
    """SIGTERM, and SIGKILL when that does not help."""
    child.terminate()
    try:
        child.wait(grace_s)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


if __name__ == "__main__":
    sys.exit(main())
