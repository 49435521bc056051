"""Folders on any file system that Flink can read, listed by Flink itself.

Called by `job` where `job.checkpoint_dir` is not on this machine's disks.
"""

from pyflink.java_gateway import get_gateway

from eml.core.errors import EmlError
from eml.flink.client import cause
from eml.starting.state_files import Entry


def list_folder(uri: str) -> list[Entry]:
    """What is in a folder; nothing where there is none."""
    flink = get_gateway().jvm.org.apache.flink.core.fs
    path = flink.Path(uri)
    try:
        system = path.getFileSystem()
        found = system.listStatus(path) if system.exists(path) else None
    except Exception as error:  # noqa: BLE001  py4j has one type for all of Java's
        raise EmlError(
            f"cannot look for checkpoints in {uri} ({cause(error)}): correct job.checkpoint_dir, or name a checkpoint"
            " with --restore"
        ) from None
    return [Entry(one.getPath().getName(), one.getModificationTime() / 1000) for one in found or ()]
