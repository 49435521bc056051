"""From a schema and some records to settings, each with its reason.

Called by `init`. Names the fields that say what, whose and when a reading is, counts labels, and says which records
should share a model; the schema itself is judged by the compiler of the job. Knows neither Kafka nor a registry.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from eml.local.settings_file import Setting
from eml.settings import RecordSettings
from eml.stream.avro.reading_schema import USABLE, ReadingSchema, compile_schema
from eml.stream.avro.schema_parser import parse
from eml.stream.avro.types import Field, without_null
from eml.stream.errors import BadSchemaError
from eml.stream.wire import SchemaId
from eml.terminal import CommandError

NAMES: Mapping[str, tuple[str, ...]] = {  # of reserved fields, as fleets call them, the likeliest first
    "label": ("label", "class", "target", "fault", "failure", "condition", "state", "status", "activity", "outcome"),
    "event_id": ("event_id", "reading_id", "record_id", "message_id", "uuid", "id"),
    "event_time": ("event_time", "measured_at", "timestamp", "time", "ts"),
    "key": ("sensor_id", "device_id", "machine_id", "asset_id", "device", "machine", "unit"),
}
WHAT = {
    "label": "what is to be predicted, where a record has it; no feature",
    "event_id": "names the reading, so that a label can refer to it",
    "event_time": "when it was measured",
    "key": "whose reading it is; no feature",
}
ENOUGH = 250  # labels of a model under one schema version: docs/howto/models.md
GROUP = re.compile(r"^(.+?)[/:|]")  # what keys begin with, as site-3/pump-17
MOST_CLASSES = 256


@dataclass(frozen=True, slots=True)
class Labels:
    """What was counted."""

    records: int  # that were read
    labelled: int
    classes: int
    keys: Counter[str]  # labelled records by key


def fields(text: str, given: Mapping[str, str | None], base: RecordSettings) -> list[Setting]:
    """The reserved fields of a schema: given ones, else found by name and type. Raises where one cannot be it."""
    try:
        known = parse(text, base).fields
    except BadSchemaError as error:
        raise CommandError(f"the schema cannot be one of readings: {error}") from None
    return [_field(role, known, given.get(role), base) for role in NAMES]


def _field(role: str, known: Sequence[Field], given: str | None, base: RecordSettings) -> Setting:
    names = [field.name for field in known]
    if given is not None and given not in names:
        near = get_close_matches(given, names, 1)
        meant = f": did you mean {near[0]}?" if near else f": it has {', '.join(names[:20])}"
        raise CommandError(f"the schema has no field {given!r} for record.{role}_field{meant}")
    default = getattr(base, f"{role}_field")
    if given is not None:
        return Setting(f"record.{role}_field", given, f"{WHAT[role]}; as you said")
    fitting = {field.name for field in known if _fits(role, field)}
    if default in names:  # also where its type is wrong: the compiler says so
        return Setting(f"record.{role}_field", default, WHAT[role])
    found = next((name for name in NAMES[role] if name in fitting), None)
    if found is None:
        return Setting(f"record.{role}_field", default, f"{WHAT[role]}; no field looks like it")
    return Setting(f"record.{role}_field", found, f"{WHAT[role]}; found by its name: is it the right one?")


def _fits(role: str, field: Field) -> bool:
    usable, _ = USABLE[role]  # type: ignore[index]  # its keys are the roles
    return usable(without_null(field.type)[0])


def compiled(text: str, schema_id: SchemaId, subject: str, version: int, record: RecordSettings) -> ReadingSchema:
    """The schema as the job will read it; raises where it has no feature, or a field that cannot be what it is for."""
    try:
        schema = compile_schema(text, schema_id, subject, version, record)
        schema.check_reading()
    except BadSchemaError as error:
        raise CommandError(f"the schema cannot be one of readings: {error}") from None
    return schema


def with_fields(record: RecordSettings, chosen: Iterable[Setting]) -> RecordSettings:
    """The settings of records with those that were chosen."""
    names = {setting.name.partition(".")[2]: setting.value for setting in chosen}
    return replace(record, **{name: value for name, value in names.items() if name.endswith("_field")})  # type: ignore[arg-type]


def count(schema: ReadingSchema, payloads: Sequence[bytes], keys: Sequence[str]) -> Labels:
    """The labels in records of this schema; `keys` are whose records they are."""
    decoded = schema.decode(payloads)
    found = [(keys[row], label) for row, label in zip(decoded.rows, decoded.labels, strict=True) if label is not None]
    return Labels(len(decoded.rows), len(found), len({label for _, label in found}), Counter(key for key, _ in found))


def model(labels: Labels, keys: Sequence[str], in_all: int, key_format: str) -> list[Setting]:
    """Which records share a model, by the labels that a device may get."""
    devices = len(set(keys))
    if not labels.labelled or not devices:
        what = f"no label in the {labels.records} records looked at: count them per device when they come"
        return [Setting("model.by", "key", f"{what} ({ENOUGH} or more: key; fewer: share a model)")]
    per_device = labels.labelled / max(1, labels.records) * in_all / devices
    said = (
        f"about {per_device:.0f} labels per device so far, of {devices} devices seen; {ENOUGH} are enough for its own"
    )
    if per_device >= ENOUGH or key_format == "avro":  # whose key is found out too late to share a model
        return [Setting("model.by", "key", said)]
    groups = {match[1] for key in keys if (match := GROUP.match(key))}
    if 1 < len(groups) < devices and all(GROUP.match(key) for key in keys):
        example = min(groups)
        return [
            Setting("model.by", "key-pattern", said),
            Setting("model.key_pattern", GROUP.pattern, f"devices of a group share a model, as all of {example!r}"),
        ]
    return [Setting("model.by", "all", f"{said}: one model for all, until there are more")]


def remarks(labels: Labels) -> list[str]:
    """What is worth a word on the screen."""
    said = []
    if labels.classes == 1:
        said.append("all labels looked at are the same: a model needs two classes or more to predict")
    if labels.classes > MOST_CLASSES:
        said.append(f"{labels.classes} different labels: limits.classes allows {MOST_CLASSES}; is it the right field?")
    return said
