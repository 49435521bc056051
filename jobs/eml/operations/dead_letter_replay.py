"""Sends dead letters again: to the partition they came from, in their order, each with its replays counted.

Called by `eml dead-letters replay`; calls `dead_letter_repair` for the record to send and `dead_letter_check` for
whether the job would take it now. Nothing is sent before all are looked at and, on a terminal, a person has said yes.
A record gets the time at which it is sent again as its timestamp: an old one would set its key's clock back.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from eml.local.connection import librdkafka_properties
from eml.local.errors import UnreachableError
from eml.local.registered import RegisteredSchemas
from eml.local.topic_reader import TopicConsumer
from eml.operations import newest
from eml.operations.dead_letter_check import RecordCheck
from eml.operations.dead_letter_repair import Repair, UnrepairableError, to_send
from eml.operations.dead_letters import Filter, Found, by_reason, named, read
from eml.operations.text import plain
from eml.settings import KafkaSettings, Settings
from eml.stream.records import Raw
from eml.terminal import OK, PROBLEM, USAGE, CommandError, progress, write_json

DELIVERY_TIMEOUT_MS = 30_000
LEFT_OUT_SHOWN = 10
BY_KEY = -1  # the partition that the partitioner chooses
Delivered = Callable[[KafkaError | None, Message], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked for."""

    names: Sequence[str]  # of dead letters; empty: those that `wanted` takes
    wanted: Filter
    repair: Repair
    dry_run: bool
    yes: bool
    unchecked: bool
    as_json: bool


@dataclass(slots=True)
class Plan:
    """What will be sent, and what will not."""

    ready: list[tuple[Found, Raw]] = field(default_factory=list)
    left_out: list[tuple[Found, str]] = field(default_factory=list)


def replay(settings: Settings, options: Options) -> int:
    """Send what can be sent; the exit status."""
    with TopicConsumer(settings.kafka) as consumer:
        found = _chosen(consumer, settings, options)
        plan = _plan(consumer, settings, options, found)
        partitions = frozenset(consumer.spans(sorted({raw.position.topic for _, raw in plan.ready})))
    if not options.as_json:
        _tell(plan)
    sent = 0
    if plan.ready and not options.dry_run and (options.yes or _agreed(len(plan.ready))):
        sent = _send(settings.kafka, [raw for _, raw in plan.ready], partitions)
    if options.as_json:
        write_json(_fields(plan, sent))
    elif plan.ready:
        sys.stdout.write(f"{sent} sent\n" if not options.dry_run else "a dry run: nothing was sent\n")
    done = options.dry_run or sent == len(plan.ready)
    return PROBLEM if plan.left_out or not done else OK


def _chosen(consumer: TopicConsumer, settings: Settings, options: Options) -> list[Found]:
    """The dead letters, in the order in which their records came."""
    if options.names:
        return named(consumer, settings, options.names)
    found: list[Found] = []

    def take(raw: Raw) -> None:
        one = read(raw, settings)
        if options.wanted.takes(one):
            found.append(one)

    with progress(f"reading {settings.kafka.dead_letters_topic}"):
        newest.every(consumer, settings.kafka.dead_letters_topic, take)
    if not found:
        raise CommandError("there is no such dead letter (`eml dead-letters list` shows their reasons and keys)")
    return sorted(found, key=lambda one: (one.letter.topic, one.letter.partition or 0, one.letter.offset or 0))


def _plan(consumer: TopicConsumer, settings: Settings, options: Options, found: Sequence[Found]) -> Plan:
    plan, schemas = Plan(), RegisteredSchemas(settings)
    sources = {settings.kafka.readings_topic, settings.kafka.labels_topic} - {""}

    def original(topic: str, partition: int, offset: int) -> Raw | None:
        return newest.one(consumer, topic, partition, offset)

    with ExitStack() as leaving, progress("looking at the records"):
        leaving.callback(schemas.close)
        check = None if options.unchecked else leaving.enter_context(RecordCheck(settings))
        for one in found:
            if one.letter.topic not in sources:  # anybody may write a dead letter, and name any topic
                what = f"its topic {plain(one.letter.topic)!r} is neither kafka.readings_topic nor kafka.labels_topic"
                plan.left_out.append((one, what))
                continue
            try:
                raw = to_send(one, options.repair, schemas.schema, original, settings.record)
            except UnrepairableError as error:
                plan.left_out.append((one, str(error)))
                continue
            problem = "" if check is None else check.problem(raw)
            if problem:
                plan.left_out.append((one, f"it would be a dead letter again, {plain(problem, 500)}"))
            else:
                plan.ready.append((one, raw))
    return plan


