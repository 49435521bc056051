"""The fields of the newest reading schemas, logged when the job starts: features, categories, reserved and ignored.

Called by `job` once, after the registry has answered. Asks `client` for the newest version of every subject that holds
readings, as far as their names show it, and compiles it as the stream will. Nothing here keeps a job from starting:
what cannot be had is logged as well.
"""

import logging
from collections.abc import Iterator, Sequence

from eml.settings import Settings
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.avro.schema_warnings import MOST_SHOWN
from eml.stream.errors import BadSchemaError, RegistryRefusedError, RegistryUnavailableError
from eml.stream.registry.client import SchemaRegistry
from eml.stream.registry.subjects import CONTEXT, Subjects

log = logging.getLogger("eml.job")

SUBJECTS = 16  # logged at most


def log_fields(settings: Settings) -> None:
    """Log a line for each subject of the readings."""
    # A client of its own: after a failure it asks for nothing for a while, and the start has more to ask.
    registry = SchemaRegistry(settings.registry, settings.record)
    try:
        schemas = list(_newest(registry, settings))
    except (RegistryUnavailableError, RegistryRefusedError) as error:
        log.warning("which fields are features is told when their first record comes: %s", error)
        return
    finally:
        registry.close()
    for schema in schemas:
        _log_schema(schema)
    if not schemas:
        log.info("no schema of readings is registered yet: which fields are features is told with the first record")
        return
    known = {name for schema in schemas for name in _all_names(schema)}
    unknown = [name for name in settings.record.categories if name not in known]
    if unknown:
        log.warning("record.categories: no newest schema of readings has %s", _listed(unknown))


def _log_schema(schema: ReadingSchema) -> None:
    subject, version, fields = schema.subject, schema.version, describe_fields(schema)
    log.info("readings of %s, version %d (schema %d): %s", subject, version, schema.id, fields)
    for warning in schema.warnings[:MOST_SHOWN]:
        log.warning("readings of %s, version %d: %s", subject, version, warning)


def describe_fields(schema: ReadingSchema) -> str:
    """How a schema's fields are used, in one line."""
    space = schema.space
    parts = {
        "features": [name for name in space.names if name not in space.categories],
        "categories": [name for name in space.names if name in space.categories],
        "reserved": schema.reserved,
        "ignored": [f"{name} ({reason})" for name, reason in schema.ignored],
    }
    return "; ".join(f"{what}: {_listed(names)}" for what, names in parts.items() if names) or "it has no fields"


def _newest(registry: SchemaRegistry, settings: Settings) -> Iterator[ReadingSchema]:
    """The newest schema of each subject of readings; of one that cannot be used, why."""
    subjects = Subjects.of(settings)
    for subject in candidates(registry.subjects(), settings)[:SUBJECTS]:
        try:
            newest = registry.newest(subject)
            if newest is None:
                continue
            schema_id, version, text = newest
            compiled = compile_schema(text, schema_id, subject, version, settings.record)
            schema = subjects.resolve(compiled, [(subject, version)])
            if not schema.foreign_reading:
                schema.check_reading()
                yield schema
        except BadSchemaError as error:
            log.warning("the newest schema of %s cannot be one of readings: %s", subject, error)


def candidates(registered: Sequence[str], settings: Settings) -> list[str]:
    """Subjects that are listed, or begin with the topic's name; a record's own name shows no topic."""
    if settings.record.subjects:
        return list(settings.record.subjects)
    topic = settings.kafka.readings_topic
    first = f"{topic}-value"
    others = [name for name in registered if CONTEXT.sub("", name, count=1).startswith(f"{topic}-")]
    return list(dict.fromkeys([first, *sorted(others)]))


def _all_names(schema: ReadingSchema) -> Iterator[str]:
    yield from schema.space.names
    yield from schema.reserved
    for former in schema.space.aliases.values():
        yield from former
    yield from (name for name, _ in schema.ignored)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more
