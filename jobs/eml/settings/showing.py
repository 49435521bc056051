"""The settings as TOML again, for logs: secrets are starred out.

Called by `job` and the tools. What it writes can be loaded, but for the stars.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields

from eml.settings.sections import Settings

STARS = "***"
# Ends of Kafka's properties that never hold a secret; of the others only the name is shown.
HARMLESS = (".protocol", ".mechanism", ".location", ".type", ".algorithm", ".id", ".ms", ".bytes", ".records")


def describe(settings: Settings, *, changed_only: bool = False) -> str:
    """All settings as TOML, or those alone that do not have their default, with *** for what is secret."""
    lines = []
    for section in fields(settings):
        values = getattr(settings, section.name)
        shown = [
            f"{field.name} = {toml(_starred(value, secret=not field.repr))}"
            for field in fields(values)
            if (value := getattr(values, field.name)) is not None and not (changed_only and value == _default(field))
        ]
        if shown or not changed_only:
            lines += ["", f"[{section.name}]", *shown]
    return "\n".join(lines[1:]) + "\n"


def _default(field: "Field[object]") -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _starred(value: object, *, secret: bool) -> object:
    if isinstance(value, Mapping):
        return {name: text if name.endswith(HARMLESS) else STARS for name, text in value.items()}
    return STARS if secret else value


def toml(value: object) -> str:
    """A value as TOML has it."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml(name)} = {toml(text)}" for name, text in value.items()) + "}"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for this one.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
