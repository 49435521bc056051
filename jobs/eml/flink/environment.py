"""The environment a graph is built in: what the job needs of Flink, and the connector's jar.

Called by `job`, before `topics` and `pipeline`.
"""

from collections.abc import Mapping
from pathlib import Path

from pyflink.common import Configuration
from pyflink.datastream import StreamExecutionEnvironment

from eml.settings import Settings


def create(settings: Settings, extra: Mapping[str, str], connector: Path | None) -> StreamExecutionEnvironment:
    """An environment with the settings applied: a mini cluster under plain Python, the cluster under `flink run`."""
    env = StreamExecutionEnvironment.get_execution_environment(configuration(settings, extra))
    if connector is not None:
        env.add_jars(connector.resolve().as_uri())  # not `pipeline.jars`: that would drop Flink's own Python jar
    return env


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
        "table.exec.uid.generation": "ALWAYS",  # a savepoint finds its operators again
        "table.local-time-zone": "UTC",
        # State kept in one of Python's modes is silently lost in the other: there is only this one.
        "python.execution-mode": "process",
        "python.fn-execution.bundle.time": str(job.micro_batch_ms),
    }
    if job.checkpoint_dir:
        wanted["execution.checkpointing.dir"] = job.checkpoint_dir
    for name, value in {**wanted, **extra}.items():
        config.set_string(name, value)
    return config
