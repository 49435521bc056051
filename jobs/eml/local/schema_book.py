"""The schemas that a record file has named so far: what the registry is to the job.

Filled by `replay` line by line; asked by `key_model` for the schema of every record and for the newest of a subject.
Calls `reading_schema` to compile. It answers as `stream.registry.client` does, but never has to wait.
"""

from eml.local.record_lines import Registered
from eml.settings import Settings
from eml.stream.avro import schema_warnings
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.errors import BadSchemaError
from eml.stream.registry.client import UNKNOWN
from eml.stream.registry.subjects import Subjects
from eml.stream.wire import SchemaId


class SchemaBook:
    """Schemas by id, and the newest of each subject."""

    def __init__(self, settings: Settings) -> None:
        self._record = settings.record
        self._subjects = Subjects.of(settings)
        self._known: dict[int | str, ReadingSchema | BadSchemaError] = {}  # by id, and by GUID where it has one
        self._newest: dict[str, tuple[int, int]] = {}  # subject -> version and id

    def add(self, registered: Registered) -> None:
        """From now on the schema is known."""
        subject, version = registered.subject, registered.version
        try:
            schema = compile_schema(registered.text, SchemaId(registered.id), "", 0, self._record)
            schema_warnings.log_once(registered.id, schema.ignored, schema.warnings)
            places = [(subject, version)] if subject else []
            self._known[registered.id] = self._subjects.resolve(schema, places)
        except BadSchemaError as error:  # as in the job: a dead letter for every record that it wrote
            self._known[registered.id] = BadSchemaError(error.reason, f"schema {registered.id}: {error}")
        if registered.guid:
            self._known[registered.guid] = self._known[registered.id]
        self._newest[subject] = max(self._newest.get(subject, (0, 0)), (version, registered.id))

    def look_up(self, name: int | str) -> ReadingSchema:
        """The schema with this id, or this GUID."""
        found = self._known.get(name)
        if found is None:
            raise BadSchemaError(UNKNOWN, f"the file names no schema {name}")
        if isinstance(found, BadSchemaError):
            raise BadSchemaError(found.reason, str(found))
        return found

    def newest(self, subject: str) -> ReadingSchema | None:
        """The newest version of a subject; None where there is none, or none that a reading can have."""
        _, schema_id = self._newest.get(subject, (0, -1))
        found = self._known.get(schema_id)
        return found if isinstance(found, ReadingSchema) and len(found.space) and not found.foreign_reading else None
