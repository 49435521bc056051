"""The fleet's schema versions in the registry, each from the moment it is needed.

Made by `demo`; asked by `sender` for ids, and by `controls` for what is behind an id. Calls `stream.registry.client`.
"""

from eml.settings import RecordSettings, RegistrySettings
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.output.schemas import schema_text
from eml.stream.registry.client import SchemaRegistry
from eml.stream.wire import SchemaId

REGISTRY_TIMEOUT_MS = 15_000  # its first answers are slow


class Registrar:
    """Registers the fleet's schema versions, each when it is asked for, and keeps them compiled for the controls."""

    def __init__(self, url: str, readings: str) -> None:
        self.schemas: dict[int, ReadingSchema] = {}
        self._subject = f"{readings}-value"
        self._registry = SchemaRegistry(RegistrySettings(url=url, timeout_ms=REGISTRY_TIMEOUT_MS), RecordSettings())
        self.close = self._registry.close

    def register(self, version: int) -> int:
        """The id of a version's schema."""
        text = schema_text(f"readings/v{version}")
        schema_id = self._registry.register(self._subject, text)
        self.schemas[schema_id] = compile_schema(text, SchemaId(schema_id), self._subject, version, RecordSettings())
        return schema_id
