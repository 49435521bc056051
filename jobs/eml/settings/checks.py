"""What is wrong with settings whose kinds are right: values out of range, and values that do not go together.

Called by `loading`, which adds where each value came from. No message shows a value that may hold a secret.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit

from eml.core import EvolvingMetricLearner, SnapshotError
from eml.core.config import MAY_BE_ZERO
from eml.settings.sections import ON_CLUSTER, KafkaSettings, Settings

Finding = tuple[tuple[str, ...], str]  # the settings it is about as `section.key`, and what is wrong

ZEROES = {f"learner.{key}" for key in (*MAY_BE_ZERO, "refresh", "margin", "rho", "lam")} | {
    "learning.seed",
    "learning.former_versions",
    "learning.recovery_records",
    "job.heartbeat_s",
    "job.metrics_port",
    "registry.newest_every_ms",
    "registry.unknown_id_patience_ms",
}
# Flink's limit on key groups, and with them on parallelism; a chance is at most 1.
MOST = {
    "job.parallelism": 32_768,
    "job.max_parallelism": 32_768,
    "job.metrics_port": 65_535,
    "learner.refresh": 1,
    "learning.drift_sensitivity": 1,
}
REQUIRED = {"kafka.bootstrap_servers", "registry.url"}
MAY_BE_EMPTY = {
    "kafka.labels_topic",
    "kafka.scores_topic",
    "kafka.transactional_id_prefix",
    "model.key_pattern",
    "learning.first_model",
} | {f"job.{key}" for key in ("connector_jar", "checkpoint_dir", "savepoint_dir", "log_dir")}
HOST_AND_PORT = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
TOPIC = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")
FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")  # of Avro; dots into nested records
MODEL_BY = re.compile(r"key|key-pattern|all|header:[!-~]+")
BUCKETS = {16, 256, 4096}  # so many hex digits of a hash: 1, 2, 3
TOPICS = (
    "readings_topic",
    "labels_topic",
    "predictions_topic",
    "scores_topic",
    "evolutions_topic",
    "dead_letters_topic",
)
FIELDS = ("key_field", "event_id_field", "event_time_field", "label_field")
# A transaction lives from one checkpoint to the next, and on through a slow one or a restart: with less room than
# this the broker ends it first, and what it held is lost.
CHECKPOINTS_PER_TRANSACTION = 3
NO_FILE = "there is no file {} that can be read: mount it there, or correct the path"
BYTES = "leave it out: the job reads and writes plain bytes"
OWN_PROPERTIES = {
    "bootstrap.servers": "set bootstrap_servers",
    "group.id": "set group_id",
    "auto.offset.reset": "set start",
    "transactional.id": "set transactional_id_prefix",
    "transaction.timeout.ms": "set transaction_timeout_ms",
    "isolation.level": "leave it out: the job reads what is committed",
    "enable.auto.commit": "leave it out: offsets are committed with checkpoints",
    "key.serializer": BYTES,
    "value.serializer": BYTES,
    "key.deserializer": BYTES,
    "value.deserializer": BYTES,
}


def range_problem(name: str, value: object) -> str | None:
    """What is wrong with one value alone."""
    numbers = value if isinstance(value, tuple) else (value,)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float):
            continue
        if number < 0 or (number == 0 and name not in ZEROES):
            return f"must be {'0 or more' if name in ZEROES else 'positive'}, not {number}"
        if number > MOST.get(name, number):
            return f"must be at most {MOST[name]}, not {number}"
    return None


def findings(settings: Settings) -> Iterator[Finding]:
    """All that is wrong with the settings together."""
    yield from _empty_texts(settings)
    yield from _kafka(settings.kafka)
    yield from _topics(settings.kafka)
    yield from _properties(settings.kafka)
    yield from _registry_url(settings.registry.url)
    yield from _credentials(settings)
    yield from _files(settings)
    yield from _first_model(settings.learning.first_model)
    yield from _record_fields(settings)
    yield from _model(settings)
    yield from _job(settings)


def _empty_texts(settings: Settings) -> Iterator[Finding]:
    for section in fields(settings):
        values = getattr(settings, section.name)
        for field in fields(values):
            name = f"{section.name}.{field.name}"
            if getattr(values, field.name) == "" and name not in MAY_BE_EMPTY:
                variable = f"EML_{section.name}_{field.name}".upper()
                missing = f"is missing: set it in the file (`eml init` writes one), or {variable} in the environment"
                yield (name,), missing if name in REQUIRED else "must not be empty: leave it out to have the default"


def _kafka(kafka: KafkaSettings) -> Iterator[Finding]:
    servers = kafka.bootstrap_servers.split(",") if kafka.bootstrap_servers else []
    for number, server in enumerate(servers, start=1):
        match = HOST_AND_PORT.fullmatch(server.strip())
        if not match or not 0 < int(match[1]) < 65_536:
            what = f"number {number} is not host:port; write host:port, or several of them with commas between"
            yield ("kafka.bootstrap_servers",), what
    if kafka.delivery == "exactly-once" and not kafka.transactional_id_prefix:
        what = "exactly-once needs a prefix of its own for this job: set it, or set delivery to at-least-once"
        yield ("kafka.transactional_id_prefix", "kafka.delivery"), what


def _topics(kafka: KafkaSettings) -> Iterator[Finding]:
    named = {f"kafka.{key}": getattr(kafka, key) for key in TOPICS}
    for name, topic in named.items():
        if topic and not TOPIC.fullmatch(topic):
            yield (name,), "is no topic: up to 249 letters, digits, dots, underscores and hyphens"
    # Kafka takes names that differ only in dots and underscores for the same.
    counts = Counter(topic.replace(".", "_") for topic in named.values())
    for same in (topic for topic, count in counts.items() if topic and count > 1):
        names = tuple(name for name, topic in named.items() if topic.replace(".", "_") == same)
        keys = " and ".join(name.partition(".")[2] for name in names)
        yield names, f"{keys} are the same topic to Kafka: name another"


def _properties(kafka: KafkaSettings) -> Iterator[Finding]:
    for name, advice in OWN_PROPERTIES.items():
        if name in kafka.properties:
            yield ("kafka.properties",), f"{name} is the job's own: {advice}"


def _registry_url(url: str) -> Iterator[Finding]:
    if not url:
        return
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1) > 0
    except ValueError:  # brackets without end, a port that is no number
        yield ("registry.url",), "is no URL: write one like https://registry.example.com:8081"
        return
    if "@" in parts.netloc:
        yield ("registry.url",), "holds user information: take it out, and set username and password"
    elif not good or parts.query or parts.fragment or any(map(str.isspace, url)):
        yield ("registry.url",), "must begin with http:// or https:// and a host, and have no query"


def _credentials(settings: Settings) -> Iterator[Finding]:
    registry = settings.registry
    password = "password_file" if registry.password_file is not None else "password"
    token = "bearer_token_file" if registry.bearer_token_file is not None else "bearer_token"
    for one, other in (("username", password), ("certificate_file", "key_file")):
        given = [key for key in (one, other) if getattr(registry, key) is not None]
        if len(given) == 1:
            lacking = other if given == [one] else one
            yield (f"registry.{given[0]}", f"registry.{lacking}"), f"needs {lacking} beside it: set that, too"
    if getattr(registry, token) is not None and registry.username is not None:
        names = (f"registry.{token}", "registry.username")
        yield names, "a bearer token and a username exclude each other: keep one"


def _files(settings: Settings) -> Iterator[Finding]:
    registry = settings.registry
    named = {f"registry.{key}": getattr(registry, key) for key in ("ca_file", "certificate_file", "key_file")}
    if settings.job.connector_jar != ON_CLUSTER:
        named["job.connector_jar"] = settings.job.connector_jar
    for name, path in named.items():
        if path and not _readable(path):
            yield (name,), NO_FILE.format(path)


def _readable(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.R_OK)


def _first_model(path: str) -> Iterator[Finding]:
    """It must be a learner's snapshot; whether its features are a key's is known when the key comes."""
    if path and not _readable(path):
        yield ("learning.first_model",), NO_FILE.format(path)
    elif path:
        try:
            EvolvingMetricLearner.restore(Path(path).read_bytes())
        except SnapshotError as error:
            yield ("learning.first_model",), f"{path} holds no model: {error}"


def _record_fields(settings: Settings) -> Iterator[Finding]:
    for key in ("subjects", "label_subjects"):
        if "" in getattr(settings.record, key):
            yield (f"record.{key}",), "an empty text is no subject: take it out"
    for field in settings.record.categories:
        if not FIELD.fullmatch(field):
            yield ("record.categories",), "has a text that is no name of an Avro field (with dots into nested records)"
    named = {f"record.{key}": getattr(settings.record, key) for key in FIELDS}
    for name, text in named.items():
        if text and not FIELD.fullmatch(text):
            yield (name,), "is no name of an Avro field: letters, digits and underscores, with dots into nested records"
    for same in (text for text, count in Counter(named.values()).items() if text and count > 1):
        names = tuple(name for name, text in named.items() if text == same)
        keys = " and ".join(name.partition(".")[2] for name in names)
        yield names, f"{keys} are the same field, {same}: each needs one of its own"


def _model(settings: Settings) -> Iterator[Finding]:
    by, pattern = settings.model.by, settings.model.key_pattern
    if by and not MODEL_BY.fullmatch(by):
        yield ("model.by",), "must be key, key-pattern, header:NAME (a record header) or all"
    if (by == "key-pattern") != bool(pattern):
        what = "by key-pattern and key_pattern go together: set both, or neither"
        yield ("model.by", "model.key_pattern"), what
    groups = _groups(pattern)
    if groups != 1:
        what = "is no regular expression" if groups is None else f"has {groups} groups"
        yield ("model.key_pattern",), f"{what}: write one whose one group is the model's name, like ^(site-[0-9]+)/"
    if by != "key" and settings.record.key_format == "avro":
        what = 'models by anything but the key need keys whose names can be read without the registry: not "avro"'
        yield ("model.by", "record.key_format"), what


def _groups(pattern: str) -> int | None:
    """How many groups a regular expression has; None for what is none."""
    try:
        return re.compile(pattern).groups if pattern else 1
    except re.error:
        return None


def _job(settings: Settings) -> Iterator[Finding]:
    job, kafka, registry = settings.job, settings.kafka, settings.registry
    if job.buckets not in BUCKETS:
        yield ("job.buckets",), f"must be one of {', '.join(map(str, sorted(BUCKETS)))}, not {job.buckets}"
    if job.parallelism > job.buckets:
        what = f"parallelism {job.parallelism} is above buckets {job.buckets}: some tasks would have nothing to do"
        yield ("job.parallelism", "job.buckets"), what
    if job.max_parallelism < job.parallelism:
        what = f"max_parallelism {job.max_parallelism} is below parallelism {job.parallelism}: raise it"
        yield ("job.max_parallelism", "job.parallelism"), what
    least = CHECKPOINTS_PER_TRANSACTION * job.checkpoint_interval_ms
    if kafka.delivery == "exactly-once" and kafka.transaction_timeout_ms < least:
        what = (
            f"transaction_timeout_ms {kafka.transaction_timeout_ms} must be at least {least},"
            f" {CHECKPOINTS_PER_TRANSACTION} times checkpoint_interval_ms: raise it, or take checkpoints more often"
        )
        yield ("kafka.transaction_timeout_ms", "job.checkpoint_interval_ms"), what
    if registry.longest_retry_ms < registry.retry_ms:
        what = f"longest_retry_ms {registry.longest_retry_ms} is below retry_ms {registry.retry_ms}: raise it"
        yield ("registry.longest_retry_ms", "registry.retry_ms"), what
