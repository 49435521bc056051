"""What a person should know of a schema's fields: which are ignored and why, and which look like a mistake.

Called by `reading_schema` once per schema; `registry.client` has the result logged, and it is part of the evolution
event. A reserved field under a slightly different name (`Label` for `label`) is no error to the decoder: it is ignored,
or taken for a feature, and nothing is ever learnt. Decides nothing.
"""

import logging
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from eml.stream.avro.types import Field
from eml.stream.wire import SchemaId

log = logging.getLogger(__name__)

MOST_SHOWN = 32  # ignored fields and warnings of a schema, each: an event must stay small whatever a schema holds
SCHEMAS = 1_024  # whose fields were logged: a task compiles a schema once per registry client, and logs it once
SHORTEST = 4  # letters of a name that one more or less leaves recognisable


class IgnoredField(NamedTuple):
    """A field that is neither a feature nor reserved."""

    name: str
    reason: str


def find_warnings(fields: Iterable[Field], roles: Mapping[str, str], features: Collection[str]) -> list[str]:
    """What looks like a mistake: fields whose name is almost that of a reserved field which is not there."""
    found = list(fields)
    missing = {name: role for name, role in roles.items() if name not in {field.name for field in found}}
    warnings = []
    for field in found:
        if field.name in roles:
            continue
        if field.type.kind == "record":
            warnings += _inside(field, missing, features)
            continue
        for name, role in missing.items():
            if name in field.aliases or _alike(field.name, name):
                warnings.append(_warning(field.name, _use(field.name, features), name, role))
                break
    return warnings


def _warning(found: str, use: str, name: str, role: str) -> str:
    return f"field {found!r} is {use}, and there is no field {name!r}: did you mean record.{role}_field = {found!r}?"


def _inside(record: Field, missing: Mapping[str, str], features: Collection[str]) -> list[str]:
    """Reserved names inside a nested record, where they are not looked for."""
    return [
        f"field {record.name + '.' + field.name!r} is {_use(f'{record.name}.{field.name}', features)}: "
        f"record.{missing[field.name]}_field is looked for outside of nested records only"
        for field in record.type.fields
        if field.name in missing
    ]


def _use(name: str, features: Collection[str]) -> str:
    return "a feature" if name in features else "ignored"


def _alike(found: str, name: str) -> bool:
    """The same but for case and underscores, or but for one letter: added, missing, another, or two exchanged."""
    a, b = (text.replace("_", "").lower() for text in (found, name))
    if a == b:
        return True
    if min(len(a), len(b)) < SHORTEST or abs(len(a) - len(b)) > 1:
        return False
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    a, b = a[start:], b[start:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


@lru_cache(maxsize=SCHEMAS)
def log_once(schema_id: SchemaId, ignored: tuple[IgnoredField, ...], warnings: tuple[str, ...]) -> None:
    """Log the fields of a schema that are ignored or look like a mistake, once per schema."""
    what = f"schema {schema_id}"
    if ignored:
        more = f" and {len(ignored) - MOST_SHOWN} more" if len(ignored) > MOST_SHOWN else ""
        listed = "; ".join(f"{field.name}: {field.reason}" for field in ignored[:MOST_SHOWN])
        log.info("%s: fields that are no features: %s%s", what, listed, more)
    for warning in warnings[:MOST_SHOWN]:
        log.warning("%s: %s", what, warning)
