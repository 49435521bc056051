"""What there is to set, with the defaults: one frozen section for each part of the job.

Made by `loading`, read by the part a section is named after. A field that `repr` leaves out holds a secret.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from eml.core import LearnerConfig

ON_CLUSTER = "cluster"  # in place of the connector's path


@dataclass(frozen=True, slots=True)
class KafkaSettings:
    """Where records come from and where results go."""

    bootstrap_servers: str = ""  # must be given
    readings_topic: str = "readings"
    labels_topic: str = ""  # labels that come after their readings (schemas/label.avsc); empty: none
    predictions_topic: str = "predictions"
    scores_topic: str = "scores"  # how predictions turned out (schemas/score.avsc); empty: none
    evolutions_topic: str = "evolutions"
    dead_letters_topic: str = "dead-letters"
    group_id: str = "eml"
    start: Literal["earliest", "latest", "committed"] = "earliest"  # of a first start; committed: else earliest
    delivery: Literal["exactly-once", "at-least-once"] = "exactly-once"
    transactional_id_prefix: str = "eml"  # one per job and cluster: two jobs must not share one
    transaction_timeout_ms: int = 900_000  # a stock broker's maximum
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)  # any client property; may hold secrets


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    """A schema registry with Confluent's API."""

    url: str = ""  # must be given
    username: str | None = None  # basic authentication, with password
    password: str | None = field(default=None, repr=False)
    password_file: str | None = None  # holds the password; read again when it changes
    bearer_token: str | None = field(default=None, repr=False)
    bearer_token_file: str | None = None  # holds the token; read again when it changes
    ca_file: str | None = None  # to trust, beside the system's
    certificate_file: str | None = None  # to show (mutual TLS), with key_file
    key_file: str | None = None
    timeout_ms: int = 2_000  # of one look-up
    retry_ms: int = 200  # first wait after a failed look-up; doubles
    longest_retry_ms: int = 10_000
    cached_schemas: int = 1_000
    unknown_ids: int = 10_000  # ids the registry does not know, remembered
    unknown_id_ttl_ms: int = 60_000  # how long
    unknown_id_patience_ms: int = 10_000  # until a new id that the registry does not know is taken for unknown; 0: none
    lookups_per_second: float = 20.0  # per task
    lookups_per_key_per_second: float = 1.0  # so that one key's unknown ids do not use up the task's look-ups
    newest_every_ms: int = 10_000  # how often a task asks for newer versions (announced evolutions); 0: never


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """What a record's fields mean."""

    key_field: str = "sensor_id"
    event_id_field: str = "event_id"
    event_time_field: str = "event_time"
    label_field: str = "label"
    non_finite: Literal["reject", "missing"] = "reject"  # NaN and infinities: dead letters, or missing values
    key_format: Literal["text", "int", "long", "avro"] = "text"  # of the Kafka record's key
    # How a value, and an Avro key, names its schema; a header __value_schema_id (__key_schema_id) always wins.
    schema_id_format: Literal["confluent", "apicurio-8"] = "confluent"  # an id of 4 bytes in front, or of 8
    tombstones: Literal["count", "dead-letter"] = "count"  # records without a value, as compacted topics have them
    max_features: int = 4_096
    max_depth: int = 8  # of nested records
    max_nodes: int = 10_000  # of a schema, with every named type written out
    max_schema_bytes: int = 1_000_000
    # Subjects whose schemas are readings; empty: those that the naming strategies give to kafka.readings_topic.
    subjects: tuple[str, ...] = ()
    label_subjects: tuple[str, ...] = ()  # the same for kafka.labels_topic
    categories: tuple[str, ...] = ()  # fields that are categories beside enums, whatever the schema says: dotted names


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which records share a model."""

    by: str = "key"  # key, key-pattern, header:NAME or all
    key_pattern: str = ""  # for key-pattern: a regular expression (Java's) on the Kafka key; its one group is the model


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """When a key's learner learns; `learner` bounds and weighs it."""

    window_records: int = 32  # labelled records per update, fewer while a space is new
    window_ms: int = 60_000  # or what came in this time, whichever is first; by the records' timestamps
    late_records: int = 32  # of an older version in a row until it counts as rolled back
    former_versions: int = 2  # a key has left whose models are kept, for roll-outs and rollbacks
    former_ms: int = 86_400_000  # after the last record of such a version (1 day)
    labels_kept: int = 1_000  # per key: readings that wait for a label, and labels that wait for their reading
    label_wait_ms: int = 604_800_000  # how long they wait (7 days), by the records' timestamps
    first_model: str = ""  # a file with a learner's snapshot that each new key of its features begins with; empty: none
    warm_start: bool = False  # a new key begins with the newest model of its schema that the task has
    drift: Literal["off", "report", "step", "memory"] = "report"  # tell it only, widen the step, refresh the memory
    drift_sensitivity: float = 0.005  # ADWIN's delta: chance of a false alarm
    recovery_records: int = 500  # scored after an evolution, that its figures are made of; 0: no figures
    cold_restart: bool = True  # a fresh start beside after an evolution: answers where better, tells the regret
    seed: int = 0