def _tell(plan: Plan) -> None:
    if plan.ready:
        topics = ", ".join(sorted({raw.position.topic for _, raw in plan.ready}))
        reasons = by_reason(one.letter.reason for one, _ in plan.ready)
        sys.stdout.write(f"{len(plan.ready)} to send again to {topics}: {reasons}\n")
    for one, why in plan.left_out[:LEFT_OUT_SHOWN]:
        sys.stdout.write(f"left out: {one.place}, {plain(one.key) or 'no key'}: {why}\n")
    if len(plan.left_out) > LEFT_OUT_SHOWN:
        sys.stdout.write(f"left out: {len(plan.left_out) - LEFT_OUT_SHOWN} more\n")
    sys.stdout.flush()


def _fields(plan: Plan, sent: int) -> dict[str, object]:
    return {
        "ready": [one.place for one, _ in plan.ready],
        "left_out": [{"place": one.place, "reason": one.letter.reason, "why": why} for one, why in plan.left_out],
        "sent": sent,
    }


def _agreed(count: int) -> bool:
    if not sys.stdin.isatty():
        raise CommandError(f"nobody is asked here whether to send {count} records: say --yes, or --dry-run", USAGE)
    return input(f"Send {count} records again? [y/N] ").strip().lower() in {"y", "yes"}


# -- sending -----------------------------------------------------------------------------------------------------------


def _send(kafka: KafkaSettings, records: Sequence[Raw], partitions: frozenset[tuple[str, int]]) -> int:
    """Send them and wait until the broker has all; how many they are."""
    failed: list[KafkaError] = []
    delivered = 0

    def on_delivery(error: KafkaError | None, _message: Message) -> None:
        nonlocal delivered
        if error is None:
            delivered += 1
        else:
            failed.append(error)

    producer = Producer(_properties(kafka))
    for raw in records:
        _produce(producer, raw, partitions, on_delivery)
    with progress("sending"):
        producer.flush(DELIVERY_TIMEOUT_MS / 1000 + 1)
    if failed or delivered < len(records):
        why = failed[0].str() if failed else "the broker does not answer"
        raise UnreachableError(f"only {delivered} of {len(records)} were sent ({why}): look at the broker.")
    return delivered


def _properties(kafka: KafkaSettings) -> dict[str, object]:
    return {
        **librdkafka_properties(kafka.properties),
        "bootstrap.servers": kafka.bootstrap_servers,
        "enable.idempotence": True,  # nothing twice, and in order
        "partitioner": "murmur2_random",  # as Java's producers choose, where the record's own partition is gone
        "message.timeout.ms": DELIVERY_TIMEOUT_MS,
        "log_level": 0,
    }


def _produce(producer: Producer, raw: Raw, partitions: frozenset[tuple[str, int]], on_delivery: Delivered) -> None:
    place = raw.position
    partition = place.partition if (place.topic, place.partition) in partitions else BY_KEY
    while True:
        try:
            producer.produce(
                place.topic,
                raw.value,
                raw.key.encode("latin-1") or None,
                headers=list(raw.headers.items()),
                partition=partition,
                on_delivery=on_delivery,
            )
        except BufferError:
            producer.poll(0.5)  # the queue is full: what was sent meanwhile makes room
        except KafkaException as error:
            raise UnreachableError(f"a record cannot be sent: {error.args[0].str()}.") from None
        else:
            producer.poll(0)
            return
