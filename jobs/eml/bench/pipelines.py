"""What is compared, as processes: the job, and its peers with the very same settings.

Started by `stream` and `paced`; a pipeline is `eml.local`'s job process, and a peer is another module with the job's
command line, that of Quix Streams run by a Python that has it. Each on Flink has real Python workers, as on a cluster:
under plain `python` they would run inside the client.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from eml.bench.comparison import BACKENDS, COPY, EMPTY, JOB, QUIX, RIVER, Options, Rival
from eml.bench.quix_python import quix_python
from eml.local.jars import connector_jar
from eml.local.job_process import JobProcess
from eml.local.stack import Stack
from eml.settings import JobSettings, Settings, load

REAL_WORKERS = {"_python_worker_execution_mode": "process"}
QUIX_GRACE_S = 30.0  # it commits before it ends
REGISTRY_TIMEOUT_MS = 15_000  # its first answers are slow
MODULES = {
    JOB: ("eml.job",),
    COPY: ("eml.flink.peers", COPY),
    EMPTY: ("eml.flink.peers", EMPTY),
    RIVER: ("eml.bench.river_loop",),
    QUIX: ("eml.bench.quix_app",),
}
WITHOUT_FLINK = {RIVER, QUIX}


class Pipeline(JobProcess):
    """The job, or a peer."""

    def __init__(self, kind: str, settings: str, folder: Path, options: Mapping[str, str]) -> None:
        super().__init__(settings, folder, options, environment=REAL_WORKERS)
        self._kind = kind
        if kind == QUIX:
            self.grace_s = QUIX_GRACE_S

    def command(self) -> list[str]:
        """The job's command line, for a peer with its module and name instead."""
        command = super().command()
        at = command.index("eml.job")
        if self._kind == QUIX:
            command[command.index(sys.executable)] = str(quix_python())
        return [*command[:at], *MODULES[self._kind], *command[at + 1 :]]

    def wait_until_running(self) -> None:
        """Wait until Flink says that it runs; who has no Flink begins at once."""
        if self._kind not in WITHOUT_FLINK:
            super().wait_until_running()


def flink_options(rival: Rival, options: Options) -> dict[str, str]:
    """Flink's own options: what was given on the command line wins."""
    backend = {"state.backend.type": BACKENDS[rival.backend], "execution.checkpointing.incremental": "true"}
    return {**backend, **dict(options.flink)}


def settings_of(
    rival: Rival, options: Options, stack: Stack, readings: str, name: str, folder: Path, first_model: Path
) -> Settings:
    """The settings of a rival, which writes to topics that begin with `name`; a peer leaves out what it has not."""
    return load(
        None,
        {},
        {
            "kafka.bootstrap_servers": stack.bootstrap_servers,
            "kafka.readings_topic": readings,
            "kafka.predictions_topic": f"{name}-predictions",
            "kafka.scores_topic": f"{name}-scores",
            "kafka.evolutions_topic": f"{name}-evolutions",
            "kafka.dead_letters_topic": f"{name}-dead-letters",
            "kafka.group_id": name,
            "kafka.delivery": options.delivery,
            "kafka.transactional_id_prefix": name,
            "registry.url": stack.registry_url,
            "registry.timeout_ms": REGISTRY_TIMEOUT_MS,
            "learning.first_model": str(first_model),
            "job.name": f"bench-{rival.kind}",
            "job.parallelism": options.parallelism,
            "job.micro_batch_ms": rival.micro_batch_ms or JobSettings().micro_batch_ms,
            "job.checkpoint_interval_ms": options.checkpoint_ms,
            "job.checkpoint_dir": (folder / "checkpoints").absolute().as_uri(),
            "job.connector_jar": str(connector_jar()),
            **dict(options.settings),
        },
    )
