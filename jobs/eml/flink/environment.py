"""The environment a graph is built in and run: what the job needs of Flink, and the connector's jar.

Called by `job`, before `topics` and `pipeline`, and after them to run what they made.
"""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from pyflink.common import Configuration
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.java_gateway import get_gateway
from pyflink.util.java_utils import get_field, get_j_env_configuration

from eml.core.errors import EmlError
from eml.flink.model_store import STATES
from eml.local.process import LOOPBACK
from eml.settings import Settings
from eml.starting.local_run import is_local, loopback_options
from eml.starting.prometheus import metrics_options

log = logging.getLogger(__name__)

FLUSHES = 5  # of buffers and bundles in the time of a micro-batch: each adds little to what a record waits anyway
LONGEST_FLUSH_MS = 100  # Flink's own
CONNECTOR = "org.apache.flink.connector.kafka.source.KafkaSource"  # a class of it


def create(settings: Settings, extra: Mapping[str, str], connector: Path | None) -> StreamExecutionEnvironment:
    """An environment with the settings applied: a mini cluster under plain Python, the cluster under `flink run`."""
    if is_local():
        # PyFlink's other mode opens a port on all interfaces that runs whatever code is sent to it.
        os.environ["_python_worker_execution_mode"] = "process"  # noqa: SIM112  its name
        extra = {**loopback_options(extra), **metrics_options(settings.job), **extra}
        bind_wildcards_to_loopback()
    env = StreamExecutionEnvironment.get_execution_environment(configuration(settings, extra))
    if connector is not None:
        env.add_jars(connector.resolve().as_uri())  # not `pipeline.jars`: that would drop Flink's own Python jar
    elif not _on_class_path(CONNECTOR):
        raise EmlError(
            'job.connector_jar is "cluster", but Flink has no Kafka connector: put flink-sql-connector-kafka into its'
            " folder lib, or name the jar's path"
        )
    return env


def bind_wildcards_to_loopback() -> None:
    """Have our Java process bind to the loopback interface where it would bind to all of them.

    The servers that Python workers connect to take no address (`NettyServerBuilder.forPort` in Apache Beam), and Java
    has no property for it; but it keeps the wildcard address in a field. Explicit addresses (`rest.bind-address`) hold.
    """
    jvm = get_gateway().jvm
    try:
        loopback = jvm.java.net.InetAddress.getByName(LOOPBACK)
        implementation = get_field(jvm.Class.forName("java.net.InetAddress"), "impl").get(None)
        implementation.anyLocalAddress()  # it may be made at the first call
        get_field(implementation.getClass(), "anyLocalAddress").set(implementation, loopback)
    except Exception:  # noqa: BLE001  py4j has one type for all of Java's; this Java keeps it elsewhere
        log.warning("the ports for Flink's Python workers are open on all interfaces: keep others out by a firewall")


def option(env: StreamExecutionEnvironment, name: str) -> str:
    """An option as Flink will see it, also from its own configuration or command line; empty where it is not set."""
    return get_j_env_configuration(env._j_stream_execution_environment).getString(name, "") or ""  # noqa: SLF001


def set_options(env: StreamExecutionEnvironment, options: Mapping[str, str]) -> None:
    """Set options that were not known when the environment was made."""
    config = Configuration(j_configuration=get_j_env_configuration(env._j_stream_execution_environment))  # noqa: SLF001
    for name, value in options.items():
        config.set_string(name, value)
    env.configure(config)


def _on_class_path(name: str) -> bool:
    try:
        get_gateway().jvm.Class.forName(name)
    except Exception:  # noqa: BLE001  py4j has one type for all of Java's
        return False
    return True


def configuration(settings: Settings, extra: Mapping[str, str]) -> Configuration:
    """What the job needs of Flink, wherever it runs; `extra` is the caller's word and wins."""
    job, config = settings.job, Configuration()
    flush_ms = min(LONGEST_FLUSH_MS, max(1, job.micro_batch_ms // FLUSHES))
    wanted = {
        "pipeline.name": job.name,
        "pipeline.max-parallelism": str(job.max_parallelism),
        "parallelism.default": str(job.parallelism),
        "execution.checkpointing.interval": f"{job.checkpoint_interval_ms} ms",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "execution.checkpointing.num-retained": "3",
        "restart-strategy.type": "exponential-delay",
        # A cause that stays ends the job after these attempts.
        "restart-strategy.exponential-delay.attempts-before-reset-backoff": "10",
        "table.exec.uid.generation": "ALWAYS",  # a savepoint finds its operators again; `pipeline` makes them lasting
        "table.local-time-zone": "UTC",
        # State kept in one of Python's modes is silently lost in the other: there is only this one.
        "python.execution-mode": "process",
        # Within a bundle PyFlink keeps what is written to state; a checkpoint ends it, and before that no reader of
        # committed records sees anything. Under at-least-once it ends soon after the rows of its window have come.
        "python.fn-execution.bundle.time": str(
            job.checkpoint_interval_ms if settings.kafka.delivery == "exactly-once" else flush_ms
        ),
        # A window's records pass two exchanges, each of which would hold them for Flink's usual 100 ms.
        "execution.buffer-timeout.interval": f"{flush_ms} ms",
        # The rows of one window, each with many records: nothing is written before a bundle is done, and of a backlog
        # a larger one would hold more records than the task can serve in the time of a checkpoint.
        "python.fn-execution.bundle.size": str(job.buckets),
        # PyFlink keeps what is written to a map state in an entry per state and bucket, until a bundle ends: with
        # fewer entries it writes a bundle's states one by one.
        "python.state.cache-size": str(len(STATES) * job.buckets),
        "python.map-state.write-cache-size": "256",  # entries of a map that are sent to the JVM together
        "pipeline.object-reuse": "true",  # else every prediction is exploded from a copy of its whole micro-batch
    }
    if job.waiting_full == "block":  # while the task is blocked, checkpoints time out: that must not restart it
        wanted["execution.checkpointing.tolerable-failed-checkpoints"] = "1000000"
    for name, value in {**wanted, **extra}.items():
        config.set_string(name, value)
    return config
