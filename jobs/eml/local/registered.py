"""Schemas as the registry has them: text, subject and version of an id.

Called by `capture`; calls `registry_http`. `stream.registry` gives the job compiled schemas and never waits; a tool
wants the text, and has the time.
"""

from dataclasses import replace
from typing import Any

from eml.local.errors import CaptureError
from eml.local.record_lines import Registered
from eml.settings import RecordSettings, RegistrySettings
from eml.stream.registry import AROUND_SCHEMA
from eml.stream.registry_http import Answer, AnswerError, RegistryHttp

TIMEOUT_MS = 15_000  # a registry's first answers are slow, and nothing waits behind us


class RegisteredSchemas:
    """Asks for schemas by their ids; `subject` is the one to prefer where a schema belongs to several."""

    def __init__(self, registry: RegistrySettings, record: RecordSettings, subject: str) -> None:
        patient = replace(registry, timeout_ms=max(registry.timeout_ms, TIMEOUT_MS))
        self._http = RegistryHttp(patient, 2 * record.max_schema_bytes + AROUND_SCHEMA)
        self._subject = subject
        self.close = self._http.close

    def schema(self, schema_id: int) -> Registered | None:
        """The schema; None where the registry has none with this id that is Avro and stands alone."""
        answer = self._ask(f"/schemas/ids/{schema_id}")
        text = _avro_text(answer)
        if text is None:
            return None
        subject, version = preferred(_places(self._ask(f"/schemas/ids/{schema_id}/versions")), self._subject)
        return Registered(0, schema_id, subject, version, text)

    def _ask(self, path: str) -> Answer:
        try:
            answer = self._http.ask("GET", path)
        except AnswerError as error:
            raise CaptureError(f"The registry at {self._http.url}: {error}. Look at registry.url.") from None
        if answer.status not in (200, 404):
            raise CaptureError(f"The registry at {self._http.url} answers {answer.message}. Look at registry.url.")
        return answer


def preferred(places: list[tuple[str, int]], subject: str) -> tuple[str, int]:
    """Of the subjects and versions of a schema the one that the job takes; ("", 0) where there are none."""
    if not places:
        return "", 0
    chosen = subject if any(name == subject for name, _ in places) else places[0][0]
    return chosen, max(version for name, version in places if name == chosen)


def _avro_text(answer: Answer) -> str | None:
    body: Any = answer.body if answer.status == 200 else None
    if not isinstance(body, dict) or body.get("references") or (body.get("schemaType") or "AVRO") != "AVRO":
        return None
    text = body.get("schema")
    return text if isinstance(text, str) else None


def _places(answer: Answer) -> list[tuple[str, int]]:
    body: Any = answer.body if answer.status == 200 else []
    return [(place["subject"], place["version"]) for place in body or []]
