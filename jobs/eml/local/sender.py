"""The fleet's side of the demonstration: which machine sends what and when, and the sending itself.

`demo` calls `plan` once and `Sender.send_due` again and again; calls `fleet` for the readings and `messages` for the
bytes. A version is registered right before its first record, as a fleet in upgrade does it. Knows nothing of results.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaError, Message, Producer

from eml.local.errors import LocalError
from eml.local.fleet import VERSIONS, Machine, Reading
from eml.local.messages import ReadingWriter

RATE = 100.0  # records per second and machine
EARLY = 0.2  # the share of a version's records that counts as right after the switch
STAGGER = 0.15  # of a version's records: the last machine is upgraded that much later than the first
DELIVERY_TIMEOUT_MS = 30_000


@dataclass(frozen=True, slots=True)
class Planned:
    """A reading that is to be sent."""

    due_s: float  # since the start
    key: str
    event_id: str
    version: int
    early: bool  # right after the switch to its version
    reading: Reading


@dataclass(frozen=True, slots=True)
class Sent:
    """A reading that was sent, and its bytes."""

    planned: Planned
    value: bytes
    timestamp_ms: int


def plan(machines: int, records: int, seed: int) -> list[Planned]:
    """All readings of the fleet in the order of their sending, about `records` per machine and version."""
    fleet = [
        planned
        for number in range(machines)
        for planned in _plan_machine(f"machine-{number + 1}", number / machines, records, seed + number)
    ]
    return sorted(fleet, key=lambda planned: planned.due_s)


def _plan_machine(key: str, place: float, records: int, seed: int) -> list[Planned]:
    """One machine's readings; the further back its place (0 to 1), the later its upgrades."""
    machine, later = Machine(seed), round(place * STAGGER * records)
    counts = [records] * len(VERSIONS)
    counts[0] += later
    counts[-1] -= later
    planned: list[Planned] = []
    for version, (space, count) in enumerate(zip(VERSIONS, counts, strict=True), start=1):
        for number, reading in enumerate(machine.readings(space, count)):
            due_s = (len(planned) + place) / RATE  # they do not all send at the same moment
            early = number < EARLY * count
            planned.append(Planned(due_s, key, f"{key}-{len(planned)}", version, early, reading))
    return planned


class Sender:
    """Sends what is planned when it is due; `register` gives a version's schema id and is called when it is needed."""

    def __init__(
        self, bootstrap_servers: str, topic: str, planned: Sequence[Planned], register: Callable[[int], int]
    ) -> None:
        self._topic = topic
        self._planned = planned
        self._register = register
        self._next = 0
        self._writers: dict[int, ReadingWriter] = {}
        self._failed: KafkaError | None = None
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap_servers,
                "enable.idempotence": True,  # nothing twice, and in order
                "linger.ms": 20,
                "message.timeout.ms": DELIVERY_TIMEOUT_MS,
                "log_level": 0,  # its lines would go across the screen; what matters comes as an error
            }
        )

    @property
    def done(self) -> bool:
        """Whether everything is on its way."""
        return self._next == len(self._planned)

    def send_due(self, elapsed_s: float) -> list[Sent]:
        """Send what is due by now, and return it."""
        self._producer.poll(0)
        sent: list[Sent] = []
        while not self.done and self._planned[self._next].due_s <= elapsed_s:
            sent.append(self._send(self._planned[self._next]))
            self._next += 1
        if self._failed is not None:
            raise LocalError(f"A record could not be sent: {self._failed.str()}. Is the broker still there?")
        return sent

    def _send(self, planned: Planned) -> Sent:
        now_ms = int(time.time() * 1000)
        value = self._writer(planned.version).write(planned.key, planned.event_id, now_ms, planned.reading)
        try:
            self._producer.produce(
                self._topic, value, planned.key.encode(), timestamp=now_ms, on_delivery=self._delivered
            )
        except BufferError as error:
            raise LocalError("The broker takes records too slowly: try fewer machines.") from error
        return Sent(planned, value, now_ms)

    def _writer(self, version: int) -> ReadingWriter:
        if version not in self._writers:
            self._writers[version] = ReadingWriter(version, self._register(version))
        return self._writers[version]

    def _delivered(self, error: KafkaError | None, _message: Message) -> None:
        self._failed = self._failed or error

    def close(self) -> None:
        """Forget what is still on its way."""
        self._producer.purge()
        self._producer.flush(1)
