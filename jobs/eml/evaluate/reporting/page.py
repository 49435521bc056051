"""The report as one page of HTML that needs nothing else: style and pictures are in it, and no script.

Called by `session` with a document.
"""

import re
from collections.abc import Iterable, Iterator
from html import escape
from importlib import resources

from eml.evaluate.reporting.document import Block, Bullets, Cell, Gallery, Grid, Heading, Panel, Paragraph


def write(blocks: Iterable[Block]) -> str:
    """Return the page."""
    blocks = list(blocks)
    style = resources.files("eml.evaluate.reporting").joinpath("page.css").read_text(encoding="utf-8")
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    first = next((number for number, block in enumerate(blocks) if isinstance(block, Heading) and block.level > 1), 0)
    body = [*map(_block, blocks[:first]), _contents(blocks), *map(_block, blocks[first:])]
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>",
            *body,
            "</main>\n</body>\n</html>\n",
        ]
    )


def _contents(blocks: Iterable[Block]) -> str:
    links = [
        f'<a href="#{_anchor(block.text)}">{escape(block.text)}</a>'
        for block in blocks
        if isinstance(block, Heading) and block.level == 2
    ]
    return f"<nav>{' '.join(links)}</nav>"


def _block(block: Block) -> str:
    match block:
        case Heading(level, text):
            anchor = f' id="{_anchor(text)}"' if level <= 2 else ""  # the same title stands under each table
            return f"<h{level}{anchor}>{escape(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Bullets(items):
            return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
        case Grid():
            return "\n".join(_grid(block))
        case Gallery():
            return "\n".join(_gallery(block))


def _grid(grid: Grid) -> Iterator[str]:
    """A table in a frame that scrolls; the first column stays in sight."""
    yield '<figure class="grid"><div class="scroll" tabindex="0"><table>'
    heads = "".join(f'<th scope="col"{_side(i, grid.names)}>{escape(text)}</th>' for i, text in enumerate(grid.header))
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    previous = ""
    for row in grid.rows:
        group = ' class="group"' if previous not in ("", row[0].text) and grid.names > 1 else ""
        previous = row[0].text
        fields = "".join(_field(cell, column, grid.names) for column, cell in enumerate(row))
        yield f"<tr{group}>{fields}</tr>"
    yield f"</tbody></table></div><figcaption>{escape(grid.caption)}</figcaption></figure>"


def _field(cell: Cell, column: int, names: int) -> str:
    text = f"<b>{escape(cell.text)}</b>" if cell.strong else escape(cell.text)
    under = f"<small>{escape(cell.under)}</small>" if cell.under else ""
    tag, scope = ("th", ' scope="row"') if column == 0 else ("td", "")
    return f"<{tag}{scope}{_side(column, names)}>{text}{under}</{tag}>"


def _side(column: int, names: int) -> str:
    return ' class="name"' if column < names else ""


def _gallery(gallery: Gallery) -> Iterator[str]:
    yield '<figure class="gallery">'
    if gallery.legend:
        keys = (f'<span><i style="background:{colour}"></i>{escape(name)}</span>' for name, colour in gallery.legend)
        yield f'<div class="legend">{"".join(keys)}</div>'
    yield f'<div class="panels">{"".join(map(_panel, gallery.panels))}</div>'
    yield f"<figcaption>{escape(gallery.caption)}</figcaption></figure>"


def _panel(panel: Panel) -> str:
    title = f"<h4>{escape(panel.title)}</h4>" if panel.title else ""
    return f'<div class="panel">{title}{panel.svg}</div>'


def _anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
