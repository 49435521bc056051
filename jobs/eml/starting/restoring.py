"""Which state a start begins with, or why it must not begin.

Called by `eml.job` with what was found on disk and in Kafka. Going on is the default; a job that has run before begins
anew only where it is told to, because it would read the same records and write every prediction a second time.
"""

from dataclasses import dataclass

from eml.core.errors import EmlError
from eml.starting.state_files import Found, StateFolders

AUTO, LATEST = "auto", "latest"


class RestoreError(EmlError):
    """There is no state to go on from; the message says what was looked at and what to do."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for."""

    restore: str = AUTO  # or LATEST, or a path
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """What the job begins with, and a sentence for the console."""

    path: str | None
    message: str


def choose(request: Request, folders: StateFolders | None, found: Found | None, committed: str | None) -> Start:
    """Where to start from. `committed` describes the offsets the job has committed before; None: there are none."""
    if request.fresh:
        return Start(None, _fresh(found, committed))
    if request.restore not in {AUTO, LATEST}:
        return Start(request.restore, f"going on from {request.restore}")
    if found:
        return Start(found.path, f"going on from {found.kind} {found.path}")
    looked = _looked(folders)
    if committed:
        raise RestoreError(
            f"this job has run before ({committed}), but there is no state to go on from: {looked}."
            " Beginning anew would write every prediction a second time. Name its checkpoint or savepoint with"
            " --restore PATH, or ask for a start without its models with --fresh"
        )
    if request.restore == LATEST:
        raise RestoreError(f"--restore latest: {looked}. Name a path, or start without --restore")
    return Start(None, f"first start: {looked}")


def _looked(folders: StateFolders | None) -> str:
    if folders is None:
        return "job.checkpoint_dir is not set, so no folder was looked at"
    return f"no finished checkpoint in {folders.checkpoints}, no savepoint in {folders.savepoints}"


def _fresh(found: Found | None, committed: str | None) -> str:
    ignored = [f"{found.kind} {found.path}"] if found else []
    ignored += [f"the job's earlier run ({committed})"] if committed else []
    return "fresh start" + (f": ignoring {' and '.join(ignored)}" if ignored else "")
