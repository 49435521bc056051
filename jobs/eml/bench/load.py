"""The benchmark's input: readings of 64 doubles, sent to Kafka before any pipeline starts.

Called by `stream`; knows Kafka and the readings' schema, and nothing of the pipelines.
"""

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO

import fastavro
import numpy as np
from confluent_kafka import KafkaError, Message, Producer

from eml.core.arrays import Array
from eml.local.errors import LocalError
from eml.stream.wire import frame

FEATURES = 64
CLASSES = 4
SEPARATION = 0.5  # of the classes' centres, in standard deviations: neither hopeless nor trivial
FIRST = 64  # records of each key that are labelled, so that it has its model: windows of 8, 8, 16 and 32
PIECE = 10_000  # records whose values are drawn together
PRODUCER = {
    "enable.idempotence": True,  # nothing twice, and in order
    "linger.ms": 50,
    "batch.size": 500_000,
    "message.timeout.ms": 60_000,
    "log_level": 0,  # what matters comes as an error
}

RESERVED: list[dict[str, object]] = [
    {"name": "sensor_id", "type": "string"},
    {"name": "event_id", "type": "string"},
    {"name": "event_time", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "label", "type": ["null", "string"], "default": None},
]
MEASURED: list[dict[str, object]] = [{"name": f"f{i}", "type": "double"} for i in range(FEATURES)]
SCHEMA = json.dumps({"type": "record", "name": "BenchReading", "fields": RESERVED + MEASURED})
HEAD = fastavro.parse_schema({"type": "record", "name": "Head", "fields": RESERVED})


@dataclass(frozen=True, slots=True)
class Load:
    """What is sent: `records` readings of `keys` devices, which take turns."""

    keys: int
    records: int
    labelled: float  # share of the records with a label, beside the first ones of each key
    seed: int = 0

    def readings(self, schema_id: int) -> Iterator[tuple[bytes, bytes]]:
        """Kafka key and value of each record; a key's first ones are labelled, so that it soon has a model."""
        rng = np.random.default_rng(self.seed)
        centres = rng.normal(size=(CLASSES, FEATURES)) * SEPARATION
        now_ms = int(time.time() * 1000)
        for start in range(0, self.records, PIECE):
            count = min(PIECE, self.records - start)
            classes = rng.integers(CLASSES, size=count)
            values = rng.normal(size=(count, FEATURES)) + centres[classes]
            labelled = rng.random(count) < self.labelled
            labelled |= np.arange(start, start + count) // self.keys < FIRST
            for i in range(count):
                key = f"device-{(start + i) % self.keys}"
                label = f"state-{classes[i]}" if labelled[i] else None
                yield key.encode(), _value(schema_id, key, start + i, now_ms, label, values[i])


def _value(schema_id: int, key: str, number: int, now_ms: int, label: str | None, values: Array) -> bytes:
    """A record's framed Avro: the reserved fields by fastavro, and doubles are in Avro what they are in memory."""
    payload = BytesIO()
    head = {"sensor_id": key, "event_id": f"event-{number}", "event_time": now_ms, "label": label}
    fastavro.schemaless_writer(payload, HEAD, head)
    payload.write(values.astype("<f8").tobytes())
    return frame(schema_id, payload.getvalue())


def send(bootstrap_servers: str, topic: str, readings: Iterable[tuple[bytes, bytes]]) -> None:
    """Send everything, and wait until it is there."""
    failed: list[KafkaError] = []

    def delivered(error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer({"bootstrap.servers": bootstrap_servers, **PRODUCER})
    for key, value in readings:
        try:
            producer.produce(topic, value, key, on_delivery=delivered)
        except BufferError:  # its queue is full
            producer.flush()
            producer.produce(topic, value, key, on_delivery=delivered)
        producer.poll(0)
    producer.flush()
    if failed:
        raise LocalError(f"{len(failed)} records could not be sent: {failed[0].str()}. Is the broker still there?")
