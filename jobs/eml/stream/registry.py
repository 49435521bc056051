"""The schema registry as the stream sees it: from a schema id to a compiled schema.

`fleet` asks for the schema of every record, which is a look-up in a dict; the rest of this module is about the first
time. Calls `registry_http` and `schema`; `pacing` says when not to ask. It never waits or retries by itself: an error
says how long to keep the record. One instance per operator, used by one thread.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import quote

from eml.settings import RecordSettings, RegistrySettings
from eml.stream.avro_types import shown, unsupported
from eml.stream.errors import BadSchemaError, IncompatibleSchemaError, RegistryUnavailableError
from eml.stream.pacing import Allowance, Backoff
from eml.stream.registry_http import Answer, AnswerError, RegistryHttp
from eml.stream.schema import ReadingSchema, compile_schema

UNKNOWN = "unknown-schema"
AROUND_SCHEMA = 65_536  # bytes of an answer beside the schema itself
_T = TypeVar("_T")


class SchemaRegistry:
    """A registry with Confluent's API; `subject` is the one to prefer where a schema belongs to several."""

    def __init__(
        self,
        settings: RegistrySettings,
        record: RecordSettings,
        clock: Callable[[], float] = time.monotonic,
        *,
        subject: str = "",
    ) -> None:
        self._settings = settings
        self._record = record
        self._clock = clock
        self._subject = subject
        # Inside JSON a schema's quotes are escaped, which at worst doubles it.
        self._http = RegistryHttp(settings, 2 * record.max_schema_bytes + AROUND_SCHEMA)
        self._backoff = Backoff(settings.retry_ms / 1000, settings.longest_retry_ms / 1000)
        self._allowance = Allowance(settings.lookups_per_second, clock())
        self._why = ""  # of the last failure
        self._known: OrderedDict[int, ReadingSchema | BadSchemaError] = OrderedDict()  # the least recently used first
        self._unknown: OrderedDict[int, float] = OrderedDict()  # id -> until when; the oldest first

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    # -- look-ups --------------------------------------------------------------------------------------------------

    def reading_schema(self, schema_id: int) -> ReadingSchema:
        """The schema with this id, from memory if it was asked for before."""
        found = self._known.get(schema_id)
        if found is None:
            found = self._look_up(schema_id)
            self._known[schema_id] = found
            if len(self._known) > self._settings.cached_schemas:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(schema_id)
        if isinstance(found, BadSchemaError):
            raise BadSchemaError(found.reason, str(found))  # a new one: tracebacks would pile up in the old one
        return found

    def _look_up(self, schema_id: int) -> ReadingSchema | BadSchemaError:
        unknown = BadSchemaError(UNKNOWN, f"the registry does not know schema {schema_id}")
        if self._unknown.get(schema_id, -math.inf) > self._clock():
            raise unknown
        self._take_turn()
        answer = self._ask("GET", f"/schemas/ids/{schema_id}", _schema)
        if answer.status == HTTPStatus.NOT_FOUND:
            self._remember_unknown(schema_id)
            raise unknown
        try:
            text = _avro_text(answer)
            return compile_schema(text, schema_id, *self._place(schema_id), self._record)
        except BadSchemaError as error:
            return BadSchemaError(error.reason, f"schema {schema_id}: {error}")

    def _remember_unknown(self, schema_id: int) -> None:
        self._unknown.pop(schema_id, None)
        self._unknown[schema_id] = self._clock() + self._settings.unknown_id_ttl_ms / 1000
        if len(self._unknown) > self._settings.unknown_ids:
            self._unknown.popitem(last=False)

    def _place(self, schema_id: int) -> tuple[str, int]:
        """Subject and version of a schema; ("", 0) if the registry names none."""
        places = self._ask("GET", f"/schemas/ids/{schema_id}/versions", _places)
        if not places:
            return "", 0
        subject = self._subject if any(name == self._subject for name, _ in places) else places[0][0]
        return subject, max(version for name, version in places if name == subject)

    def latest_version(self, subject: str) -> tuple[int, int] | None:
        """Id and version of a subject's newest schema; None where the subject does not exist."""
        self._take_turn()
        return self._ask("GET", f"/subjects/{quote(subject, safe='')}/versions/latest", _id_and_version)

    # -- tools and job start ---------------------------------------------------------------------------------------

    def register(self, subject: str, text: str) -> int:
        """Register a schema, unless the subject has it already; its id."""
        answer = self._ask("POST", f"/subjects/{quote(subject, safe='')}/versions", _registered, {"schema": text})
        if answer.status == HTTPStatus.CONFLICT:
            raise IncompatibleSchemaError(f"{shown(subject)} does not take the schema: {answer.message}")
        if answer.status >= 400:
            raise unsupported(f"the registry cannot read the schema for {shown(subject)}: {answer.message}")
        return int(answer.body["id"])

    def check(self) -> None:
        """Whether a registry stands at the address and lets us in; raises what is wrong."""
        self._ask("GET", "/subjects", _subjects)

    # -- asking ----------------------------------------------------------------------------------------------------

    def _take_turn(self) -> None:
        """Count a look-up, unless it has to wait."""
        self._refuse_in_backoff()
        wait_s = self._allowance.wait_s(self._clock())
        if wait_s:
            raise RegistryUnavailableError(
                f"more than {self._settings.lookups_per_second:g} look-ups per second (registry.lookups_per_second)",
                _whole_ms(wait_s),
            )

    def _refuse_in_backoff(self) -> None:
        wait_s = self._backoff.wait_s(self._clock())
        if wait_s:
            raise RegistryUnavailableError(self._why, _whole_ms(wait_s))

    def _ask(self, method: str, path: str, read: Callable[[Answer], _T], body: object = None) -> _T:
        """Ask, unless a failure is too recent; an answer that `read` does not understand is a failure, too."""
        self._refuse_in_backoff()
        try:
            found = read(self._http.ask(method, path, body))
        except AnswerError as error:
            self._why = f"{self._http.url}: {error}"
            self._backoff.failed(self._clock())
            raise RegistryUnavailableError(self._why, _whole_ms(self._backoff.wait_s(self._clock()))) from None
        self._backoff.succeeded()
        return found


