"""The environment a graph is built in and run: what the job needs of Flink, and the connector's jar.

Called by `job`, before `topics` and `pipeline`, and after them to run what they made.
"""

import logging
from collections.abc import Mapping
from pathlib import Path

from pyflink.common import Configuration
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.java_gateway import get_gateway

from eml.core.errors import EmlError
from eml.settings import Settings

log = logging.getLogger(__name__)

CONNECTOR = "org.apache.flink.connector.kafka.source.KafkaSource"  # a class of it


def create(settings: Settings, extra: Mapping[str, str], connector: Path | None) -> StreamExecutionEnvironment:
    """An environment with the settings applied: a mini cluster under plain Python, the cluster under `flink run`."""
    env = StreamExecutionEnvironment.get_execution_environment(configuration(settings, extra))
    if connector is not None:
        env.add_jars(connector.resolve().as_uri())  # not `pipeline.jars`: that would drop Flink's own Python jar
    elif not _on_class_path(CONNECTOR):
        raise EmlError(
            'job.connector_jar is "cluster", but Flink has no Kafka connector: put flink-sql-connector-kafka into its'
            " folder lib, or name the jar's path"
        )
    return env


def _on_class_path(name: str) -> bool:
    try:
        get_gateway().jvm.Class.forName(name)
    except Exception:  # noqa: BLE001  py4j has one type for all of Java's
        return False
    return True


def configuration(settings: Settings, extra: Mapping[str, str]) -> Configuration:
    """What the job needs of Flink, wherever it runs; `extra` is the caller's word and wins."""
    job, config = settings.job, Configuration()
    wanted = {
        "pipeline.name": job.name,
        "pipeline.max-parallelism": str(job.max_parallelism),
        "parallelism.default": str(job.parallelism),
        "execution.checkpointing.interval": f"{job.checkpoint_interval_ms} ms",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "execution.checkpointing.num-retained": "3",
        "restart-strategy.type": "exponential-delay",
        # A cause that stays, like refused credentials, ends the job after these attempts.
        "restart-strategy.exponential-delay.attempts-before-reset-backoff": "10",
        "table.exec.uid.generation": "ALWAYS",  # a savepoint finds its operators again; `pipeline` makes them lasting
        "table.local-time-zone": "UTC",
        # State kept in one of Python's modes is silently lost in the other: there is only this one.
        "python.execution-mode": "process",
        # Within a bundle PyFlink keeps what is written to state; a checkpoint ends it, and before that no reader of
        # committed records sees anything.
        "python.fn-execution.bundle.time": str(
            job.checkpoint_interval_ms if settings.kafka.delivery == "exactly-once" else job.micro_batch_ms
        ),
        "python.fn-execution.bundle.size": "10000",
        "python.state.cache-size": str(2 * job.cached_learners),  # model and window of each
        "pipeline.object-reuse": "true",  # else every prediction is exploded from a copy of its whole micro-batch
    }
    if job.checkpoint_dir:
        wanted["execution.checkpointing.dir"] = job.checkpoint_dir
    for name, value in {**wanted, **extra}.items():
        config.set_string(name, value)
    return config


def execute(env: StreamExecutionEnvironment, name: str) -> None:
    """Run the graph until the job ends, or only submit it (`flink run -d`); to be cancelled is no failure."""
    try:
        env.execute(name)
    except Exception as error:
        if "JobCancellationException" not in str(error):  # py4j has one type for all of Java's
            raise
        log.info("the job was cancelled")
