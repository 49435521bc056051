"""The Python that runs the Quix Streams peer, which wants an older confluent-kafka than `eml local` is pinned to.

Asked by `running`, before minutes are spent, and by `pipelines`. Looks where `eml evaluate` looks for its peers.
"""

import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from eml.evaluate.prequential.peers import DEFAULT_PYTHON, VARIABLE
from eml.local.errors import ToolMissingError

PACKAGE = "quixstreams"
_HAS_IT = f"import sys; from importlib.util import find_spec; sys.exit(find_spec('{PACKAGE}') is None)"


def quix_python() -> Path:
    """The Python that EML_PEERS_PYTHON names, else this one, else that of the peers' environment in this folder."""
    named = os.environ.get(VARIABLE)
    if not named and find_spec(PACKAGE) is not None:
        return Path(sys.executable)
    path = Path(named) if named else DEFAULT_PYTHON
    if not path.is_file():
        raise _missing(f"{VARIABLE} is {path}" if named else f"there is no {path} in this folder")
    if not _has_it(path.absolute()):
        raise _missing(f"{path} has no {PACKAGE}")
    return path.absolute()  # not resolved: an environment's Python is a link, and found by its place


@cache
def _has_it(python: Path) -> bool:
    return subprocess.run([python, "-c", _HAS_IT], check=False).returncode == 0  # noqa: S603  a line of ours


def _missing(why: str) -> ToolMissingError:
    return ToolMissingError(
        f"The peer quix needs Quix Streams, and {why}: make the peers' environment with `make .venv-peers/.ready`, or"
        f" install 'eml[quix]' elsewhere and set {VARIABLE} to that Python, or leave quix out of --peers."
    )
