"""What is compared, as processes: the job, and its peers with the very same settings.

Started by `stream`; a pipeline is `eml.local`'s job process, and a peer is another module with the job's command line.
Each has real Python workers, as on a cluster: under plain `python` they would run inside the client.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

from eml.bench.comparison import JOB, Options, Rival
from eml.local.jars import connector_jar
from eml.local.job_process import JobProcess
from eml.local.stack import Stack
from eml.settings import JobSettings, KafkaSettings, RegistrySettings, Settings

REAL_WORKERS = {"_python_worker_execution_mode": "process"}
REGISTRY_TIMEOUT_MS = 15_000  # its first answers are slow


class Pipeline(JobProcess):
    """The job, or a peer."""

    def __init__(self, kind: str, settings: str, folder: Path, options: Mapping[str, str]) -> None:
        super().__init__(settings, folder, options, environment=REAL_WORKERS)
        self._kind = kind

    def command(self) -> list[str]:
        """The job's command line, for a peer with its module and name instead."""
        command = super().command()
        if self._kind == JOB:
            return command
        at = command.index("eml.job")
        return [*command[:at], "eml.flink.peers", self._kind, *command[at + 1 :]]


def settings_of(rival: Rival, options: Options, stack: Stack, readings: str, name: str, folder: Path) -> Settings:
    """The settings of a rival, which writes to topics that begin with `name`; a peer leaves out what it has not."""
    delivery = cast('Literal["exactly-once", "at-least-once"]', options.delivery)
    return Settings(
        kafka=KafkaSettings(
            bootstrap_servers=stack.bootstrap_servers,
            readings_topic=readings,
            predictions_topic=f"{name}-predictions",
            evolutions_topic=f"{name}-evolutions",
            dead_letters_topic=f"{name}-dead-letters",
            group_id=name,
            delivery=delivery,
            transactional_id_prefix=name,
        ),
        registry=RegistrySettings(url=stack.registry_url, timeout_ms=REGISTRY_TIMEOUT_MS),
        job=JobSettings(
            name=f"bench-{rival.kind}",
            parallelism=options.parallelism,
            micro_batch_ms=rival.micro_batch_ms or JobSettings().micro_batch_ms,
            checkpoint_interval_ms=options.checkpoint_ms,
            checkpoint_dir=(folder / "checkpoints").absolute().as_uri(),
            connector_jar=str(connector_jar()),
        ),
    )
