"""A record for people to look at: decoded field by field, as far as it goes, and why it goes no further.

Called by `eml dead-letters` and by the live page for records that the job refused:

    seen = decode_partially(value, HEADER_SIZE, schema_text, settings.record)
    for field in seen.fields: field.name, field.type, field.value, field.start, field.end
    seen.problem      why it ends there; empty where schema and record fit
    seen.failed       the field at which it ends; empty where that is none's fault
    seen.at           the byte of `value` at which it ends: field.start and .end count from there, too

Slow and complete where `decoder` is fast and keeps features alone; both follow the same rules. It never raises for what
a record or its schema holds. Values are what a stranger sent: whoever shows them must escape them.
"""

from dataclasses import dataclass

from eml.settings import RecordSettings
from eml.stream.avro.field_readers import FORMATS
from eml.stream.avro.schema_parser import parse
from eml.stream.avro.types import PRIMITIVES, Type
from eml.stream.avro.varints import READ_INTEGER, bad_value, read_index, read_long, read_size, truncated
from eml.stream.errors import BadRecordError, BadSchemaError

MOST_FIELDS = 10_000  # of a record: arrays of wide items that take few bytes may hold millions
KEY_SHOWN = 64  # characters of a map's key in a name: it stands in the names of all that is below it

Value = str | int | float | bool | bytes | None


@dataclass(frozen=True, slots=True)
class DecodedField:
    """A value that no other contains: of a field, of an item of an array, or of an entry of a map."""

    name: str  # dotted, with [2] for an item and ["a"] for an entry
    type: str  # as Avro names it, with its logical type: "double", "long timestamp-millis"
    value: Value
    start: int  # bytes of the record that it was read from
    end: int


@dataclass(frozen=True, slots=True)
class PartialRecord:
    """What could be read of a record."""

    fields: tuple[DecodedField, ...]
    problem: str  # empty: all of it was read
    failed: str
    at: int

    @property
    def whole(self) -> bool:
        """Whether schema and record fit."""
        return not self.problem


def decode_partially(value: bytes, start: int, schema_text: str, settings: RecordSettings) -> PartialRecord:
    """Read the record whose Avro bytes begin at byte `start` of `value`, field by field."""
    try:
        root = parse(schema_text, settings)
    except BadSchemaError as error:
        return PartialRecord((), f"the schema is refused: {error}", "", start)
    walk = _Walk(value, start)
    problem, failed = "", ""
    try:
        walk.read(root, "")
    except BadRecordError as error:
        problem, failed = str(error), walk.name
    except IndexError:
        problem, failed = str(truncated()), walk.name
    except UnicodeDecodeError:
        problem, failed = "a string that is not UTF-8", walk.name
    else:
        left = len(value) - walk.pos
        if left:
            problem = f"{left} bytes follow the record"
    return PartialRecord(tuple(walk.fields), problem, failed, walk.pos)


class _Walk:
    """One way through a record; `pos` stays where the value at hand begins until that was read."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self.pos = start
        self.name = ""
        self.fields: list[DecodedField] = []

    def read(self, type_: Type, name: str) -> None:
        self.name = name
        match type_.kind:
            case "record":
                for field in type_.fields:
                    self.read(field.type, f"{name}.{field.name}" if name else field.name)
            case "array" | "map":
                self._collection(type_, name)
            case "union":
                index, self.pos = read_index(self._data, self.pos, len(type_.parts))
                self.read(type_.parts[index], name)
            case _:
                self._leaf(type_, name)

    def _leaf(self, type_: Type, name: str) -> None:
        if len(self.fields) == MOST_FIELDS:
            raise bad_value(f"more than {MOST_FIELDS} values: the others are not shown")
        value, end = self._value(type_)
        kind = f"{type_.kind} {type_.logical}" if type_.logical else type_.kind
        self.fields.append(DecodedField(name, kind, value, self.pos, end))
        self.pos = end

    def _value(self, type_: Type) -> tuple[Value, int]:
        data, pos = self._data, self.pos
        match type_.kind:
            case "null":
                return None, pos
            case "boolean":
                if data[pos] > 1:
                    raise bad_value("a boolean that is neither 0 nor 1")
                return bool(data[pos]), pos + 1
            case "int" | "long":
                return READ_INTEGER[type_.kind](data, pos)
            case "enum":
                index, end = read_index(data, pos, len(type_.symbols))
                return type_.symbols[index], end
            case _:
                return self._sized(type_)

    def _sized(self, type_: Type) -> tuple[Value, int]:
        """A value whose length is known before it is read."""
        size, begin = {"fixed": type_.size, "float": 4, "double": 8}.get(type_.kind), self.pos
        if size is None:
            size, begin = read_size(self._data, begin)
        end = begin + size
        if end > len(self._data):
            raise truncated()
        value = self._data[begin:end]
        if type_.kind in FORMATS:
            return FORMATS[type_.kind].unpack(value)[0], end
        return (value.decode() if type_.kind == "string" else value), end

    def _collection(self, type_: Type, name: str) -> None:
        """Blocks of a count and as many items, up to a count of 0; where it is negative, the block's size follows."""
        (items,) = type_.parts
        number = 0
        while count := self._count(name):
            for _ in range(count):
                inner = f"{name}[{number}]"
                if type_.kind == "map":
                    key, self.pos = self._value(PRIMITIVES["string"])
                    inner = f'{name}["{str(key)[:KEY_SHOWN]}"]'
                self.read(items, inner)
                number += 1
        self.name = name

    def _count(self, name: str) -> int:
        self.name = name
        count, pos = read_long(self._data, self.pos)
        if count < 0:
            count, (_, pos) = -count, read_size(self._data, pos)
        self.pos = pos
        return count
