"""Schemas as the registry has them: text, subject and version of an id.

Called by `capture`; calls `http_client`. `stream.registry.client` gives the job compiled schemas and never waits; a
tool wants the text, and has the time.
"""

from dataclasses import replace
from typing import Any

from eml.local.errors import CaptureError, UnreachableError
from eml.local.record_lines import Registered
from eml.settings import Settings
from eml.stream.avro.reading_schema import compile_schema
from eml.stream.errors import BadSchemaError
from eml.stream.registry import answers
from eml.stream.registry.client import AROUND_SCHEMA
from eml.stream.registry.http_client import Answer, AnswerError, RegistryHttp
from eml.stream.registry.subjects import Subjects, newest_version
from eml.stream.wire import SchemaId

TIMEOUT_MS = 15_000  # a registry's first answers are slow, and nothing waits behind us


class RegisteredSchemas:
    """Asks for schemas by their ids; of several subjects of a schema it names the one that the job takes."""

    def __init__(self, settings: Settings) -> None:
        patient = replace(settings.registry, timeout_ms=max(settings.registry.timeout_ms, TIMEOUT_MS))
        self._http = RegistryHttp(patient, 2 * settings.record.max_schema_bytes + AROUND_SCHEMA)
        self._record, self._subjects = settings.record, Subjects.of(settings)
        self.close = self._http.close

    def schema(self, name: int | str) -> Registered | None:
        """The schema; None where the registry has none with this id or GUID that is Avro and stands alone."""
        schema_id = name if isinstance(name, int) else self._id_of(name)
        if schema_id is None:
            return None
        answer = self._ask(f"/schemas/ids/{schema_id}")
        text = _avro_text(answer)
        if text is None:
            return None
        subject, version = self._place(text, _places(self._ask(f"/schemas/ids/{schema_id}/versions")))
        return Registered(0, schema_id, subject, version, text)

    def _id_of(self, guid: str) -> int | None:
        try:
            return answers.id_of_guid(self._ask(f"/schemas/guids/{guid}/ids"))
        except AnswerError as error:
            raise CaptureError(f"The registry at {self._http.url}: {error}. Look at registry.url.") from None

    def _place(self, text: str, places: list[tuple[str, int]]) -> tuple[str, int]:
        """Of the subjects and versions of a schema the one that the job takes; ("", 0) where there are none."""
        if not places:
            return "", 0
        try:
            schema = self._subjects.resolve(compile_schema(text, SchemaId(0), "", 0, self._record), places)
        except BadSchemaError:  # the job's business: dead letters
            return newest_version(None, places)
        return schema.subject, schema.version

    def _ask(self, path: str) -> Answer:
        try:
            answer = self._http.ask("GET", path)
        except AnswerError as error:
            raise UnreachableError(f"The registry at {self._http.url}: {error}. Look at registry.url.") from None
        if answer.status not in (200, 404):
            raise CaptureError(f"The registry at {self._http.url} answers {answer.message}. Look at registry.url.")
        return answer


def _avro_text(answer: Answer) -> str | None:
    body: Any = answer.body if answer.status == 200 else None
    if not isinstance(body, dict) or body.get("references") or (body.get("schemaType") or "AVRO") != "AVRO":
        return None
    text = body.get("schema")
    return text if isinstance(text, str) else None


def _places(answer: Answer) -> list[tuple[str, int]]:
    body: Any = answer.body if answer.status == 200 else []
    return [(place["subject"], place["version"]) for place in body or []]
