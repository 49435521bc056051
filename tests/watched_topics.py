"""Writes what `tests.watched` makes up to real topics, under schemas of a real registry, as a job does it.

Called by the real-stack test of the live page and by its measurement.
"""

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from confluent_kafka import Producer

from eml.local import topics
from eml.settings import KafkaSettings, RecordSettings, RegistrySettings, Settings
from eml.stream.output.schemas import schema_text
from eml.stream.registry.client import SchemaRegistry
from eml.stream.wire import frame
from tests.watched import IDS, Said, framed

NAMES = {"predictions": "prediction", "scores": "score", "evolutions": "evolution"}
REGISTRY_TIMEOUT_MS = 15_000  # its first answers are slow
FLUSH_S = 60.0
READING_BYTES = 3 * 8  # three doubles


def readings_schema(version: int) -> str:
    """Of the readings that the made-up predictions are about."""
    names = [["temperature", "speed", "oil_pressure"], ["temperature", "rpm", "acoustic"]][version - 1]
    fields: list[dict[str, object]] = [{"name": name, "type": "double", "default": 0.0} for name in names]
    if version == 2:
        fields[1]["aliases"] = ["speed"]
    return json.dumps({"type": "record", "name": "Reading", "fields": fields})


@dataclass(slots=True)
class Writer:
    """A job's topics with a prefix of their own."""

    bootstrap_servers: str
    registry_url: str
    prefix: str = field(default_factory=lambda: f"watched-{uuid.uuid4().hex[:8]}-")
    written: int = 0
    _ids: dict[str, int] = field(default_factory=dict)
    _versions: dict[int, int] = field(default_factory=dict)
    _producer: Producer = field(init=False)

    def __post_init__(self) -> None:
        self._producer = Producer({"bootstrap.servers": self.bootstrap_servers, "linger.ms": 20, "log_level": 0})

    @classmethod
    def of(cls, bootstrap_servers: str, registry_url: str) -> Self:
        """One whose schemas are registered."""
        writer = cls(bootstrap_servers, registry_url)
        writer.register()
        return writer

    @property
    def settings(self) -> Settings:
        """Those of the job whose topics these are."""
        kafka = KafkaSettings(
            bootstrap_servers=self.bootstrap_servers,
            readings_topic=f"{self.prefix}readings",
            predictions_topic=f"{self.prefix}predictions",
            scores_topic=f"{self.prefix}scores",
            evolutions_topic=f"{self.prefix}evolutions",
            dead_letters_topic=f"{self.prefix}dead-letters",
        )
        return Settings(kafka, RegistrySettings(url=self.registry_url, timeout_ms=REGISTRY_TIMEOUT_MS))

    @property
    def topics(self) -> tuple[str, ...]:
        """Without the prefix."""
        return ("readings", *NAMES, "dead-letters")

    def create(self, *names: str) -> None:
        """Make topics."""
        topics.create(self.bootstrap_servers, [f"{self.prefix}{name}" for name in names])

    def remove(self, *names: str) -> None:
        """Remove topics."""
        topics.remove(self.bootstrap_servers, [f"{self.prefix}{name}" for name in names])

    def register(self) -> None:
        """Register all schemas."""
        settings = RegistrySettings(url=self.registry_url, timeout_ms=REGISTRY_TIMEOUT_MS)
        registry = SchemaRegistry(settings, RecordSettings())
        try:
            for topic, name in NAMES.items():
                self._ids[topic] = registry.register(f"{self.prefix}{topic}-value", schema_text(name))
            for version in (1, 2):
                subject = f"{self.prefix}readings-value"
                self._versions[IDS[version]] = registry.register(subject, readings_schema(version))
        finally:
            registry.close()

    def write(self, said: Iterable[Said]) -> None:
        """Write records; they are there afterwards."""
        for each in said:
            self.put(each)
        self.flush()

    def put(self, said: Said) -> None:
        """Write a record soon."""
        if said.topic == "dead-letters":
            value, headers = b"\0\0\0\0\x07nonsense", dict(said.fields)
        else:
            value, headers = framed(NAMES[said.topic], self._real(said), self._ids[said.topic]), {}
        self._produce(said.topic, value, said.key, said.time_ms + 40, headers)
        self.written += 1

    def put_reading(self, said: Said) -> None:
        """Write the reading that a prediction is about."""
        value = frame(self._versions[said.fields["schema_id"]], bytes(READING_BYTES))
        self._produce("readings", value, said.key, said.fields["source_timestamp"], {})

    def _produce(
        self, topic: str, value: bytes, key: str, time_ms: int, headers: dict[str, str | bytes | None]
    ) -> None:
        while True:
            try:
                self._producer.produce(f"{self.prefix}{topic}", value, key.encode(), timestamp=time_ms, headers=headers)
            except BufferError:
                self._producer.poll(0.1)
            else:
                return

    def poll(self) -> None:
        """Let the client work."""
        self._producer.poll(0)

    def flush(self) -> None:
        """Wait until all is written."""
        left = self._producer.flush(FLUSH_S)
        assert not left, f"{left} records could not be written"

    def _real(self, said: Said) -> dict[str, object]:
        """The fields with the registry's ids and the topics' names."""
        fields = said.fields | {"source_topic": f"{self.prefix}readings"}
        for name in ("schema_id", "old_schema_id", "new_schema_id"):
            if name in fields:
                fields[name] = self._versions.get(fields[name], fields[name])
        for name in ("old_subject", "new_subject"):
            if name in fields:
                fields[name] = f"{self.prefix}readings-value"
        return fields
