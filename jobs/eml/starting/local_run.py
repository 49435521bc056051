"""A run on this machine alone: `python -m eml.job` with Flink's mini cluster in a Java process of our own.

Called by `eml.job` and `eml.flink.environment`. Says whether a run is one, which folders it uses, which options keep
Flink on the loopback interface, and holds the lock that a second start of the same job runs into. Under `flink run`
nothing of this applies: there the cluster's configuration says where it listens and logs.
"""

import fcntl
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from eml.core.errors import EmlError
from eml.local.local_runs import state_folder
from eml.local.process import LOOPBACK, free_port
from eml.settings import JobSettings

PAGE_PORT = 8081  # Flink's own, where it is free
METRICS_AGE = "3000"  # milliseconds; by Flink's default they would be as old as the console's heartbeat is long
KEPT_LOGS = 20
LOG = re.compile(r"flink-eml-\d{8}-\d{6}-(\d+)-python-.*\.log")  # as `log_environment` has Flink name it


def is_local(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the Java process will be ours; `flink run` starts Python from its own and leaves this variable."""
    return "PYFLINK_GATEWAY_PORT" not in environ


def loopback_options(extra: Mapping[str, str]) -> dict[str, str]:
    """Options that keep every port Flink can be told about to this machine, and its page from taking commands.

    `extra` are the user's own: no second port is chosen where they name one.
    """
    port = extra.get("rest.bind-port") or extra.get("rest.port") or str(free_port(PAGE_PORT))
    return {
        "rest.address": LOOPBACK,
        "rest.bind-address": LOOPBACK,
        "rest.port": port,
        "rest.bind-port": port,
        "web.submit.enable": "false",  # whoever reaches the page could run any code with it
        "web.cancel.enable": "false",
        "jobmanager.rpc.address": LOOPBACK,
        "jobmanager.bind-host": LOOPBACK,
        "taskmanager.host": LOOPBACK,
        "taskmanager.bind-host": LOOPBACK,
        "metrics.fetcher.update-interval": METRICS_AGE,
    }


def checkpoint_dir(job: JobSettings) -> str:
    """`job.checkpoint_dir`, or the default of local runs: without a folder nothing could be restored."""
    return job.checkpoint_dir or (state_folder() / "checkpoints").as_uri()


def log_environment(job: JobSettings, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Variables that give this start a log file of its own; Flink reads them when its Java process starts."""
    folder = Path(job.log_dir or environ.get("FLINK_LOG_DIR") or state_folder() / "logs").absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EmlError(f"cannot make the log folder {folder} ({error.strerror}): set job.log_dir") from None
    remove_old_logs(folder)
    started = time.strftime("%Y%m%d-%H%M%S")
    return {"FLINK_LOG_DIR": str(folder), "FLINK_IDENT_STRING": f"eml-{started}-{os.getpid()}"}


def log_file(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The log of this start, once Flink has opened it."""
    pattern = f"flink-{environ.get('FLINK_IDENT_STRING')}-python-*.log"
    return next(Path(environ.get("FLINK_LOG_DIR", ".")).glob(pattern), None)


def remove_old_logs(folder: Path, kept: int = KEPT_LOGS) -> None:
    """Keep the newest logs of starts, and those of processes that still run."""
    logs = [path for path in folder.iterdir() if LOG.fullmatch(path.name)]
    for path in sorted(logs, key=_modified_s, reverse=True)[kept - 1 :]:
        match = LOG.fullmatch(path.name)
        if match and not Path(f"/proc/{match[1]}").exists():
            path.unlink(missing_ok=True)


def _modified_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another start has removed it
        return 0.0


def lock(folder: Path) -> IO[str]:
    """Take the lock of a job's state folder until the returned file is closed or this process ends, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "lock").open("a+")
    except OSError as error:
        raise EmlError(f"cannot write to {folder} ({error.strerror}): set job.checkpoint_dir") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise EmlError(
            f"this job is running already (process {holder}, its state is in {folder}): stop that one first, or"
            " give this one a job.name, kafka.group_id, kafka.transactional_id_prefix and topics of its own"
        ) from None
    file.seek(0)
    file.truncate()
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file
