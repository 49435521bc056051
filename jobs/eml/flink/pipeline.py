"""The graph: Kafka readings, cut into micro-batches in the JVM, through the keyed operator, into Kafka topics.

Built by `job`; builds `operator` in. Records cross into Python and back once per micro-batch: the source, the cutting
and the writing are table operators, which also see what Python's own Kafka connector hides (headers, timestamps).
"""

import re
from collections import Counter
from hashlib import md5
from typing import Any

from pyflink.common import Types
from pyflink.datastream import DataStream, KeyedStream, StreamExecutionEnvironment
from pyflink.java_gateway import get_gateway
from pyflink.table import Schema, StreamTableEnvironment

from eml.flink.client import properties
from eml.flink.operator import EvolvingOperator
from eml.flink.rows import INPUT, KINDS, OUTPUT
from eml.settings import KafkaSettings, ModelSettings, Settings
from eml.stream.model_keys import ALL, HEADER
from eml.stream.output.encoder import OutputIds

RESULTS = (
    Schema.new_builder()
    .column("prediction_keys", "ARRAY<BYTES>")
    .column("score_keys", "ARRAY<BYTES>")
    .column("predictions", "ARRAY<BYTES>")
    .column("scores", "ARRAY<BYTES>")
    .column("evolutions", "ARRAY<ROW<kafka_key BYTES, content BYTES>>")
    .column("dead_letters", "ARRAY<ROW<kafka_key BYTES, content BYTES, headers MAP<STRING, BYTES>>>")
    .build()
)
# As `rows` takes them.
COLUMNS = (
    "other_model",
    "name",
    "kafka_partition",
    "kafka_offset",
    "kafka_timestamp",
    "content",
    "kafka_headers",
    "is_label",
)
HEX_DIGITS = {16: 1, 256: 2, 4096: 3}  # of a hash, by the number of buckets
NUMBERED = re.compile(r"\d+_")  # how the uids begin that Flink gives to table operators


def build(env: StreamExecutionEnvironment, settings: Settings, ids: OutputIds) -> None:
    """Add the job's graph to the environment; `env.execute` runs it. `ids` are those of the schemas of its results."""
    env.get_config().disable_auto_generated_uids()  # an operator whose state a savepoint might not find is refused
    tables = StreamTableEnvironment.create(env)
    operator = EvolvingOperator(settings, ids)
    results = (
        keyed(micro_batches(tables, settings))
        .process(operator, output_type=OUTPUT)
        .name("evolving metric learning")
        .uid(models_uid(settings))
    )
    write(tables, settings, results)


def models_uid(settings: Settings) -> str:
    """The name under which a savepoint has the models.

    Whose models they are and how they are spread over buckets is part of it: a job that looked for them elsewhere
    would begin with none, silently. So Flink refuses such a savepoint.
    """
    by, pattern = settings.model.by, settings.model.key_pattern
    of = by if by in {"key", ALL} else f"{by.partition(':')[0]}-{md5((pattern or by).encode()).hexdigest()[:8]}"  # noqa: S324
    return f"models-by-{of}-in-{settings.job.buckets}"


def micro_batches(tables: StreamTableEnvironment, settings: Settings) -> DataStream:
    """Records of a bucket of models that came within `micro_batch_ms`, in their order, as (bucket, columns).

    A model is always in the same bucket, so its records keep their order; a call carries many models, so that a fleet
    of many slow devices needs no call for each.
    """
    tables.execute_sql(readings_table(settings.kafka, settings.model))
    seconds, digits = settings.job.micro_batch_ms / 1000, HEX_DIGITS[settings.job.buckets]
    tables.create_temporary_view(
        "bucketed",
        tables.sql_query(f"""
            SELECT *, SUBSTRING(MD5(COALESCE(other_model, name)) FROM 1 FOR {digits}) AS bucket FROM readings
        """),  # noqa: S608  a number of ours
    )
    batches = tables.sql_query(f"""
        SELECT bucket, ROW({", ".join(f"ARRAY_AGG({column})" for column in COLUMNS)}) AS records
        FROM TABLE(TUMBLE(TABLE bucketed, DESCRIPTOR(arrived), INTERVAL '{seconds:.3f}' SECOND(9, 3)))
        GROUP BY bucket, window_start, window_end
    """)  # noqa: S608  names and a number of ours
    stream = tables.to_append_stream(batches, INPUT)
    fix_uids(stream._j_data_stream.getTransformation(), "readings")  # noqa: SLF001  Python hides the graph's parts
    return stream


def keyed(batches: DataStream) -> KeyedStream:
    """The stream by its first field, which Java picks: `key_by` would carry every record through Python for it."""
    selector = get_gateway().jvm.KeyByKeySelector()
    key_type = Types.ROW([Types.STRING()]).get_java_type_info()
    return KeyedStream(batches._j_data_stream.keyBy(selector, key_type), batches.get_type(), batches)  # noqa: SLF001


def other_model(model: ModelSettings) -> str:
    """The SQL for the key of a record's model, as `model_keys.model_of` says it; null: the record's own key."""
    if model.by == "key":
        return "CAST(NULL AS STRING)"
    if model.by == ALL:
        return quoted(ALL)
    if model.by.startswith(HEADER):
        picked = f"DECODE(headers[{quoted(model.by.removeprefix(HEADER))}], 'ISO-8859-1')"
    else:
        picked = f"REGEXP_EXTRACT(COALESCE(DECODE(kafka_key, 'ISO-8859-1'), ''), {quoted(model.key_pattern)}, 1)"
    return f"COALESCE({picked}, '')"


