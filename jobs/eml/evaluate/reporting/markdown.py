"""The report as Markdown: tables and sentences; pictures are only named.

Called by `session` with a document.
"""

from collections.abc import Iterable, Iterator

from eml.evaluate.reporting.document import Block, Bullets, Cell, Gallery, Grid, Heading, Paragraph


def write(blocks: Iterable[Block]) -> str:
    """Return the document."""
    return "\n\n".join("\n".join(_block(block)) for block in blocks) + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading(level, text):
            yield f"{'#' * level} {text}"
        case Paragraph(text):
            yield _plain(text)
        case Bullets(items):
            yield from (f"- {_plain(item)}" for item in items)
        case Grid():
            yield from _grid(block)
        case Gallery(caption, _, panels):
            yield f"*On the page, in {len(panels)} {'picture' if len(panels) == 1 else 'pictures'}: {_plain(caption)}*"


def _grid(grid: Grid) -> Iterator[str]:
    yield _row(grid.header)
    yield _row(["---" if column < grid.names else "---:" for column in range(len(grid.header))])
    yield from (_row(map(_cell, row)) for row in grid.rows)
    yield ""
    yield _plain(grid.caption)


def _row(fields: Iterable[str]) -> str:
    return f"| {' | '.join(fields)} |"


def _cell(cell: Cell) -> str:
    text = f"**{_plain(cell.text)}**" if cell.strong and cell.text else _plain(cell.text)
    return f"{text} ({cell.under})" if cell.under else text


def _plain(text: str) -> str:
    """Text in which nothing is taken for a sign of Markdown's."""
    return "".join("\\" + sign if sign in "\\|*_`<" else sign for sign in text)
