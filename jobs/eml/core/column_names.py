"""Names of the encoded space's columns: which feature a column belongs to, and which level it stands for.

Called by `one_hot`, `folding` and `category_detection`; knows text only. `one_hot` shows the forms.
"""

from collections.abc import Iterable

MARK = "\0"  # between a feature's name and its level: no name has it
SYMBOL = "="  # before the level of a category; alone: the column of all its other symbols


def code_column(name: str, level: int) -> str:
    """The name of the column of a code's level."""
    return f"{name}{MARK}{level}"


def category_column(name: str, level: float) -> str:
    """The name of the column of a category's level, from which `level_of` reads the same number."""
    return f"{name}{MARK}{SYMBOL}{level:.17g}"


def other_column(name: str) -> str:
    """The name of the column of all symbols of a category that have none of their own."""
    return f"{name}{MARK}{SYMBOL}"


def feature_of(name: str) -> str:
    """The feature that a column belongs to."""
    return name.partition(MARK)[0]


def is_category(name: str) -> bool:
    """Whether a column is one of a category."""
    return name.partition(MARK)[2].startswith(SYMBOL)


def level_of(name: str) -> float | None:
    """The level that a column stands for; None for a numeric feature and for a category's other symbols."""
    level = name.partition(MARK)[2].removeprefix(SYMBOL)
    return float(level) if level else None


def codes_in(names: Iterable[str]) -> dict[str, list[int]]:
    """The levels of every one-hot encoded code among these columns."""
    found: dict[str, list[int]] = {}
    for name in names:
        level = level_of(name)
        if level is not None and not is_category(name):
            found.setdefault(feature_of(name), []).append(int(level))
    return found


def categories_in(names: Iterable[str]) -> dict[str, list[float]]:
    """The levels of every category among these columns, in the order of the columns."""
    found: dict[str, list[float]] = {}
    for name in names:
        if is_category(name):
            level = level_of(name)
            found.setdefault(feature_of(name), []).extend([] if level is None else [level])
    return found