def readings_table(kafka: KafkaSettings, model: ModelSettings) -> str:
    """The source with all that is known of a record; a key becomes text with one character per byte.

    Labels come through the same source: they meet their readings in the micro-batches of their model.
    """
    consumer = {
        "group.id": kafka.group_id,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",  # for "committed" where a partition has no offset yet, as with a new group
    }
    topics = ";".join(filter(None, (kafka.readings_topic, kafka.labels_topic)))
    is_label = f"topic = {quoted(kafka.labels_topic)}" if kafka.labels_topic else "FALSE"  # no name per record for it
    return f"""
        CREATE TEMPORARY TABLE readings (
            kafka_key BYTES,
            content BYTES,
            kafka_partition INT NOT NULL METADATA FROM 'partition' VIRTUAL,
            kafka_offset BIGINT NOT NULL METADATA FROM 'offset' VIRTUAL,
            written TIMESTAMP_LTZ(3) NOT NULL METADATA FROM 'timestamp' VIRTUAL,
            headers MAP<STRING, BYTES> METADATA FROM 'headers' VIRTUAL,
            topic STRING NOT NULL METADATA VIRTUAL,
            is_label AS {is_label},
            name AS COALESCE(DECODE(kafka_key, 'ISO-8859-1'), ''),
            other_model AS {other_model(model)},
            kafka_headers AS CASE WHEN CARDINALITY(headers) > 0 THEN headers END,
            kafka_timestamp AS 1000 * EXTRACT(EPOCH FROM written) + EXTRACT(MILLISECOND FROM written),
            arrived AS PROCTIME()
        ) WITH (
            'topic' = {quoted(topics)},
            'scan.startup.mode' = '{START[kafka.start]}',
            {options(kafka, consumer)}
        )
    """


START = {"earliest": "earliest-offset", "latest": "latest-offset", "committed": "group-offsets"}


# How each kind of result is exploded: an array of contents beside one of keys, or an array of rows.
COLUMNS_OF = """
        SELECT {one}_keys[number], content, CAST(NULL AS MAP<STRING, BYTES>)
        FROM results CROSS JOIN UNNEST({one}s) WITH ORDINALITY AS exploded (content, number)
    """
SELECTED = {
    "predictions": COLUMNS_OF.format(one="prediction"),
    "scores": COLUMNS_OF.format(one="score"),
    "evolutions": """
        SELECT kafka_key, content, CAST(NULL AS MAP<STRING, BYTES>)
        FROM results CROSS JOIN UNNEST(evolutions) AS exploded (kafka_key, content)
    """,
    "dead_letters": """
        SELECT kafka_key, content, headers
        FROM results CROSS JOIN UNNEST(dead_letters) AS exploded (kafka_key, content, headers)
    """,
}


def write(tables: StreamTableEnvironment, settings: Settings, results: DataStream) -> None:
    """Explode the arrays of each micro-batch in the JVM, and write each kind to its topic; without one, not at all."""
    tables.create_temporary_view("results", tables.from_data_stream(results, RESULTS))
    statements = tables.create_statement_set()
    topics = {kind: getattr(settings.kafka, f"{kind}_topic") for kind in KINDS}
    written = {kind: topic for kind, topic in topics.items() if topic}
    for kind, topic in written.items():
        tables.execute_sql(sink_table(settings.kafka, kind, topic))
        statements.add_insert_sql(f"INSERT INTO {kind}_sink {SELECTED[kind]}")
    statements.attach_as_datastream()
    env = results.get_execution_environment()._j_stream_execution_environment  # noqa: SLF001
    for kind in written:
        (sink,) = (end for end in env.getTransformations() if f"{kind}_sink" in end.getName())
        fix_uids(sink, kind)


def fix_uids(end: Any, part: str) -> None:  # noqa: ANN401  a Java object
    """Name the operators of a part of the graph, from its last one back: `readings-window-aggregate`.

    A savepoint finds its state by these names. Those that Flink gives begin with a number (`4_window-aggregate`) that
    counts all table operators a JVM has planned: with one more in front, anywhere, the state would not be found.
    """
    ahead, seen = [end], Counter[str]()
    while ahead:
        operator = ahead.pop()
        uid = operator.getUid() or "0_conversion"  # the step from a table to a stream is given none
        if NUMBERED.match(uid):
            kind = NUMBERED.sub("", uid, count=1)
            seen[kind] += 1
            operator.setUid(f"{part}-{kind}" + (f"-{seen[kind]}" if seen[kind] > 1 else ""))
            ahead.extend(operator.getInputs())


def sink_table(kafka: KafkaSettings, kind: str, topic: str) -> str:
    """A topic to write to, under the guarantee asked for."""
    producer = {"transaction.timeout.ms": str(kafka.transaction_timeout_ms)}
    return f"""
        CREATE TEMPORARY TABLE {kind}_sink (
            kafka_key BYTES,
            content BYTES,
            headers MAP<STRING, BYTES> METADATA
        ) WITH (
            'topic' = {quoted(topic)},
            'sink.delivery-guarantee' = '{kafka.delivery}',
            'sink.transactional-id-prefix' = {quoted(f"{kafka.transactional_id_prefix}-{kind}")},
            {options(kafka, producer)}
        )
    """


def options(kafka: KafkaSettings, own: dict[str, str]) -> str:
    """What all Kafka tables have in common: where the brokers are, and bytes as they are."""
    client = {**properties(kafka), **own}
    pairs = {
        "connector": "kafka",
        "key.format": "raw",
        "key.fields": "kafka_key",
        "value.format": "raw",
        "value.fields-include": "EXCEPT_KEY",
        **{f"properties.{name}": value for name, value in client.items()},
    }
    return ",\n            ".join(f"{quoted(name)} = {quoted(value)}" for name, value in pairs.items())


def quoted(text: str) -> str:
    """A string literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
