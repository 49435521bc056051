"""The code blocks of README and docs, for the tests that run them."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[3]
OUTSIDE = ("README", "CONTRIBUTING", "ARCHITECTURE", "SECURITY", "deploy/README", "docker/README", "schemas/README")
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n]*)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block and where it stands."""

    page: Path
    line: int
    language: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """All pages that people read as they are."""
    return [*(ROOT / f"{name}.md" for name in OUTSIDE), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str = "", page: Path | None = None) -> list[Block]:
    """All blocks in a language, or of one page."""
    found = [block for one in ([page] if page else pages()) for block in _of(one)]
    return [block for block in found if block.language == language] if language else found


def titled(title: str) -> Block:
    """The one block with a title."""
    (found,) = (block for block in blocks() if block.title == title)
    return found


def _of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        language, _, rest = found["info"].partition(" ")
        title = re.search(r'title="([^"]*)"', rest)
        line = text[: found.start()].count("\n") + 1
        yield Block(page, line, language, title[1] if title else "", dedent(found["text"]))


def commands(text: str) -> Iterator[list[str]]:
    """The single commands of a shell block, also those inside `$(...)`, without comments and variables before them."""
    for line in text.replace("\\\n", " ").splitlines():
        for inner in re.findall(r"\$\(([^()]*)\)", line):
            yield from commands(inner)
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word in (";", "&&", "||", "|", "&"):
                if words:
                    yield words
                words = []
            elif words or not re.match(r"[A-Z_]+=", word):
                words.append(word)
