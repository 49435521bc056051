"""What a field of a reading is to the model: an amount, a category, or nothing, and then why.

Called by `reading_schema` for every field that is not reserved. Knows types and what schema and settings say of a
field, not its bytes: `decode_plan` decides how these are read.
"""

from typing import Literal, NamedTuple

from eml.stream.avro.types import Type

NUMERIC = ("int", "long", "float", "double", "boolean")
SYMBOLIC = ("enum", "string", "int", "long", "boolean")  # whose values have a text that names them
OF_TIME = ("date", "time-", "timestamp-", "local-timestamp-")  # logical types of numbers that measure nothing
DECLARE = 'a category if it is declared as one ("eml.category": true on the field, or record.categories)'


class Kind(NamedTuple):
    """What a field is."""

    use: Literal["amount", "category", "ignored"]
    reason: str = ""  # why it is ignored
    warning: str = ""  # what looks like a mistake


def kind_of(type_: Type, *, declared: bool | None) -> Kind:
    """The kind of a field whose values, where not null, are of this type; `declared` (no) category, or None: not."""
    if type_.kind in SYMBOLIC and declared:
        return Kind("category")
    if type_.kind == "enum":
        return Kind("category") if declared is None else Kind("ignored", 'enum: "eml.category" says that it is none')
    warning = f"declared as a category, which a {type_.kind} cannot be: one of {', '.join(SYMBOLIC)} can"
    warning = warning if declared else ""
    if type_.kind in NUMERIC and not (type_.logical or "").startswith(OF_TIME):
        return Kind("amount", warning=warning)
    return Kind("ignored", _why_ignored(type_), warning)


def _why_ignored(type_: Type) -> str:
    if type_.kind in ("int", "long"):
        return f"{type_.kind} ({type_.logical}): a time measures nothing; {DECLARE}"
    if type_.kind == "string":
        return f"string: {DECLARE}"
    if type_.kind == "union":
        return "a union of more than null and one other type"
    return f"{type_.kind}: no number, boolean or category"
