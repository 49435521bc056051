"""The entry of the job: `python -m eml.job --settings FILE`, or the same module under `flink run -pym eml.job`.

Reads the settings, checks everything that can be checked before a record flows, builds the graph and runs it.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from eml.core.errors import EmlError
from eml.settings import ON_CLUSTER, Settings, describe, load
from eml.stream.outputs import schema_text
from eml.stream.registry import SchemaRegistry

log = logging.getLogger("eml.job")  # also under `-m`, where `__name__` is another


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job until it is cancelled (`flink run -d`: submit it); 1, with what to do, where it cannot start."""
    arguments = _parser().parse_args(argv)
    # For the workers of a mini cluster: sums in one order, and no more threads than cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("eml").setLevel(logging.INFO)  # pyflink's import puts the root's level up
    try:
        settings = load(arguments.settings)
        _run(settings, _flink_options(settings, arguments))
    except EmlError as error:
        sys.stderr.write(f"eml.job: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m eml.job", description="Run the EML job on Flink.")
    parser.add_argument(
        "--settings", type=Path, help="TOML file (default: the variable EML_SETTINGS; see deploy/eml.toml)"
    )
    parser.add_argument(
        "--restore",
        metavar="PATH",
        help="checkpoint or savepoint to start from; 'latest': newest in job.checkpoint_dir; 'auto': if there is one",
    )
    parser.add_argument(
        "-D", dest="options", metavar="KEY=VALUE", action="append", default=[], help="an option of Flink's own"
    )
    return parser


def _run(settings: Settings, options: dict[str, str]) -> None:
    from eml.flink import environment, pipeline, topics  # noqa: PLC0415  starts a JVM: not for --help or bad settings

    registry = SchemaRegistry(settings.registry, settings.record)
    registry.check()
    env = environment.create(settings, options, _connector(settings))
    topics.check(settings.kafka, settings.job.parallelism)
    ids = _register_outputs(registry, settings)
    log.info("starting with these settings:\n%s", describe(settings))
    pipeline.build(env, settings, *ids)
    environment.execute(env, settings.job.name)


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


def _flink_options(settings: Settings, arguments: argparse.Namespace) -> dict[str, str]:
    options = {}
    for pair in arguments.options:
        name, equals, value = pair.partition("=")
        if not equals:
            raise EmlError(f"-D wants KEY=VALUE, not {pair!r}")
        options[name] = value
    start = _checkpoint(settings, arguments.restore)
    if start:
        options["execution.state-recovery.path"] = start
    return options


def _checkpoint(settings: Settings, wanted: str | None) -> str | None:
    """Where to start from; None: at the beginning."""
    if wanted not in {"latest", "auto"}:
        return wanted
    folder = urlparse(settings.job.checkpoint_dir)
    if folder.scheme != "file":
        raise EmlError(f"--restore {wanted} needs a file:// folder as job.checkpoint_dir: name the checkpoint's path")
    # A checkpoint without its metadata was never finished.
    finished = list(Path(url2pathname(folder.path)).glob("*/chk-*/_metadata"))
    if finished:
        return max(finished, key=lambda path: path.stat().st_mtime).parent.as_uri()
    if wanted == "latest":
        raise EmlError(f"no finished checkpoint under {settings.job.checkpoint_dir}: start without --restore")
    log.info("no finished checkpoint under %s: a first start", settings.job.checkpoint_dir)
    return None


if __name__ == "__main__":
    sys.exit(main())
