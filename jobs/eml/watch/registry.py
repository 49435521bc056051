"""What the registry says: texts of schemas, which versions they are, and what versions there are of a subject.

Asked by `decoding` and by the page for single schemas, and now and then by `schema_watch` for all subjects. Calls the
job's own `stream.registry` for the connection. Read-only; one question at a time, whoever asks; what was found is kept.
"""

import time
from collections.abc import Callable
from threading import Lock
from typing import TypeVar
from urllib.parse import quote

from eml.settings import Settings
from eml.stream.avro.key_schema import compile_key
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.errors import BadSchemaError, RegistryRefusedError, RegistryUnavailableError
from eml.stream.keys import ReadKey
from eml.stream.registry import answers
from eml.stream.registry.client import AROUND_SCHEMA
from eml.stream.registry.connection import RegistryConnection
from eml.stream.registry.field_report import SUBJECTS, candidates
from eml.stream.registry.http_client import Answer
from eml.stream.registry.subjects import Subjects
from eml.stream.wire import SchemaId
from eml.watch.evolution_group import version_name

VERSIONS = 12  # of a subject, the newest
TEXTS = 1_000  # kept
UNAVAILABLE = (RegistryUnavailableError, RegistryRefusedError)
_T = TypeVar("_T")


class Registry:
    """A registry with Confluent's API."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        longest = 2 * settings.record.max_schema_bytes + AROUND_SCHEMA
        self._connection = RegistryConnection(settings.registry, longest, time.monotonic)
        self._lock = Lock()
        self._texts: dict[int, str | None] = {}
        self._compiled: dict[tuple[str, int], ReadingSchema | None] = {}

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def text(self, schema_id: int) -> str | None:
        """A schema; None where there is none that is Avro and stands alone, or the registry cannot be had now."""
        try:
            return self._text(schema_id)
        except UNAVAILABLE:
            return None

    def key_reader(self, schema_id: SchemaId) -> ReadKey:
        """What reads the name in keys that a schema wrote."""
        text = self.text(schema_id)
        if text is None:
            raise BadSchemaError("unknown-schema", f"schema {schema_id} cannot be had")
        return compile_key(text, self._settings.record)

    def named(self, schema_id: int) -> str | None:
        """Subject and version of a schema of readings; None where the registry names none."""
        text = self._text(schema_id)
        places = self._ask(f"/schemas/ids/{schema_id}/versions", answers.subject_versions)
        if text is None or not places:
            return None
        schema = compile_schema(text, SchemaId(schema_id), "", 0, self._settings.record)
        resolved = Subjects.of(self._settings).resolve(schema, places)
        return version_name(resolved.subject, resolved.version)

    def subjects(self) -> dict[str, list[ReadingSchema]]:
        """The newest versions of each subject that readings may have, the oldest first."""
        names = candidates(self._ask("/subjects", answers.subjects), self._settings)[:SUBJECTS]
        found = {subject: self._versions(subject) for subject in names}
        return {subject: versions for subject, versions in found.items() if versions}

    def _versions(self, subject: str) -> list[ReadingSchema]:
        numbers = self._ask(f"/subjects/{quote(subject, safe='')}/versions", answers.version_numbers)[-VERSIONS:]
        for number in numbers:
            if (subject, number) not in self._compiled:
                self._compiled[subject, number] = self._version(subject, number)
        return [schema for number in numbers if (schema := self._compiled[subject, number]) is not None]

    def _version(self, subject: str, number: int) -> ReadingSchema | None:
        """One version, where readings can have it."""
        answer = self._ask(f"/subjects/{quote(subject, safe='')}/versions/{number}", answers.newest)
        if answer is None or answer.too_long:
            return None
        try:
            text, schema_id = answers.avro_text(answer), SchemaId(answer.body["id"])
            schema = compile_schema(text, schema_id, subject, number, self._settings.record)
        except BadSchemaError:
            return None  # its records are dead letters
        return schema if schema.space.names else None

    def _text(self, schema_id: int) -> str | None:
        if schema_id not in self._texts:
            answer = self._ask(f"/schemas/ids/{schema_id}", answers.schema)
            if len(self._texts) >= TEXTS:
                self._texts.clear()
            self._texts[schema_id] = _avro_text(answer)
        return self._texts[schema_id]

    def _ask(self, path: str, read: Callable[[Answer], _T]) -> _T:
        with self._lock:
            return self._connection.ask("GET", path, read)


def _avro_text(answer: Answer) -> str | None:
    try:
        return None if answer.status != 200 else answers.avro_text(answer)
    except BadSchemaError:
        return None
