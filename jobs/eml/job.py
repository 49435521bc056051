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

from eml.core.errors import EmlError
from eml.settings import ON_CLUSTER, Settings, describe, load
from eml.starting.local_run import is_local, log_environment
from eml.starting.restoring import AUTO, Request
from eml.stream.output.schemas import schema_text
from eml.stream.registry.client import SchemaRegistry
from eml.stream.registry.field_report import log_fields

log = logging.getLogger("eml.job")  # also under `-m`, where `__name__` is another

INTERRUPTED = 130  # as shells have it


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job until it is stopped (`flink run -d`: submit it); 1, with what to do, where it cannot start."""
    arguments = _parser().parse_args(argv)
    # For the workers of a mini cluster: sums in one order, and no more threads than cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    _log_to_console()
    try:
        settings = load(arguments.settings)
        options = _flink_options(arguments.options)
        if is_local():
            signal.signal(signal.SIGTERM, _interrupt)
            os.environ.update(log_environment(settings.job))
        return 0 if _run(settings, options, Request(arguments.restore or AUTO, arguments.fresh)) else 1
    except EmlError as error:
        sys.stderr.write(f"eml.job: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("eml.job: interrupted before the job ran\n")
        return INTERRUPTED


def _log_to_console() -> None:
    """What `eml` logs from INFO on, other packages' warnings."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("eml").setLevel(logging.INFO)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m eml.job", description="Run the EML job on Flink.")
    parser.add_argument(
        "--settings", type=Path, help="TOML file (default: the variable EML_SETTINGS; see deploy/eml.toml)"
    )
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
    return parser


def _run(settings: Settings, options: dict[str, str], request: Request) -> bool:
    # Starts a JVM: not for --help or bad settings, and only when its variables are set.
    from eml.flink import environment, pipeline, running, start, topics  # noqa: PLC0415

    logging.getLogger("eml").setLevel(logging.INFO)  # pyflink's import puts the root's level up
    registry = SchemaRegistry(settings.registry, settings.record)
    registry.check()
    log_fields(settings)
    env = environment.create(settings, options, _connector(settings))
    with topics.admin_client(settings.kafka) as admin:
        topics.check(admin, settings.kafka, settings.job.parallelism)
        started = start.prepare(env, settings, request, admin)
        ids = _register_outputs(registry, settings)
        log.info("starting with these settings:\n%s", describe(settings))
        pipeline.build(env, settings, *ids)
        started.make_sure_no_other_runs()
    log.info("%s", started.message)
    if not is_local():
        running.run_on_cluster(env, settings.job.name)
        return True
    return running.run_locally(env, settings.job.name, started.page, started.savepoints)


def _register_outputs(registry: SchemaRegistry, settings: Settings) -> tuple[int, int]:
    """Ids of the schemas of what we write; registering a schema again gives its old id."""
    kafka = settings.kafka
    return (
        registry.register(f"{kafka.predictions_topic}-value", schema_text("prediction")),
        registry.register(f"{kafka.evolutions_topic}-value", schema_text("evolution")),
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
            raise EmlError(f"-D wants KEY=VALUE, not {pair!r}")
        options[name] = value
    return options


if __name__ == "__main__":
    sys.exit(main())
