"""The soak's traffic: readings of many keys through three versions, hostile records among them, at a given rate."""

import itertools
import time
from collections.abc import Iterator

from confluent_kafka import KafkaError, Message, Producer

from eml.local.fleet import VERSIONS, Machine
from eml.local.messages import ReadingWriter
from eml.stream.wire import frame
from tests.hostile.cases import all_cases
from tests.hostile.ledger import Ledger
from tests.hostile.site import LABELS, Hostile, Site
from tests.hostile.traffic import PRODUCER

HOSTILE_EVERY = 20  # records
LARGE, LARGE_EVERY_S = 50_000, 2.0  # bytes of a hostile record that is sent seldom: otherwise only bytes are measured
PER_KEY = 200  # different readings of a key and version
PER_VERSION = 600  # records of a key until its next version: all models of a key are there after a few minutes
TICK_S = 0.05
FLOOD, FIRST_UNKNOWN = "flood-of-unknown-ids", 1_000_000

One = tuple[bytes | None, bytes | None, list[tuple[str, str | bytes | None]], bool]  # key, value, headers, silent


class Mix:
    """An endless mixture; the same for the same number of keys."""

    def __init__(self, site: Site, writers: list[ReadingWriter], keys: int) -> None:
        self._pools = [_pool(f"good-{number}", writers, number) for number in range(keys)]
        records = [each for each in all_cases(site) if each.topic != LABELS and each.case != "many-labels"]
        self._small = [each for each in records if _size(each) < LARGE]
        self._large = [each for each in records if _size(each) >= LARGE]
        self._large_due = 0.0

    def records(self) -> Iterator[One]:
        """Good ones of all keys in turn, every so often a hostile one."""
        good, small, large = (
            self._good(),
            itertools.cycle(self._small or [None]),
            itertools.cycle(self._large or [None]),
        )
        for number in itertools.count(1):
            yield next(good)
            if number % HOSTILE_EVERY == 0 and (record := next(small)) is not None:
                yield _hostile(record, number)
            if self._large and time.monotonic() > self._large_due and (record := next(large)) is not None:
                self._large_due = time.monotonic() + LARGE_EVERY_S
                yield _hostile(record, number)

    def _good(self) -> Iterator[One]:
        for number in itertools.count():
            version = number // PER_VERSION % len(VERSIONS)
            for pool in self._pools:
                key, values = pool[version]
                yield key, values[number % PER_KEY], [], False


def _size(record: Hostile) -> int:
    return len(record.value or b"") + len(record.key or b"") + sum(len(value or b"") for _, value in record.headers)


def _hostile(record: Hostile, number: int) -> One:
    value = record.value
    if record.case == FLOOD:  # another id each time
        value = frame(FIRST_UNKNOWN + number, b"x")
    return record.key, value, list(record.headers), value is None


def _pool(key: str, writers: list[ReadingWriter], seed: int) -> list[tuple[bytes, list[bytes]]]:
    machine = Machine(seed, labelled=0.4)
    return [
        (
            key.encode(),
            [writer.write(key, f"{n}", n, reading) for n, reading in enumerate(machine.readings(space, PER_KEY))],
        )
        for writer, space in zip(writers, VERSIONS, strict=True)
    ]


class Sender:
    """Sends the mixture in ticks."""

    def __init__(self, bootstrap_servers: str, topic: str, mix: Mix, ledger: Ledger) -> None:
        self._producer = Producer({**PRODUCER, "bootstrap.servers": bootstrap_servers, "compression.type": "lz4"})
        self._topic = topic
        self._records = mix.records()
        self._ledger = ledger
        self._due = time.monotonic()
        self.refused: list[str] = []

    def tick(self, rate: float) -> None:
        """What is due since the last tick, at `rate` records per second."""
        now = time.monotonic()
        for _ in range(round(rate * min(now - self._due, 1.0))):
            key, value, headers, silent = next(self._records)
            self._producer.produce(
                self._topic, value, key, headers=headers, on_delivery=self._silent if silent else self._loud
            )
        self._due = now
        self._producer.poll(0)

    def flush(self) -> None:
        """Wait until all is sent."""
        self._producer.flush()

    def _loud(self, error: KafkaError | None, message: Message) -> None:
        self._delivered(error, message, silent=False)

    def _silent(self, error: KafkaError | None, message: Message) -> None:
        self._delivered(error, message, silent=True)

    def _delivered(self, error: KafkaError | None, message: Message, *, silent: bool) -> None:
        if error is not None:
            self.refused = [*self.refused, error.str()][:5]
        else:
            self._ledger.was_sent(int(message.partition() or 0), int(message.offset() or 0), silent=silent)
