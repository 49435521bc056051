"""Types what a page tells people to type: its files, its commands, its terminals, from top to bottom.

Called by `test_tutorial` and `test_first_page`. A block whose title has a dot is a file to write. A `sh` block is typed
into the first terminal, or, where its title names another one, there, where it goes on running; what ran there before
gets Ctrl-C. A `text` block is what people should see then: each of its lines, in this order, with any number where it
has a number and anything where it has three dots. Knows nothing of EML but where it keeps its state.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from eml.local.cache import cache_folder
from tests.unit.docs.blocks import Block

COMMAND_S = 90.0
STOP_S = 60.0
SEEN_S = 90.0  # until a command or another terminal says what it should
LOOKS = ("eml tail", "eml status", "eml dead-letters list")  # may be typed again until something has come
NUMBER = r"[-\d.,:]*\d"
GAP = re.compile(rf"(\.\.\.|{NUMBER}|\s+)")


class Walk:
    """One reader in one folder, with a stack, state and logs of its own; the jars are those of all tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "walk"
        self.took: list[tuple[float, str]] = []
        self._environ = _environment(folder)
        self._terminals: dict[str, subprocess.Popen[bytes]] = {}
        self.folder.mkdir()

    def read(self, page: Iterable[Block]) -> None:
        """Do what all blocks say."""
        blocks = [*page]
        for block, after in zip(blocks, [*blocks[1:], None], strict=True):
            begun = time.monotonic()
            self._do(block, after.text if after is not None and after.language == "text" else "")
            self.took.append((time.monotonic() - begun, f"{block}: {block.text.splitlines()[0]}"))

    def _do(self, block: Block, wanted: str) -> None:
        if "." in block.title:
            (self.folder / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "sh" and block.title:
            self.start(block.title, block.text.splitlines(), wanted)
        elif block.language == "sh":
            self._type(block.text, wanted)

    def _type(self, text: str, wanted: str) -> None:
        looks, end = all(line.startswith(LOOKS) for line in text.splitlines()), time.monotonic() + SEEN_S
        while True:
            status, seen = self._ended(text)
            missing = unseen(wanted, seen)
            if status == 0 and not missing:
                return
            assert looks, f"{text}\nended with {status}, did not say {missing!r}:\n{seen}"
            assert time.monotonic() < end, f"{text}\nended with {status}, did not say {missing!r}:\n{seen}"
            time.sleep(1)

    def run(self, text: str) -> str:
        """Type commands and wait for their end; what they print."""
        status, seen = self._ended(text)
        assert status == 0, f"{text}\nended with {status}:\n{seen}"
        return seen

    def _ended(self, text: str) -> tuple[int, str]:
        done = subprocess.run(  # noqa: S603  our own page
            ["bash", "-ec", text],  # noqa: S607
            cwd=self.folder,
            env=self._environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        with self._screen("first terminal").open("a", encoding="utf-8") as screen:
            screen.write(f"$ {text.strip()}\n{done.stdout}")
        return done.returncode, done.stdout

    def wait_for(self, command: str, lines: int) -> list[str]:
        """Type a command until it prints so many lines."""
        end = time.monotonic() + SEEN_S
        while len(found := self.run(command).splitlines()) < lines:
            assert time.monotonic() < end, f"{command}\nprinted {len(found)} lines of {lines}"
            time.sleep(1)
        return found

    # -- other terminals -----------------------------------------------------------------------------------------------

    def start(self, terminal: str, lines: list[str], wanted: str) -> None:
        """Type commands, the last of which goes on running, and wait until it says what it should."""
        self.stop(terminal)
        typed = "\n".join(["set -e", *lines[:-1], f"exec {lines[-1]}"])  # so that Ctrl-C finds the program
        with self._screen(terminal).open("wb") as screen:
            self._terminals[terminal] = subprocess.Popen(  # noqa: S603
                ["bash", "-c", typed],  # noqa: S607
                cwd=self.folder,
                env=self._environ,
                stdout=screen,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        end = time.monotonic() + SEEN_S
        while missing := unseen(wanted, seen := self.screen(terminal)):
            assert self._terminals[terminal].poll() is None, f"{typed}\nended:\n{seen}"
            assert time.monotonic() < end, f"{typed}\ndid not say {missing!r}:\n{seen}"
            time.sleep(0.2)

    def screen(self, terminal: str) -> str:
        """What is on it."""
        return self._screen(terminal).read_text(encoding="utf-8", errors="replace")

    def _screen(self, terminal: str) -> Path:
        return self.folder.parent / f"{terminal}.txt"

    def stop(self, terminal: str) -> None:
        """Press Ctrl-C and wait for the end of what runs there."""
        program = self._terminals.pop(terminal, None)
        if program is None:
            return
        program.send_signal(signal.SIGINT)
        try:
            program.wait(STOP_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)

    def leave(self) -> None:
        """Stop all that runs."""
        for terminal in list(self._terminals):
            self.stop(terminal)
        self.run("eml local down")


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of this machine's other stacks, and no setting from the environment."""
    for name in ("cache", "scratch"):
        (folder / name).mkdir()
    (folder / "cache/jars").symlink_to(cache_folder() / "jars")
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("EML_")},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "EML_CACHE": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder / "state"),
        "TMPDIR": str(folder / "scratch"),
        "JVM_ARGS": f"-Djava.io.tmpdir={folder / 'scratch'}",
    }


def unseen(wanted: str, seen: str) -> str:
    """The first line that should be there and is not, or nothing."""
    at = 0
    for line in filter(None, (line.strip() for line in wanted.splitlines())):
        found = re.compile("".join(map(_pattern, GAP.split(line)))).search(seen, at)
        if found is None:
            return line
        at = found.end()
    return ""


def _pattern(part: str) -> str:
    if part == "...":
        return r"[^\n]*"
    if re.fullmatch(NUMBER, part):
        return NUMBER
    return r"[^\S\n]+" if part.isspace() else re.escape(part)
