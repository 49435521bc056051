"""Parsers of a registry's answers; what they do not understand raises AnswerError.

Used by `client`, which passes these functions to `connection`; knows Confluent's API, not why it is asked.
"""

from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeVar

from eml.stream.avro.types import shown, unsupported
from eml.stream.registry.http_client import Answer, AnswerError
from eml.stream.wire import SchemaId

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a registry says of a schema that is to be a subject's next version."""

    compatible: bool
    messages: tuple[str, ...] = ()
    mode: str = ""  # of compatibility; empty: the registry does not say


DEFAULT_CONTEXT = "."
UNRULED = Verdict(compatible=True)  # there is no version that it would have to be compatible with


def _field(body: object, name: str, kind: type[_T]) -> _T:
    found = body.get(name) if isinstance(body, dict) else None
    if not isinstance(found, kind):
        raise AnswerError(f"its answer holds no {name}")
    return found


def schema(answer: Answer) -> Answer:
    """A schema, or 404."""
    if answer.status == HTTPStatus.OK and not answer.too_long:
        _field(answer.body, "schema", str)
    elif answer.status not in (HTTPStatus.OK, HTTPStatus.NOT_FOUND):
        raise AnswerError(f"it answers {answer.message}")
    return answer


def avro_text(answer: Answer) -> str:
    """The text of a schema that is Avro, within the size limit and without references."""
    if answer.too_long:
        raise unsupported("the schema is longer than record.max_schema_bytes")
    kind = answer.body.get("schemaType") or "AVRO"
    if kind != "AVRO":
        raise unsupported(f"it is written in {shown(kind)}; records must be Avro")
    if answer.body.get("references"):
        raise unsupported("it refers to other schemas; write their types into it")
    return _field(answer.body, "schema", str)


def subject_versions(answer: Answer) -> list[tuple[str, int]]:
    """Subjects and versions under which a schema is registered."""
    if answer.status == HTTPStatus.NOT_FOUND or answer.too_long:
        return []
    if answer.status != HTTPStatus.OK or not isinstance(answer.body, list):
        raise AnswerError(f"it answers {answer.message} instead of a schema's versions")
    return [(_field(place, "subject", str), _field(place, "version", int)) for place in answer.body]


def id_and_version(answer: Answer) -> tuple[SchemaId, int] | None:
    """Of a subject's newest schema; None where there is no such subject."""
    if answer.status == HTTPStatus.NOT_FOUND:
        return None
    return SchemaId(_field(answer.body, "id", int)), _field(answer.body, "version", int)


def version_numbers(answer: Answer) -> list[int]:
    """The versions of a subject; none where there is no such subject."""
    if answer.status == HTTPStatus.NOT_FOUND or answer.too_long:
        return []
    if answer.status != HTTPStatus.OK or not isinstance(answer.body, list):
        raise AnswerError(f"it answers {answer.message} instead of a subject's versions")
    return sorted(number for number in answer.body if isinstance(number, int))


def id_of_guid(answer: Answer) -> SchemaId | None:
    """The id of a schema with a GUID: of the default context, where there are several; None where there is no such."""
    if answer.status == HTTPStatus.NOT_FOUND:
        return None
    if answer.status != HTTPStatus.OK or not isinstance(answer.body, list):
        raise AnswerError(f"it answers {answer.message} instead of a schema's ids")
    ids = {place.get("context"): _field(place, "id", int) for place in answer.body if isinstance(place, dict)}
    return SchemaId(ids.get(DEFAULT_CONTEXT, next(iter(ids.values())))) if ids else None


def newest(answer: Answer) -> Answer | None:
    """A subject's newest schema with its id and version; None where there is no such subject."""
    if answer.status == HTTPStatus.NOT_FOUND:
        return None
    if not answer.too_long:
        id_and_version(answer)
        _field(answer.body, "schema", str)
    return answer


def registered(answer: Answer) -> Answer:
    """The id of a schema that was registered, or why it was not."""
    if answer.status == HTTPStatus.OK:
        _field(answer.body, "id", int)
    elif answer.status not in (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.BAD_REQUEST):
        raise AnswerError(f"it answers {answer.message}")
    return answer


def subjects(answer: Answer) -> list[str]:
    """The names of all subjects; none where the answer is too long."""
    if answer.status != HTTPStatus.OK or not (answer.too_long or isinstance(answer.body, list)):
        raise AnswerError(f"no registry with Confluent's API stands there ({answer.message}): look at registry.url")
    return [name for name in answer.body or [] if isinstance(name, str)]


def compatibility(answer: Answer) -> str:
    """A compatibility mode; empty where there is none."""
    mode = answer.body.get("compatibilityLevel") if isinstance(answer.body, dict) else None
    return mode if isinstance(mode, str) else ""


def verdict(answer: Answer) -> Verdict:
    """Whether a schema is compatible, and why it is not."""
    if answer.status == HTTPStatus.NOT_FOUND:
        return UNRULED
    if answer.status in (HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.BAD_REQUEST):
        return Verdict(compatible=False, messages=(f"the registry cannot read it: {answer.message}",))
    if answer.status != HTTPStatus.OK:
        raise AnswerError(f"it answers {answer.message}")
    compatible = _field(answer.body, "is_compatible", bool)
    said = answer.body.get("messages") or answer.body.get("reason")  # Apicurio's word; often it gives none
    return Verdict(compatible, tuple(map(str, said if isinstance(said, list) else [said])) if said else ())
