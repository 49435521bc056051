"""Where a job's checkpoints and savepoints are, and which finished one is the newest.

Called by `eml.job` and `eml.flink.other_run`. Every job has a folder of its own below `job.checkpoint_dir`, named after
what its state belongs to, so the newest state in it is never another job's. Folders are listed by a function the caller
gives: `list_folder` for this machine's disks, `eml.flink.files` for everything else Flink can read.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlparse
from urllib.request import url2pathname

from eml.settings import Settings

UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
METADATA = "_metadata"  # Flink writes it last: a checkpoint or savepoint without it was never finished


@dataclass(frozen=True, slots=True)
class JobIdentity:
    """What a job's state belongs to: with another value here it would be another job's.

    The topic's id is Kafka's own: a topic deleted and created again is another one, and offsets kept for the first mean
    nothing in the second.
    """

    name: str
    group_id: str
    transactional_id_prefix: str
    readings_topic: str
    topic_id: str

    @classmethod
    def of(cls, settings: Settings, topic_id: str) -> "JobIdentity":
        """The identity of the job with these settings."""
        kafka = settings.kafka
        return cls(settings.job.name, kafka.group_id, kafka.transactional_id_prefix, kafka.readings_topic, topic_id)

    @property
    def folder(self) -> str:
        """The name of its folder: readable, and different for every identity."""
        digest = hashlib.sha256("\0".join(astuple(self)).encode()).hexdigest()
        return f"{UNSAFE.sub('_', self.name)[:64]}-{digest[:12]}"


@dataclass(frozen=True, slots=True)
class StateFolders:
    """Where a job's checkpoints and savepoints are written, as URIs."""

    checkpoints: str
    savepoints: str

    @classmethod
    def of(cls, identity: JobIdentity, checkpoint_dir: str, savepoint_dir: str) -> "StateFolders":
        """The job's own folders below those of the settings; savepoints beside the checkpoints by default."""
        own = f"{_uri(checkpoint_dir)}/{identity.folder}"
        return cls(own, f"{_uri(savepoint_dir)}/{identity.folder}" if savepoint_dir else f"{own}/savepoints")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder in a listed folder."""

    name: str
    modified_s: float


Listing = Callable[[str], Iterable[Entry]]  # of a folder by its URI; nothing where there is none


@dataclass(frozen=True, slots=True)
class Found:
    """A finished checkpoint or savepoint."""

    kind: Literal["checkpoint", "savepoint"]
    path: str
    written_s: float


def newest(folders: StateFolders, listing: Listing) -> Found | None:
    """The newest finished checkpoint or savepoint of a job."""
    runs = (f"{folders.checkpoints}/{run.name}" for run in listing(folders.checkpoints) if run.name != "savepoints")
    found = [
        *(one for run in runs for one in _finished("checkpoint", run, "chk-", listing)),
        *_finished("savepoint", folders.savepoints, "savepoint-", listing),
    ]
    return max(found, key=lambda one: one.written_s, default=None)


def newest_checkpoint(folders: StateFolders, listing: Listing) -> Found | None:
    """The newest finished checkpoint alone: a running job adds one with every interval, also when it is idle."""
    return newest(StateFolders(folders.checkpoints, ""), lambda folder: listing(folder) if folder else ())


def _finished(kind: Literal["checkpoint", "savepoint"], folder: str, prefix: str, listing: Listing) -> Iterable[Found]:
    for one in listing(folder):
        if one.name.startswith(prefix):
            path = f"{folder}/{one.name}"
            for file in listing(path):
                if file.name == METADATA:
                    yield Found(kind, path, file.modified_s)


def list_folder(uri: str) -> list[Entry]:
    """A folder of this machine."""
    try:
        return [Entry(path.name, path.stat().st_mtime) for path in local_path(uri).iterdir()]
    except (FileNotFoundError, NotADirectoryError):  # also: removed by Flink while we look
        return []


def local_path(uri: str) -> Path:
    """The path of a file:// URI."""
    return Path(url2pathname(urlparse(uri).path))


def is_local(uri: str) -> bool:
    """Whether a URI names a place on this machine's disks."""
    return urlparse(uri).scheme in {"", "file"}


def _uri(folder: str) -> str:
    """A folder of the settings as a URI without a slash at its end."""
    return (Path(folder).absolute().as_uri() if not urlparse(folder).scheme else folder).rstrip("/")
