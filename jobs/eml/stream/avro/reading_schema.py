"""Writer schemas of readings and labels: which of a record's fields are features, and which are reserved.

`registry.client` (or `local.schema_book` in its place) compiles a schema text here once, when it arrives; the models
decode records with the result. Calls `schema_parser`, which refuses hostile schemas, and makes the `decoder`. Knows no
registry and no learner.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from eml.core.features import FeatureSpace
from eml.settings import RecordSettings
from eml.stream.avro import schema_warnings
from eml.stream.avro.decode_plan import PER_MS, Leaf, Role
from eml.stream.avro.decoder import Decoded, Decoder
from eml.stream.avro.feature_kinds import kind_of
from eml.stream.avro.schema_parser import parse
from eml.stream.avro.schema_warnings import IgnoredField
from eml.stream.avro.types import LONGEST_NAME, Field, Type, is_uuid, shown, unsupported, without_null
from eml.stream.errors import BadSchemaError
from eml.stream.wire import SchemaId

__all__ = ["Decoded", "ReadingSchema", "compile_schema"]

LABEL_KEY = "key"  # of `schemas/label.avsc`: the Kafka key of the reading, in words
FOREIGN = "foreign-subject"


@dataclass(frozen=True, slots=True, eq=False)
class ReadingSchema:
    """A writer schema, ready to decode what it wrote."""

    id: SchemaId
    subject: str  # empty where the registry names none
    version: int  # in the subject; 0 without one
    space: FeatureSpace
    retiring: frozenset[str]  # features announced to vanish
    ignored: tuple[IgnoredField, ...]  # fields that are neither features nor reserved
    decoder: Decoder = field(repr=False)
    warnings: tuple[str, ...] = ()  # what looks like a mistake in its fields
    name: str = ""  # of the record, with its namespace
    foreign_reading: str = ""  # why its records are no readings, by its subject (`subjects`)
    foreign_label: str = ""  # and no labels
    reserved: tuple[str, ...] = ()  # fields that say whose, when and what a reading is

    def check_reading(self) -> None:
        """Raise where records of this schema are no readings: by its subject, or because no field is a feature."""
        if self.foreign_reading:
            raise BadSchemaError(FOREIGN, self.foreign_reading)
        if not self.space.names:
            raise unsupported(f"schema {self.id}: no field is a feature: a number, boolean or category, also nullable")

    def check_label(self) -> None:
        """Raise where records of this schema are no labels."""
        if self.foreign_label:
            raise BadSchemaError(FOREIGN, self.foreign_label)

    def decode(self, values: Sequence[bytes], start: int = 0) -> Decoded:
        """Decode records whose payloads begin at byte `start` of `values`."""
        return self.decoder.decode(values, start)


def compile_schema(
    text: str, schema_id: SchemaId, subject: str, version: int, settings: RecordSettings
) -> ReadingSchema:
    """Check a writer schema and prepare the decoding of its records."""
    fields, root = _Fields(settings), parse(text, settings)
    fields.add(root, ("",))
    space = FeatureSpace(tuple(fields.names), fields.aliases, frozenset(fields.categories))
    ignored = tuple(fields.ignored)
    warnings = (*fields.warnings, *schema_warnings.find_warnings(root.fields, _roles(settings), set(fields.names)))
    return ReadingSchema(
        schema_id,
        subject,
        version,
        space,
        frozenset(fields.retiring),
        ignored,
        Decoder(fields.leaves, reject=settings.non_finite == "reject"),
        warnings,
        root.name,
        reserved=tuple(fields.reserved),
    )


class _Fields:
    """The leaves of a record, in the order of its bytes, and their names."""

    def __init__(self, settings: RecordSettings) -> None:
        self._settings = settings
        self._roles = _roles(settings)
        self._categories = frozenset(settings.categories)
        self._former_names = 0
        self.leaves: list[Leaf] = []
        self.names: list[str] = []
        self.aliases: dict[str, tuple[str, ...]] = {}
        self.categories: list[str] = []
        self.retiring: list[str] = []
        self.ignored: list[IgnoredField] = []
        self.reserved: list[str] = []
        self.warnings: list[str] = []  # what looks like a mistake

    def add(self, record: Type, prefixes: tuple[str, ...], *, retiring: bool = False) -> None:
        """Add the fields of a record; its own names, present and former, are the `prefixes`."""
        features = []
        for member in record.fields:
            role = self._roles.get(member.name) if prefixes == ("",) else None
            if role is not None:
                self.leaves.append(_reserved(member, role))
                self.reserved.append(member.name)
                continue
            if member.name == LABEL_KEY and prefixes == ("",) and without_null(member.type)[0].kind == "string":
                self.leaves.append(Leaf("kafka_key", *without_null(member.type)))
                self.reserved.append(member.name)
                continue
            names = self._names(member, prefixes)
            retires = retiring or member.retiring
            if member.type.kind == "record":
                features.append(member)
                self.add(member.type, tuple(f"{name}." for name in names), retiring=retires)
            elif self._add_leaf(member, names, retiring=retires):
                features.append(member)
        _refuse_shared_aliases(features)

    def _names(self, member: Field, prefixes: tuple[str, ...]) -> tuple[str, ...]:
        """The dotted name of a field, and all its former ones."""
        self._former_names += len(prefixes) * (1 + len(member.aliases)) - 1
        if self._former_names > self._settings.max_nodes:  # nested aliases multiply
            raise unsupported(f"more than {self._settings.max_nodes} former names (record.max_nodes)")
        names = tuple(prefix + name for prefix in prefixes for name in (member.name, *member.aliases))
        if max(map(len, names)) > LONGEST_NAME:
            raise unsupported(f"the name {shown(names[0])} or a former one is longer than {LONGEST_NAME}")
        return names

    def _add_leaf(self, member: Field, names: tuple[str, ...], *, retiring: bool) -> bool:
        """Add a field that is no record; whether it is a feature."""
        name, former = names[0], tuple(dict.fromkeys(other for other in names[1:] if other != names[0]))
        inner, null = without_null(member.type)
        kind = kind_of(inner, declared=not self._categories.isdisjoint(names) or member.category)
        if kind.warning:
            self.warnings.append(f"field {name!r}: {kind.warning}")
        if kind.use == "ignored":
            self.ignored.append(IgnoredField(name, kind.reason))
            self.leaves.append(Leaf("ignored", member.type))
            return False
        if len(self.names) == self._settings.max_features:
            raise unsupported(f"more than {self._settings.max_features} features (record.max_features)")
        self.names.append(name)
        self.leaves.append(Leaf("feature", inner, null, category=kind.use == "category"))
        if former:
            self.aliases[name] = former
        if kind.use == "category":
            self.categories.append(name)
        if retiring:
            self.retiring.append(name)
        return True


def _refuse_shared_aliases(features: Iterable[Field]) -> None:
    """Raise where two features of a record have the same alias: only one of them can be the former field."""
    heirs: dict[str, str] = {}
    for member in features:
        for alias in member.aliases:
            first = heirs.setdefault(alias, member.name)
            if first != member.name and alias not in (first, member.name):
                raise unsupported(
                    f"the fields {shown(first)} and {shown(member.name)} have the same alias {shown(alias)}, so it is "
                    "not known which of them is the former one: take the alias out of one of them"
                )


def _roles(settings: RecordSettings) -> Mapping[str, Role]:
    return {
        settings.key_field: "key",
        settings.event_id_field: "event_id",
        settings.event_time_field: "event_time",
        settings.label_field: "label",
    }


USABLE: Mapping[Role, tuple[Callable[[Type], bool], str]] = {
    "key": (lambda type_: type_.kind == "string", "a string"),
    "event_id": (
        lambda type_: type_.kind in ("string", "int", "long") or is_uuid(type_),
        "a string, an int, a long or a uuid",
    ),
    "event_time": (
        lambda type_: type_.kind == "long" and type_.logical in PER_MS,
        "a long with the logical type timestamp-millis (or -micros, -nanos)",
    ),
    "label": (
        lambda type_: type_.kind in ("string", "int", "long", "boolean", "enum"),
        "a string, an int, a long, a boolean or an enum",
    ),
}


def _reserved(member: Field, role: Role) -> Leaf:
    """The leaf of a reserved field."""
    inner, null = without_null(member.type)
    usable, wanted = USABLE[role]
    if not usable(inner):
        found = f"{inner.kind} ({inner.logical})" if inner.logical else inner.kind
        raise unsupported(
            f"the field {shown(member.name)} is reserved (record.{role}_field): make it {wanted}, nullable or not, "
            f"instead of {found}, or name another field in the settings"
        )
    return Leaf(role, inner, null)
