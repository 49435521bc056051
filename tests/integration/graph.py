"""Prints the uids of the job's operators as JSON, by what was changed; run by `test_graph` as a program of its own.

Only graphs are built: Flink's JVM is needed, a cluster, a broker and a registry are not. Its own process, because the
JVM stays as long as the process that asked for it.
"""

import json
import sys

from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment

from eml.flink import environment, pipeline
from eml.local.jars import connector_jar
from eml.settings import load
from eml.stream.output.encoder import OutputIds

ADDRESSES = {"kafka.bootstrap_servers": "127.0.0.1:9", "registry.url": "http://127.0.0.1:9"}  # nobody is asked
VARIANTS: dict[str, dict[str, object]] = {
    "the settings as they come": {},
    "parallelism and micro-batches": {"job.parallelism": 2, "job.micro_batch_ms": 900},
    "name and topics": {"job.name": "other", "kafka.readings_topic": "others", "kafka.start": "latest"},
    "a fleet model": {"model.by": "all"},
    "models by a pattern": {"model.by": "key-pattern", "model.key_pattern": "^(site-[0-9]+)/"},
    "models by a header": {"model.by": "header:site", "job.buckets": 16},
    "no scores": {"kafka.scores_topic": ""},
    "delivery": {"kafka.delivery": "at-least-once", "kafka.transactional_id_prefix": ""},
}


def main() -> None:
    found = {name: _uids(_graph(settings)) for name, settings in VARIANTS.items()}
    found["an insert in front and one behind"] = _uids(_graph({}, inserts=True))
    found["refused"] = [_refusal()]
    json.dump(found, sys.stdout)


def _graph(overrides: dict[str, object], *, inserts: bool = False) -> StreamExecutionEnvironment:
    settings = load(None, {}, ADDRESSES | overrides)
    env = environment.create(settings, {}, connector_jar())
    if inserts:
        _insert(env, "front")
    pipeline.build(env, settings, OutputIds(1, 2, 3))
    if inserts:
        _insert(env, "behind")
    return env


def _insert(env: StreamExecutionEnvironment, name: str) -> None:
    """A further source and sink in the same graph."""
    tables = StreamTableEnvironment.create(env)
    tables.execute_sql(f"CREATE TEMPORARY TABLE {name}_from (number INT) WITH ('connector' = 'datagen')")
    tables.execute_sql(f"CREATE TEMPORARY TABLE {name}_into (number INT) WITH ('connector' = 'blackhole')")
    statements = tables.create_statement_set()
    statements.add_insert_sql(f"INSERT INTO {name}_into SELECT number + 1 FROM {name}_from")  # noqa: S608
    statements.attach_as_datastream()


def _uids(env: StreamExecutionEnvironment) -> list[str | None]:
    """Of all operators, as `env.execute` would send them."""
    nodes = env._generate_stream_graph().getStreamNodes().toArray()
    return sorted((node.getTransformationUID() for node in nodes), key=str)


def _refusal() -> str | None:
    """What Flink says of a graph with an operator that has no uid."""
    env = _graph({})
    env.from_collection([1]).print()
    try:
        _uids(env)
    except Exception as error:  # noqa: BLE001  py4j has one type for all of Java's
        return str(error)
    return None


if __name__ == "__main__":
    main()
