"""A report as a list of blocks, in no language yet: nouns only.

Made by `contents` and `sections`; written by `markdown` and `page`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A title; level 1 is the page's own."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """Plain lines."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A field of a grid: its text, and a smaller one under it."""

    text: str
    under: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; its first `names` columns are text, the others figures."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    names: int = 1


@dataclass(frozen=True, slots=True)
class Panel:
    """A picture, as SVG without a prologue, and what it shows."""

    title: str
    svg: str


@dataclass(frozen=True, slots=True)
class Gallery:
    """Pictures that belong together, with one legend: names and colours."""

    caption: str
    legend: tuple[tuple[str, str], ...]
    panels: tuple[Panel, ...]


Block = Heading | Paragraph | Bullets | Grid | Gallery
