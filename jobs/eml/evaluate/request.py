"""What every scenario of `eml evaluate` does with a request: say what is wrong with it, and write its result.

Called by the scenarios' sessions; knows no scenario.
"""

import argparse
from pathlib import Path
from typing import Any

from eml.evaluate.errors import EvaluationError

NOT_FIGURES = ("run", "debug", "jobs", "json", "keep")  # options that change no figure


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
    return {name: value for name, value in vars(arguments).items() if name not in NOT_FIGURES}
