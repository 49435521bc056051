"""The entry of the job: `python -m eml.job --settings FILE`, or the same module under `flink run -pym eml.job`.

Reads the settings, checks everything that can be checked before a record flows, finds the state to go on from, builds
the graph and runs it. `eml.starting` decides what a start begins with, `eml.flink` asks Kafka and runs.
"""

import argparse
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from eml.local import listeners
from eml.local.java import java
from eml.settings import ON_CLUSTER, Settings, describe
from eml.starting.local_run import is_local, log_environment
from eml.starting.prometheus import metrics_environment
from eml.starting.restoring import AUTO, Request
from eml.stream.output.encoder import OutputIds
from eml.stream.output.schemas import schema_text
from eml.stream.registry.client import SchemaRegistry
from eml.stream.registry.field_report import log_fields
from eml.terminal import OK, PROBLEM, USAGE, CommandError, Parser, add_settings, examples, load_settings, set_run

log = logging.getLogger("eml.job")  # also under `-m`, where `__name__` is another
EXAMPLES = examples(
    "python -m eml.job                               # with eml.toml of this folder, on this machine",
    "python -m eml.job --settings fleet.toml -S kafka.start=latest",
    "flink run -pym eml.job -pyexec python --settings fleet.toml    # on a cluster: see deploy/README.md",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job until it is stopped (`flink run -d`: submit it); what keeps it from starting is told in a line."""
    arguments = _parser().parse_args(argv)
    status: int = arguments.run(arguments)
    return status


def _start(arguments: argparse.Namespace) -> int:
    # For the workers of a mini cluster: sums in one order, and no more threads than cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    _log_to_console()
    settings = load_settings(arguments)
    options = _flink_options(arguments.options)
    if is_local():
        signal.signal(signal.SIGTERM, _interrupt)
        os.environ.update({**log_environment(settings.job), **metrics_environment(settings.job)})
    elif settings.job.metrics_port:
        log.warning("job.metrics_port is not used here: a cluster's own configuration names its metrics reporters")
    return OK if _run(settings, options, Request(arguments.restore or AUTO, arguments.fresh)) else PROBLEM


def _log_to_console() -> None:
    """What `eml` logs from INFO on, other packages' warnings."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("eml").setLevel(logging.INFO)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m eml.job", description="Run the EML job on Flink.", epilog=EXAMPLES)
    add_settings(parser)
    start = parser.add_mutually_exclusive_group()
    start.add_argument(
        "--restore",
        metavar="PATH",
        help="checkpoint or savepoint to start from; 'auto' (default): this job's newest, or none at its first start;"
        " 'latest': its newest, which must exist",
    )
    start.add_argument(
        "--fresh",
        action="store_true",
        help="start without the models of earlier runs; kafka.start says where it begins to read",
    )
    parser.add_argument(
        "-D", dest="options", metavar="KEY=VALUE", action="append", default=[], help="an option of Flink's own"
    )
    set_run(parser, _start, extra="job")
    return parser


def _run(settings: Settings, options: dict[str, str], request: Request) -> bool:
    listeners.check(settings.kafka)
    registry = SchemaRegistry(settings.registry, settings.record)
    registry.check()
    log_fields(settings)
    if is_local():
        java()  # its message says what to install; pyflink's says which shell script failed
    # Starts a JVM: not for --help, bad settings or addresses that do not answer, and only when its variables are set.
    from eml.flink import environment, pipeline, running, start, topics  # noqa: PLC0415

    logging.getLogger("eml").setLevel(logging.INFO)  # pyflink's import puts the root's level up
    env = environment.create(settings, options, _connector(settings))
    with topics.admin_client(settings.kafka) as admin:
        topics.check(admin, settings.kafka, settings.job.parallelism)
        started = start.prepare(env, settings, request, admin)
        ids = _register_outputs(registry, settings)
        log.info(
            "starting with these settings, the others at their defaults:\n%s", describe(settings, changed_only=True)
        )
        pipeline.build(env, settings, ids)
        started.make_sure_no_other_runs()
    log.info("%s", started.message)
    if not is_local():
        running.run_on_cluster(env, settings.job.name)
        return True
    return running.run_locally(env, settings.job, started.page, started.savepoints)


def _register_outputs(registry: SchemaRegistry, settings: Settings) -> OutputIds:
    """Ids of the schemas of what we write; registering a schema again gives its old id."""
    kafka = settings.kafka
    return OutputIds(
        registry.register(f"{kafka.predictions_topic}-value", schema_text("prediction")),
        registry.register(f"{kafka.evolutions_topic}-value", schema_text("evolution")),
        registry.register(f"{kafka.scores_topic}-value", schema_text("score")) if kafka.scores_topic else 0,
    )


def _connector(settings: Settings) -> Path | None:
    """The Kafka connector's jar; None where Flink's own class path has it."""
    if settings.job.connector_jar == ON_CLUSTER:
        return None
    if settings.job.connector_jar:
        return Path(settings.job.connector_jar)
    from eml.local.jars import connector_jar  # noqa: PLC0415  needs Maven only where no jar is named

    return connector_jar()


def _flink_options(pairs: Sequence[str]) -> dict[str, str]:
    options = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise CommandError(f"-D wants KEY=VALUE, not {pair!r}", USAGE)
        options[name] = value
    return options


if __name__ == "__main__":
    sys.exit(main())