@dataclass(frozen=True, slots=True)
class JobSettings:
    """How Flink runs the job."""

    name: str = "eml"
    parallelism: int = 1
    max_parallelism: int = 128  # fixed for the life of a job's state
    buckets: int = 256  # 16, 256, 4096: models that share one call into Python; fixed for the life of a job's state
    micro_batch_ms: int = 250  # records of a bucket that came in this time cross into Python together
    checkpoint_interval_ms: int = 5_000  # under exactly-once also how long readers wait
    checkpoint_dir: str = ""  # a URI all of the cluster can write; empty: as the cluster is set up, or a local default
    savepoint_dir: str = ""  # the same for savepoints; empty: beside the checkpoints
    log_dir: str = ""  # of a run on this machine alone; empty: FLINK_LOG_DIR, or ~/.local/state/eml/logs
    heartbeat_s: int = 10  # a run on one machine says on its console how it does, so often; 0: never
    metrics_port: int = 0  # such a run shows its metrics to Prometheus there, on loopback; 0: not at all
    state_ttl_ms: int = 2_592_000_000  # a key silent for this long is forgotten (30 days)
    waiting_full: Literal["dead-letter", "block"] = "dead-letter"  # what becomes of records beyond limits.waiting_*
    on_internal_error: Literal["dead-letter", "stop"] = "dead-letter"  # a record that makes our own code fail
    connector_jar: str = ""  # its path; ON_CLUSTER: in Flink's own class path; empty: resolved through Maven


@dataclass(frozen=True, slots=True)
class LimitsSettings:
    """Bounds of what devices send. A record beyond one becomes a dead letter; no other key notices.

    What we write must fit into the 1 MiB that producers, brokers and topics take by default, and what we keep for one
    key must not grow with what that key sends.
    """

    key_bytes: int = 1_024  # of the Kafka key, which is written with every prediction, twice
    value_bytes: int = 262_144  # of a record's value: ten times a record with record.max_features doubles
    header_bytes: int = 65_536  # of a record's headers in all, names and values: they wait in state with their record
    event_id_bytes: int = 1_024  # an event id is written with its prediction, and kept until its label comes
    label_bytes: int = 256  # a label becomes a class, and its name is written with every prediction of its key
    classes: int = 256  # per key: every prediction has a score for each (70 kB at most with the longest names)
    dead_letter_bytes: int = 524_288  # key, value and headers: what is longer is shortened, with its length and SHA-256
    event_bytes: int = 524_288  # an event that lists more feature names than fit is shortened
    batch_records: int = 5_000  # a longer micro-batch of a key is served in pieces: each becomes one row for the JVM
    batch_bytes: int = 16_777_216  # the same in bytes
    waiting_records: int = 10_000  # per key, for a schema that cannot be had now
    waiting_bytes: int = 16_777_216  # the same in bytes: they are read and written together
    cached_bytes: int = 536_870_912  # models in memory, per task


@dataclass(frozen=True, slots=True)
class Settings:
    """All sections."""

    kafka: KafkaSettings = field(default_factory=KafkaSettings)
    registry: RegistrySettings = field(default_factory=RegistrySettings)
    record: RecordSettings = field(default_factory=RecordSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    limits: LimitsSettings = field(default_factory=LimitsSettings)
    job: JobSettings = field(default_factory=JobSettings)
