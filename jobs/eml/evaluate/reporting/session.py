"""One `eml evaluate report` from a folder to files.

Called by `command`; reads the folder, and has the document made and written.
"""

import argparse
import sys
from pathlib import Path

from eml.evaluate import request
from eml.evaluate.errors import EvaluationError
from eml.evaluate.kept_trials.store import Store
from eml.evaluate.reporting import contents, markdown, page


def run(arguments: argparse.Namespace) -> None:
    """Report as asked."""
    targets = {name: request.target(name, getattr(arguments, name)) for name in ("html", "markdown")}
    folder = Path(arguments.keep)
    if not folder.is_dir():
        raise EvaluationError(f"--keep {folder}: there is no such folder")
    reading = Store(folder).read_all()
    if not reading.lines:
        raise EvaluationError(f"--keep {folder}: no trial is kept there; run a scenario with --keep {folder} first")
    blocks = contents.document(reading)
    if targets["html"]:
        targets["html"].write_text(page.write(blocks), encoding="utf-8")
    if targets["markdown"]:
        targets["markdown"].write_text(markdown.write(blocks), encoding="utf-8")
    if not any(targets.values()):
        sys.stdout.write(markdown.write(blocks))
