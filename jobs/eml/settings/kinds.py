"""Turns a value of TOML into a value of a field, by the field's type.

Called by `loading`. Its messages never show the value itself: it may be a secret.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Literal, get_args, get_origin

NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a table",
}
NUMBERS, TEXTS, PROPERTIES = "[0.05, 0.3]", '["fleet-a-value", "fleet-b-value"]', '{ "security.protocol" = "SSL" }'


class KindError(ValueError):
    """What is wrong with a value."""


def is_text(kind: object) -> bool:
    """Whether a field holds text, so that a text is its value as it stands."""
    return kind in {str, str | None} or get_origin(kind) is Literal


def parsed(text: str) -> object:
    """The value that a text means in TOML."""
    try:
        table = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        table = {}
    if set(table) != {"value"}:  # a line break could begin another key
        raise KindError("is no value of TOML: write it as in the file, for instance 5, true or [0.05, 0.3]")
    return table["value"]


def converted(kind: Any, value: object) -> object:  # noqa: ANN401  a type, or one of typing's forms
    """The value as its field holds it."""
    origin = get_origin(kind)
    if origin is Literal:
        return _choice(get_args(kind), value)
    if origin is tuple:
        return _list(get_args(kind)[0], value)
    if origin is Mapping:
        return dict(_properties(_of(dict, value, PROPERTIES)))
    if kind == str | None:
        return _of(str, value) or None
    return _number(value) if kind is float else _of(kind, value)


def _of(kind: type, value: object, example: str = "") -> Any:  # noqa: ANN401
    if type(value) is not kind:  # isinstance would take true for 1
        found = NAMES.get(type(value), "a date or time")
        raise KindError(f"must be {NAMES[kind]}, not {found}" + (f": {example}" if example else ""))
    return value


def _list(kind: type, value: object) -> tuple[object, ...]:
    if kind is str:
        return tuple(_of(str, item, TEXTS) for item in _of(list, value, TEXTS))
    return tuple(_number(item) for item in _of(list, value, NUMBERS))


def _number(value: object) -> float:
    number = float(value) if type(value) is int else _of(float, value)
    if not math.isfinite(number):
        raise KindError("must be a finite number")
    return float(number)


def _choice(choices: tuple[str, ...], value: object) -> str:
    text = str(_of(str, value))
    if text not in choices:
        near = get_close_matches(text, choices, 1)
        raise KindError(f"must be one of {', '.join(choices)}" + (f": did you mean {near[0]}?" if near else ""))
    return text


def _properties(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Names with dots need no quotes in the file: TOML makes tables of them, this makes names of those."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _properties(value, f"{prefix}{name}.")
        elif isinstance(value, str):
            yield prefix + name, value
        else:
            raise KindError(f"the value of {prefix}{name} must be text: put it in quotes")
