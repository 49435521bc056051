"""Runs the graph: on a cluster as Flink does it, on this machine until the job ends or is stopped by a signal.

Called by `job` last. A local run that is told to end (Ctrl-C, SIGTERM) stops with a savepoint, so that the same command
goes on exactly there; where none can be taken the last checkpoint stays, which is as good but repeats some work.
"""

import logging
import os
import signal
import threading
from types import FrameType
from typing import Any

from pyflink.datastream import StreamExecutionEnvironment
from pyflink.java_gateway import get_gateway

from eml.flink.client import cause
from eml.settings import JobSettings
from eml.starting.console import Console
from eml.starting.heartbeat import Heartbeat
from eml.starting.local_run import log_file

log = logging.getLogger("eml.job")

LOOK_S = 0.2
SHOW_EVERY = 5  # looks
STOP_S = 30  # for the savepoint, then for cancelling
CANCELLED = "JobCancellationException"


class StopSignals:
    """SIGINT and SIGTERM as a wish to stop; a second one ends the process at once."""

    def __init__(self) -> None:
        self.wanted = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.wanted.is_set():
            os.write(2, b"eml.job: ended at once; the same command goes on from the last checkpoint\n")
            os._exit(128 + number)  # Flink's Java process ends when it sees that we are gone
        self.wanted.set()


def run_on_cluster(env: StreamExecutionEnvironment, name: str) -> None:
    """Run the graph until the job ends, or only submit it (`flink run -d`); to be cancelled is no failure."""
    try:
        env.execute(name)
    except Exception as error:
        if CANCELLED not in str(error):  # py4j has one type for all of Java's
            raise
        log.info("the job was cancelled")


def run_locally(env: StreamExecutionEnvironment, job: JobSettings, page: str, savepoints: str) -> bool:
    """Run the graph until it ends or a signal stops it; False where it failed for good."""
    signals = StopSignals()
    client = env.execute_async(job.name)._j_job_client  # noqa: SLF001  Python's futures cannot be waited for in pieces
    job_id, result = str(client.getJobID().toString()), client.getJobExecutionResult()
    console = Console(page)
    console.follow(log_file())
    heartbeat = Heartbeat(page, job_id, job.heartbeat_s)
    heartbeat.start()
    stopped = _wait(result, signals, console, job_id)
    heartbeat.end()
    console.show(job_id)
    if stopped:
        _stop(client, savepoints)
        return True
    return _ended(result)


def _wait(result: Any, signals: StopSignals, console: Console, job_id: str) -> bool:  # noqa: ANN401  a Java object
    """Until the job has ended, or a signal wants it to (True); the console shows meanwhile what is new."""
    looks = 0
    while not result.isDone():
        if looks % SHOW_EVERY == 0:
            console.show(job_id)
        if signals.wanted.wait(LOOK_S):
            return True
        looks += 1
    return False


def _stop(client: Any, savepoints: str) -> None:  # noqa: ANN401  a Java object
    log.info("stopping with a savepoint; once more ends it at once")
    jvm = get_gateway().jvm
    seconds = jvm.java.util.concurrent.TimeUnit.SECONDS
    kind = jvm.org.apache.flink.core.execution.SavepointFormatType.CANONICAL
    try:
        path = client.stopWithSavepoint(False, savepoints, kind).get(STOP_S, seconds)  # noqa: FBT003  Java's
    except Exception as error:  # noqa: BLE001  py4j has one type for all of Java's
        log.warning("no savepoint could be taken (%s)", cause(error))
    else:
        log.info("stopped; its state is in savepoint %s, and the same command goes on from there", path)
        return
    try:
        client.cancel().get(STOP_S, seconds)
    except Exception as error:  # noqa: BLE001
        log.warning("the job could not be cancelled (%s)", cause(error))
    log.info("stopped; its last checkpoint is kept, and the same command goes on from there")


def _ended(result: Any) -> bool:  # noqa: ANN401
    try:
        result.get()
    except Exception as error:  # noqa: BLE001
        if CANCELLED in str(error):
            log.info("the job was cancelled")
            return True
        where = log_file()
        log.error("the job failed: %s; details are in %s", cause(error), where or "Flink's log")  # noqa: TRY400
        return False
    return True
