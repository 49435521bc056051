"""What PyFlink does without the job, for the benchmark: two graphs between the job's topics, with its settings.

Run by `eml.bench` as a process, `python -m eml.flink.peers empty|copy --settings FILE`. They read as `pipeline` reads
and write as it writes; between is an empty keyed operator in Python, called record by record, or nothing at all.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.table import DataTypes, Schema, StreamTableEnvironment

from eml.flink import environment
from eml.flink.pipeline import keyed, readings_table, sink_table
from eml.flink.types import BYTES
from eml.settings import Settings, load

RECORD = Types.ROW_NAMED(["kafka_key", "content"], [BYTES, BYTES])
COLUMNS = Schema.new_builder().column("kafka_key", DataTypes.BYTES()).column("content", DataTypes.BYTES()).build()


class Empty(KeyedProcessFunction):
    """Yields every record as it came."""

    def process_element(self, value: Row, ctx: KeyedProcessFunction.Context) -> Iterator[Row]:  # noqa: ARG002
        """One record of a key."""
        yield value


def empty(tables: StreamTableEnvironment) -> None:
    """Records through Python one by one; the key is picked in Java, which is about twice as fast as `key_by`."""
    records = tables.sql_query("SELECT name, ROW(kafka_key, content) FROM readings")
    stream = keyed(tables.to_append_stream(records, Types.ROW([Types.STRING(), RECORD])))
    tables.create_temporary_view(
        "records", tables.from_data_stream(stream.process(Empty(), output_type=RECORD), COLUMNS)
    )
    write(tables, "records")


def copy(tables: StreamTableEnvironment) -> None:
    """Records from topic to topic, all in Java."""
    write(tables, "readings")


def write(tables: StreamTableEnvironment, source: str) -> None:
    """Add what writes a table's records to the predictions topic."""
    statements = tables.create_statement_set()
    statements.add_insert_sql(f"""
        INSERT INTO predictions_sink SELECT kafka_key, content, CAST(NULL AS MAP<STRING, BYTES>) FROM {source}
    """)  # noqa: S608  names of ours
    statements.attach_as_datastream()


PEERS = {"empty": empty, "copy": copy}


def run(peer: str, settings: Settings, options: dict[str, str]) -> None:
    """Run a peer until it is stopped."""
    env = environment.create(settings, options, Path(settings.job.connector_jar))
    tables = StreamTableEnvironment.create(env)
    tables.execute_sql(readings_table(settings.kafka, settings.model))
    tables.execute_sql(sink_table(settings.kafka, "predictions", settings.kafka.predictions_topic))
    PEERS[peer](tables)
    env.execute(f"{settings.job.name}-{peer}")


def main(argv: Sequence[str] | None = None) -> int:
    """The command line, which is the job's with a peer's name in front."""
    parser = argparse.ArgumentParser(prog="python -m eml.flink.peers")
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("-D", dest="options", metavar="KEY=VALUE", action="append", default=[])
    arguments = parser.parse_args(argv)
    options = dict(pair.split("=", 1) for pair in arguments.options)
    run(arguments.peer, load(arguments.settings), options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
