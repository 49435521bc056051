"""The client of a schema registry: from a schema id to a compiled schema.

`models.record_reader` asks for the schema of every record and `keys` for that of an Avro key, both through the
operator, which is a look-up in a dict; most of this module is about the first time. Calls `connection` and `answers`,
compiles with `avro`, and finds the topic's subject with `subjects`; `rate_limits` and `id_retries` say when not to
ask. It never waits or retries by itself: an error says how long to keep the record. Used by one thread; several
clients may share a `SchemaCache`.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import quote

from eml.settings import RecordSettings, RegistrySettings
from eml.stream.avro import schema_warnings
from eml.stream.avro.key_schema import compile_key
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.avro.types import shown, unsupported
from eml.stream.errors import (
    BadSchemaError,
    CredentialsRefusedError,
    IncompatibleSchemaError,
    RegistryRefusedError,
    RegistryUnavailableError,
    SchemaNotYetKnownError,
)
from eml.stream.keys import BAD_KEY, ReadKey
from eml.stream.registry import answers
from eml.stream.registry.answers import UNRULED, Verdict
from eml.stream.registry.connection import RegistryConnection
from eml.stream.registry.http_client import Answer
from eml.stream.registry.id_retries import IdRetries
from eml.stream.registry.rate_limits import LookupLimits
from eml.stream.registry.schema_cache import BoundedCache, SchemaCache
from eml.stream.registry.subjects import Subjects, SubjectVersion, newest_version
from eml.stream.wire import Guid, SchemaId, SchemaRef

UNKNOWN = "unknown-schema"
AROUND_SCHEMA = 65_536  # bytes of an answer beside the schema itself
# Registries count their ids: one this far above all that were seen was not registered a moment ago.
NEAR = 10_000
# After a failure, ids that have not failed are asked for first: the failure may be about one id, not the registry.
OTHERS_FIRST_S = 0.1
CONFIRMED_S = 1.0  # for how long a registry that returned a schema is believed to have all
# Look-ups of keys' schemas are limited together, like those of one key: a sender that invents ids can invent as many
# keys, and with an allowance for each it would use up the task's. No name has a control character.
ALL_KEYS = "\0keys"
_N = TypeVar("_N", SchemaId, Guid)
_T = TypeVar("_T")


class SchemaRegistry:
    """A registry with Confluent's API; without `subjects`, any subject will do."""

    def __init__(
        self,
        settings: RegistrySettings,
        record: RecordSettings,
        clock: Callable[[], float] = time.monotonic,
        *,
        subjects: Subjects | None = None,
        cache: SchemaCache | None = None,
    ) -> None:
        self._settings = settings
        self._record = record
        self._clock = clock
        self._subjects = subjects
        # Inside JSON a schema's quotes are escaped, which at worst doubles it.
        self._connection = RegistryConnection(settings, 2 * record.max_schema_bytes + AROUND_SCHEMA, clock)
        self._limits = LookupLimits(settings, clock())
        self._retries = IdRetries(settings)
        self._cache = SchemaCache(settings.cached_schemas) if cache is None else cache
        self._unknown: OrderedDict[SchemaRef, float] = OrderedDict()  # name -> until when; the oldest first
        self._confirmed_at = -math.inf

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    # -- look-ups --------------------------------------------------------------------------------------------------

    def reading_schema(self, name: SchemaRef, key: str = "") -> ReadingSchema:
        """The schema of this name, from memory if it was asked for before; `key` is whose record wants it."""
        schema_id = self._id_of(name, key)
        return self._found(self._cache.readings, schema_id, key, lambda: self._fetch(schema_id, self._reading))

    def cached_schema(self, name: SchemaRef) -> ReadingSchema | None:
        """The schema of this name, if it needs no look-up and can be used."""
        schema_id = name if isinstance(name, int) else self._cache.guids.get(Guid(name))
        found = self._cache.readings.get(SchemaId(schema_id)) if isinstance(schema_id, int) else None
        return None if isinstance(found, BadSchemaError) else found

    def key_schema(self, name: SchemaRef) -> ReadKey:
        """The same for the schema of a key: what reads its name. Any subject will do."""
        schema_id = self._id_of(name, ALL_KEYS)
        return self._found(self._cache.keys, schema_id, ALL_KEYS, lambda: self._fetch(schema_id, self._key))

    def _id_of(self, name: SchemaRef, key: str) -> SchemaId:
        """The id by which this registry names a schema: those that share a GUID may each have another."""
        if isinstance(name, int):
            return SchemaId(name)
        return self._found(self._cache.guids, Guid(name), key, lambda: self._fetch_id(Guid(name)))

    def _found(self, known: BoundedCache[_N, _T], name: _N, key: str, fetch: Callable[[], _T | BadSchemaError]) -> _T:
        found = known.get(name)
        if found is None:
            found = self._look_up(name, key, fetch)
            if len(known) < self._settings.cached_schemas:  # else others are forgotten for it, and asked for again
                self._limits.found(key)
            known.put(name, found)
        if isinstance(found, BadSchemaError):
            raise BadSchemaError(found.reason, str(found))  # a new one: tracebacks would pile up in the old one
        return found

    def _look_up(self, name: SchemaRef, key: str, fetch: Callable[[], _T | BadSchemaError]) -> _T | BadSchemaError:
        now = self._clock()
        if self._unknown.get(name, -math.inf) > now:
            raise _unknown(name)
        self._retries.check(name, now)
        self._connection.check_backoff(OTHERS_FIRST_S if name in self._retries else 0.0)
        self._limits.take(key, now)
        try:
            found = fetch()
        except RegistryRefusedError as error:
            raise self._refused(error, name) from None
        except SchemaNotYetKnownError:
            raise
        except RegistryUnavailableError:
            self._retries.outage(name)
            raise
        self._retries.forget(name)
        return found

    def _fetch_id(self, guid: Guid) -> SchemaId:
        found = self._connection.ask("GET", f"/schemas/guids/{guid}/ids", answers.id_of_guid)
        if found is None:
            raise self._not_found(guid)
        return found

    def _fetch(self, schema_id: SchemaId, compiled: Callable[[SchemaId, Answer], _T]) -> _T | BadSchemaError:
        answer = self._connection.ask("GET", f"/schemas/ids/{schema_id}", answers.schema)
        if answer.status == HTTPStatus.NOT_FOUND:
            raise self._not_found(schema_id)
        self._confirmed_at = self._clock()
        try:
            return compiled(schema_id, answer)
        except BadSchemaError as error:
            return BadSchemaError(error.reason, f"schema {schema_id}: {error}")

    def _reading(self, schema_id: SchemaId, answer: Answer) -> ReadingSchema:
        schema = compile_schema(answers.avro_text(answer), schema_id, "", 0, self._record)
        schema_warnings.log_once(schema_id, schema.ignored, schema.warnings)
        places = self._connection.ask("GET", f"/schemas/ids/{schema_id}/versions", answers.subject_versions)
        if not places and self._retries.is_patient(schema_id, self._clock()):
            what = f"{self._connection.url} names no subject of schema {schema_id}, which may be new"
            raise self._retries.pause(schema_id, self._clock(), SchemaNotYetKnownError, what)
        return in_subject(schema, places, self._subjects)

    def _key(self, _schema_id: SchemaId, answer: Answer) -> ReadKey:
        try:
            return compile_key(answers.avro_text(answer), self._record)
        except BadSchemaError as error:
            raise BadSchemaError(BAD_KEY, str(error)) from None

    def _not_found(self, name: SchemaRef) -> BadSchemaError | RegistryUnavailableError:
        """What a 404 means: wait, if the registry may be behind; else the schema is unknown, and that is remembered."""
        now, highest = self._clock(), self._cache.ids.highest
        # A GUID does not tell how new it is.
        is_near = not isinstance(name, int) or 0 < name <= highest + NEAR or (name > 0 and not highest)
        if is_near and self._retries.is_patient(name, now):
            what = f"{self._connection.url} does not know schema {name}, which may be new (404)"
            return self._retries.pause(name, now, SchemaNotYetKnownError, what)
        self._check_known_ids()
        self._retries.forget(name)
        self._unknown.pop(name, None)
        self._unknown[name] = now + self._settings.unknown_id_ttl_ms / 1000
        if len(self._unknown) > self._settings.unknown_ids:
            self._unknown.popitem(last=False)
        return _unknown(name)

    def _check_known_ids(self) -> None:
        """Raise where the registry lacks schemas that it had: it is still starting, or has lost them."""
        known = self._cache.ids.latest()
        if not known or self._clock() < self._confirmed_at + CONFIRMED_S:
            return
        for each in known:
            if self._connection.ask("GET", f"/schemas/ids/{each}", answers.schema).status == HTTPStatus.OK:
                self._confirmed_at = self._clock()
                return
        raise self._connection.failed(
            RegistryUnavailableError,
            f"{self._connection.url} has none of the schemas {', '.join(map(str, known))}, which it had: it may be "
            "starting; if it was replaced by another, start the job again",
        )

    def latest_version(self, subject: str) -> tuple[SchemaId, int] | None:
        """Id and version of a subject's newest schema; None where the subject does not exist."""
        self._connection.check_backoff()
        self._limits.take("", self._clock())
        try:
            return self._connection.ask(
                "GET", f"/subjects/{quote(subject, safe='')}/versions/latest", answers.id_and_version
            )
        except RegistryRefusedError as error:
            raise self._refused(error) from None

    # -- tools and job start ---------------------------------------------------------------------------------------

    def register(self, subject: str, text: str) -> SchemaId:
        """Register a schema, unless the subject has it already; its id."""
        path = f"/subjects/{quote(subject, safe='')}/versions"
        answer = self._connection.ask("POST", path, answers.registered, {"schema": text})
        if answer.status == HTTPStatus.CONFLICT:
            raise IncompatibleSchemaError(f"{shown(subject)} does not take the schema: {answer.message}")
        if answer.status >= 400:
            raise unsupported(f"the registry cannot read the schema for {shown(subject)}: {answer.message}")
        return SchemaId(answer.body["id"])

    def check(self) -> None:
        """Raise where no registry answers at the address, or it refuses our credentials; nothing is logged."""
        self._connection.ask("GET", "/subjects", answers.subjects, logged=False)

    def subjects(self) -> list[str]:
        """The names of all subjects; none where the answer is too long."""
        return self._connection.ask("GET", "/subjects", answers.subjects)

    def newest(self, subject: str) -> tuple[SchemaId, int, str] | None:
        """Id, version and text of a subject's newest schema; None where there is no such subject."""
        answer = self._connection.ask("GET", f"/subjects/{quote(subject, safe='')}/versions/latest", answers.newest)
        if answer is None:
            return None
        text = answers.avro_text(answer)
        return SchemaId(answer.body["id"]), int(answer.body["version"]), text

    def compatibility(self, subject: str) -> str:
        """The mode that holds for a subject, its own or the registry's; empty where that is not told."""
        own = self._connection.ask("GET", f"/config/{quote(subject, safe='')}", answers.compatibility)
        return own or self._connection.ask("GET", "/config", answers.compatibility)

    def verdict(self, subject: str, text: str) -> Verdict:
        """Whether the subject would take a schema, by the registry's own rule; UNRULED where there is no subject."""
        path = f"/compatibility/subjects/{quote(subject, safe='')}/versions?verbose=true"
        verdict = self._connection.ask("POST", path, answers.verdict, {"schema": text})
        return verdict if verdict is UNRULED else replace(verdict, mode=self.compatibility(subject))

    def _refused(self, error: RegistryRefusedError, schema_id: SchemaRef | None = None) -> RegistryUnavailableError:
        """A refusal while the job runs: records with cached schemas continue, and a rotated secret may come."""
        if error.forbidden and schema_id is not None:  # others may be allowed
            self._connection.log_failure(f"schema {schema_id}: {error}")
            return self._retries.pause(schema_id, self._clock(), CredentialsRefusedError, str(error))
        return self._connection.failed(CredentialsRefusedError, str(error))


def _unknown(name: SchemaRef) -> BadSchemaError:
    advice = ""
    if name == 0:  # no registry counts from there: the first half of a longer id
        advice = ' (if ids have 8 bytes, set record.schema_id_format = "apicurio-8")'
    elif not isinstance(name, int):
        advice = " (only Confluent's registry has GUIDs: with another one, have the producers write the schema's id)"
    return BadSchemaError(UNKNOWN, f"the registry does not know schema {name}{advice}")


def in_subject(schema: ReadingSchema, places: list[SubjectVersion], subjects: Subjects | None) -> ReadingSchema:
    """A schema with its subject and version, if it has any."""
    if subjects is not None:
        return subjects.resolve(schema, places)
    if not places:
        return schema
    subject, version = newest_version(None, places)
    return replace(schema, subject=subject, version=version)
