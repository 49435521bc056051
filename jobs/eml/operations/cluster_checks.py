"""Whether Kafka and the registry are as the job of these settings needs them.

Called by `doctor`; asks `kafka_admin` and the registry's client, and changes nothing. The job itself checks rights,
too.
"""

import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

import requests

from eml.local.topics_command import wanted
from eml.operations.findings import FAIL, OK, WARN, Check, Finding
from eml.operations.kafka_admin import KafkaAdmin
from eml.settings import Settings
from eml.stream.registry.client import SchemaRegistry

APART_S = 5.0  # between two clocks, until it matters: windows and waits go by the records' time stamps
CLOCK_TIMEOUT_S = 2.0
GOOD_MODES = ("BACKWARD", "BACKWARD_TRANSITIVE")


def checks(settings: Settings) -> dict[str, Check]:
    """All of them; Kafka's share a connection, so they are one."""
    return {
        "broker": lambda: kafka(settings),
        "registry": lambda: registry(settings),
        "clocks": lambda: registry_clock(settings),
    }


def kafka(settings: Settings) -> Iterator[Finding]:
    """The brokers, their topics, their limit for transactions, and the time of the newest reading."""
    admin = KafkaAdmin(settings.kafka)
    begun = time.monotonic()
    brokers, topics = admin.brokers(), admin.topics()
    took = 1000 * (time.monotonic() - begun)
    yield Finding("broker", OK, f"{settings.kafka.bootstrap_servers}: {brokers} broker(s), answered in {took:.0f} ms")
    yield from _topics(settings, topics)
    yield from _transactions(settings, admin)
    if settings.kafka.readings_topic in topics:
        yield from _readings_clock(settings, admin, topics[settings.kafka.readings_topic])


def _topics(settings: Settings, topics: dict[str, int]) -> Iterator[Finding]:
    names = wanted(settings.kafka)
    missing = [f"{name} (kafka.{setting})" for setting, name in names.items() if name not in topics]
    if missing:
        fix = "`eml topics create` makes them; or correct the names"
        yield Finding("topics", FAIL, f"there is no {', no '.join(missing)}", fix)
    else:
        yield Finding("topics", OK, ", ".join(f"{name} ({topics[name]})" for name in names.values()) + " partitions")
    there = topics.get(settings.kafka.readings_topic)
    if there is not None and there < settings.job.parallelism:
        said = f"{settings.kafka.readings_topic} has {there} partitions, job.parallelism is {settings.job.parallelism}"
        yield Finding("partitions", FAIL, said, "add partitions, or lower job.parallelism")


def _transactions(settings: Settings, admin: KafkaAdmin) -> Iterator[Finding]:
    if settings.kafka.delivery != "exactly-once":
        return
    ours, longest = settings.kafka.transaction_timeout_ms, admin.longest_transaction_ms()
    if longest is None:
        said = "the brokers do not tell this user transaction.max.timeout.ms"
        yield Finding("transactions", WARN, said, f"it must be at least kafka.transaction_timeout_ms, {ours}")
    elif ours > longest:
        said = f"kafka.transaction_timeout_ms is {ours}, the brokers allow {longest}"
        yield Finding("transactions", FAIL, said, "lower it, or raise the brokers' transaction.max.timeout.ms")
    else:
        yield Finding("transactions", OK, f"may last {ours} ms, the brokers allow {longest}")


def _readings_clock(settings: Settings, admin: KafkaAdmin, partitions: int) -> Iterator[Finding]:
    newest = admin.newest_ms(settings.kafka.readings_topic, partitions)
    if newest is None:
        return
    ahead = newest / 1000 - time.time()
    if ahead > APART_S:
        said = f"the newest reading is {ahead:.0f} s ahead of this machine's clock"
        fix = "set the clocks of devices and machines by NTP: windows and waits go by the readings' time stamps"
        yield Finding("clocks", WARN, said, fix)
    else:
        yield Finding("clocks", OK, f"the newest reading is {max(0.0, -ahead):.0f} s old")


def registry(settings: Settings) -> Iterator[Finding]:
    """Whether it answers, the subject of the readings, and its compatibility mode."""
    client = SchemaRegistry(settings.registry, settings.record)
    try:
        subjects = client.subjects()
        yield Finding("registry", OK, f"answers, {len(subjects)} subjects")
        for subject in settings.record.subjects or (f"{settings.kafka.readings_topic}-value",):
            if subject in subjects:
                yield _mode(subject, client.compatibility(subject))
            else:
                said = f"{subject} is not registered yet"
                fix = "devices register it with their first record; record.subjects names others"
                yield Finding("subject", WARN, said, fix)
    finally:
        client.close()


def _mode(subject: str, mode: str) -> Finding:
    if mode in GOOD_MODES:
        return Finding("subject", OK, f"{subject}: compatibility {mode}")
    said = f"{subject}: compatibility {mode or 'is not told'}"
    fix = "set BACKWARD: sensors may then vanish, and what would hurt readers is refused (schemas/README.md)"
    return Finding("subject", WARN, said, fix)


def registry_clock(settings: Settings) -> Iterator[Finding]:
    """The registry's clock, by the date that its answers carry."""
    try:
        answer = requests.head(settings.registry.url, timeout=CLOCK_TIMEOUT_S, allow_redirects=False)
        said = parsedate_to_datetime(answer.headers["Date"]).timestamp()
    except (requests.RequestException, KeyError, ValueError, TypeError):
        return  # whether it answers is another check's business
    apart = said - time.time()
    if abs(apart) > APART_S:
        fix = "set both clocks by NTP: certificates and tokens depend on them"
        yield Finding("clocks", WARN, f"the registry's clock differs by {apart:+.0f} s from this machine's", fix)
    else:
        yield Finding("clocks", OK, "this machine and the registry agree")
