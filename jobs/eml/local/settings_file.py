"""Writes a settings file for a person to read: a few settings, each with its reason.

Called by `eml local up` and `eml init`. The other settings have their defaults; what is written can be loaded.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from eml.settings.showing import toml

COLUMN = 42  # where reasons begin


@dataclass(frozen=True, slots=True)
class Setting:
    """One line."""

    name: str  # section.key
    value: object
    reason: str = ""


def write(path: Path, heading: Iterable[str], settings: Iterable[Setting]) -> None:
    """Make the file."""
    path.write_text(text(heading, settings), encoding="utf-8")


def text(heading: Iterable[str], settings: Iterable[Setting]) -> str:
    """The file's text; settings of a section stand together."""
    lines = [f"# {line}" for line in heading]
    for section, group in groupby(settings, lambda setting: setting.name.partition(".")[0]):
        lines += ["", f"[{section}]", *map(_line, group)]
    return "\n".join(lines) + "\n"


def _line(setting: Setting) -> str:
    said = f"{setting.name.partition('.')[2]} = {toml(setting.value)}"
    reason = " ".join(setting.reason.split())  # a name from elsewhere may hold a line's end
    return f"{said:<{COLUMN}}# {reason}" if reason else said
