"""Which jobs run on this machine alone, and where each has its Flink page: a small file per job's name.

Written by `eml.flink.start` when a local run begins, read by `eml status`. A file whose process is gone counts as none.
"""

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from eml.local.state import ProcessId, process_id


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where local runs keep state and logs by default: `eml` in XDG_STATE_HOME, else in `~/.local/state`."""
    shared = environ.get("XDG_STATE_HOME")
    return ((Path(shared) if shared else Path.home() / ".local/state") / "eml").absolute()


@dataclass(frozen=True, slots=True)
class LocalRun:
    """A job that runs on this machine."""

    name: str
    page: str  # of Flink
    log: str
    state: str  # the URI of its checkpoints
    process: ProcessId


def note(name: str, page: str, log: str, state: str) -> None:
    """Have this process found as the run of a job; a folder that cannot be written to is no reason to stop."""
    run = LocalRun(name, page, log, state, process_id(os.getpid()))
    with suppress(OSError):
        file = _file(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(run)) + "\n", encoding="utf-8")


def find(name: str) -> LocalRun | None:
    """The run of a job, while its process lives."""
    try:
        fields = json.loads(_file(name).read_text(encoding="utf-8"))
        run = LocalRun(**{**fields, "process": ProcessId(**fields["process"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return run if run.process.alive() else None


def _file(name: str) -> Path:
    return state_folder() / "runs" / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', name)}.json"
