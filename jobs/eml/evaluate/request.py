"""What every scenario of `eml evaluate` does with a request: say what is wrong with it, and write its result.

Called by the scenarios' sessions; knows no scenario.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eml.evaluate.errors import EvaluationError

_INTERRUPTED = 130  # what shells return for it


def answer(work: Callable[[argparse.Namespace], None], arguments: argparse.Namespace) -> int:
    """Do the work; 0, or 2 with a message where it cannot be done as asked, or 130 where it was interrupted."""
    try:
        work(arguments)
    except EvaluationError as error:
        sys.stderr.write(f"eml evaluate: {error}\n")
        return 2
    except KeyboardInterrupt as stop:  # says what is kept, where something is
        sys.stderr.write(f"eml evaluate: interrupted; {str(stop) or 'nothing was written'}\n")
        return _INTERRUPTED
    return 0


def target(option: str, name: str | None) -> Path | None:
    """Return where to write; refused now rather than after the work."""
    if name is None:
        return None
    path = Path(name)
    if path.is_dir() or not path.parent.is_dir():
        raise EvaluationError(f"--{option} {name}: cannot be written; its folder must exist, and it must not be one")
    return path


def plain(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the request as JSON can hold it, without what does not change the figures."""
    return {name: value for name, value in vars(arguments).items() if name not in ("run", "jobs", "json", "keep")}