def _whole_ms(seconds: float) -> int:
    return max(1, math.ceil(1000 * seconds))


# -- reading answers: those that say something are taken, at others AnswerError is raised -----------------------------


def _field(body: object, name: str, kind: type[_T]) -> _T:
    found = body.get(name) if isinstance(body, dict) else None
    if not isinstance(found, kind):
        raise AnswerError(f"its answer holds no {name}")
    return found


def _schema(answer: Answer) -> Answer:
    if answer.status == HTTPStatus.OK and not answer.too_long:
        _field(answer.body, "schema", str)
    elif answer.status not in (HTTPStatus.OK, HTTPStatus.NOT_FOUND):
        raise AnswerError(f"it answers {answer.message}")
    return answer


def _avro_text(answer: Answer) -> str:
    """The text of a schema that is not too long, is Avro and stands alone."""
    if answer.too_long:
        raise unsupported("the schema is longer than record.max_schema_bytes")
    kind = answer.body.get("schemaType") or "AVRO"
    if kind != "AVRO":
        raise unsupported(f"it is written in {shown(kind)}; records must be Avro")
    if answer.body.get("references"):
        raise unsupported("it refers to other schemas; write their types into it")
    return _field(answer.body, "schema", str)


def _places(answer: Answer) -> list[tuple[str, int]]:
    """Subjects and versions under which a schema is registered."""
    if answer.status == HTTPStatus.NOT_FOUND or answer.too_long:
        return []
    if answer.status != HTTPStatus.OK or not isinstance(answer.body, list):
        raise AnswerError(f"it answers {answer.message} instead of a schema's versions")
    return [(_field(place, "subject", str), _field(place, "version", int)) for place in answer.body]


def _id_and_version(answer: Answer) -> tuple[int, int] | None:
    if answer.status == HTTPStatus.NOT_FOUND:
        return None
    return _field(answer.body, "id", int), _field(answer.body, "version", int)


def _registered(answer: Answer) -> Answer:
    if answer.status == HTTPStatus.OK:
        _field(answer.body, "id", int)
    elif answer.status not in (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.BAD_REQUEST):
        raise AnswerError(f"it answers {answer.message}")
    return answer


def _subjects(answer: Answer) -> None:
    if answer.status != HTTPStatus.OK or not (answer.too_long or isinstance(answer.body, list)):
        raise AnswerError(f"no registry with Confluent's API stands there ({answer.message}): look at registry.url")
