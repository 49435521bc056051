"""What a start begins with: the job's folders, the state it goes on from, and whether another run of it is live.

Called by `job` between the checks of Kafka and the building of the graph. What Flink was given on its own command line
(`flink run -s`) or by an operator is left as it is, and so is an application whose cluster recovers it by itself.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any

from pyflink.datastream import StreamExecutionEnvironment

from eml.flink import environment, files, topics
from eml.flink.other_run import OtherRun, committed_transactions
from eml.local import local_runs
from eml.settings import Settings
from eml.starting import local_run, restoring, state_files
from eml.starting.state_files import JobIdentity, Listing, StateFolders

log = logging.getLogger("eml.job")

PATH = "execution.state-recovery.path"
CHECKPOINTS = "execution.checkpointing.dir"
SAVEPOINTS = "execution.checkpointing.savepoint-dir"


@dataclass(slots=True)
class Started:
    """What the start found out."""

    message: str
    page: str = ""  # of a local run
    savepoints: str = ""
    make_sure_no_other_runs: Callable[[], None] = lambda: None
    lock: IO[str] | None = field(default=None, repr=False)  # held as long as this object lives


def prepare(
    env: StreamExecutionEnvironment,
    settings: Settings,
    request: restoring.Request,
    admin: Any,  # noqa: ANN401
) -> Started:
    """Set what the job goes on from; raise where it must not start."""
    folders, lock = _folders(env, settings, admin), None
    if local_run.is_local() and folders and state_files.is_local(folders.checkpoints):
        lock = local_run.lock(state_files.local_path(folders.checkpoints))
    given = environment.option(env, PATH)
    if given or _recovers_by_itself(env):
        started = Started(f"going on from {given}, as Flink was told" if given else "Flink recovers this job by itself")
    else:
        started = _choose(env, settings, request, admin, folders)
    started.lock = lock
    started.savepoints = environment.option(env, SAVEPOINTS)
    if local_run.is_local():
        started.page = _page(env)
        _say_where(env, settings.job.name, started)
    return started


def _folders(env: StreamExecutionEnvironment, settings: Settings, admin: Any) -> StateFolders | None:  # noqa: ANN401
    """Give the job folders of its own below those that are set; None: as the cluster has it."""
    job = settings.job
    checkpoint_dir, savepoint_dir = job.checkpoint_dir, job.savepoint_dir
    if local_run.is_local():  # there only `-D` sets these options, and it wins
        checkpoint_dir = environment.option(env, CHECKPOINTS) or local_run.checkpoint_dir(job)
        savepoint_dir = environment.option(env, SAVEPOINTS) or savepoint_dir
    if not checkpoint_dir:
        return None
    identity = JobIdentity.of(settings, topics.topic_id(admin, settings.kafka.readings_topic))
    folders = StateFolders.of(identity, checkpoint_dir, savepoint_dir)
    environment.set_options(env, {CHECKPOINTS: folders.checkpoints, SAVEPOINTS: folders.savepoints})
    return folders


def _choose(
    env: StreamExecutionEnvironment,
    settings: Settings,
    request: restoring.Request,
    admin: Any,  # noqa: ANN401
    folders: StateFolders | None,
) -> Started:
    listing = _listing(folders)
    other = OtherRun(
        admin, settings, partial(state_files.newest_checkpoint, folders, listing) if folders else lambda: None
    )
    found = state_files.newest(folders, listing) if folders else None
    before = topics.committed(admin, settings.kafka) or committed_transactions(admin, settings)
    start = restoring.choose(request, folders, found, before)
    if start.path:
        environment.set_options(env, {PATH: start.path})
    age = (
        f", written {time.strftime('%F %T', time.localtime(found.written_s))}"
        if found and start.path == found.path
        else ""
    )
    return Started(start.message + age, make_sure_no_other_runs=other.check)


def _listing(folders: StateFolders | None) -> Listing:
    on_disk = folders is None or (
        state_files.is_local(folders.checkpoints) and state_files.is_local(folders.savepoints)
    )
    return state_files.list_folder if on_disk else files.list_folder


def _recovers_by_itself(env: StreamExecutionEnvironment) -> bool:
    """Whether a cluster of this job alone runs us again after a failure, and restores the job from its own records."""
    available = environment.option(env, "high-availability.type") or environment.option(env, "high-availability")
    return environment.option(env, "execution.target") == "embedded" and available.lower() not in {"", "none"}


def _page(env: StreamExecutionEnvironment) -> str:
    host = environment.option(env, "rest.address")
    return f"http://{host}:{environment.option(env, 'rest.bind-port') or environment.option(env, 'rest.port')}"


def _say_where(env: StreamExecutionEnvironment, name: str, started: Started) -> None:
    file, state = str(local_run.log_file() or "as FLINK_LOG_DIR says"), environment.option(env, CHECKPOINTS)
    log.info("Flink's page: %s", started.page)
    log.info("Flink's log: %s", file)
    log.info("state: %s", state)
    local_runs.note(name, started.page, file, state)
