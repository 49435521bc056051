"""Other people's learners, run in an environment of their own: our side.

Called by `trial`: it writes the stream, starts `peer` under the peers' Python, and reads the answers. Which libraries
there are is for `peer` to know; their numpy and ours exclude each other.
"""

import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from eml.evaluate.errors import EvaluationError
from eml.evaluate.prequential import parcel, peer
from eml.evaluate.prequential.course import Codes, Course

VARIABLE = "EML_PEERS_PYTHON"
DEFAULT_PYTHON = Path(".venv-peers/bin/python")
LAST_WORDS = 2000  # characters of a failed peer's messages that are shown
_VERSIONS = """
import sys
from importlib import metadata
for name in sys.argv[1:]:
    print(name, metadata.version(name))
"""


def python() -> Path:
    """Return the peers' Python, or say how to get one."""
    named = os.environ.get(VARIABLE)
    path = Path(named) if named else DEFAULT_PYTHON
    if not path.is_file():
        where = f"{VARIABLE} is {path}" if named else f"there is no {path} in this folder"
        raise EvaluationError(
            f"peers run in an environment of their own, and {where}: make it with `make .venv-peers/.ready`, "
            f"set {VARIABLE} to its Python, or leave the peers out of --methods"
        )
    return path.absolute()  # not resolved: an environment's Python is a link, and found by its place


def installed(name: str) -> tuple[str, ...]:
    """The packages that the figures of the peer `name` depend on, and their versions there."""
    return _versions(peer.packages(name))


@cache
def _versions(packages: tuple[str, ...]) -> tuple[str, ...]:
    command = [str(python()), "-c", _VERSIONS, *packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (our own script)
    if done.returncode:
        raise EvaluationError(f"the peers' environment does not answer:\n{done.stderr[-LAST_WORDS:]}")
    return tuple(done.stdout.splitlines())


def answers(course: Course, name: str, seed: int, memory: int) -> tuple[list[Codes], float]:
    """Return a peer's answers stage by stage, and the CPU seconds it took."""
    with tempfile.TemporaryDirectory(prefix="eml-peer-") as folder:
        stream, told = Path(folder, "stream.npz"), Path(folder, "answers.npz")
        parcel.write_course(stream, course)
        module = "eml.evaluate.prequential.peer"
        command = [str(python()), "-m", module, name, str(seed), str(memory), str(stream), str(told)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (our own module)
        if done.returncode or not told.is_file():
            raise EvaluationError(f"the peer {name} failed ({done.returncode}):\n{done.stderr[-LAST_WORDS:]}")
        return parcel.read_answers(told)
