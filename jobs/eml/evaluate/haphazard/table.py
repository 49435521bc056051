"""The benchmark's table on the screen: one row per data set and p.

Called by `session`; reads `results`, computes nothing.
"""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from eml.evaluate.haphazard.published import CITATION
from eml.evaluate.haphazard.results import Cell, summary

_TITLE = "haphazard: balanced accuracy in percent, mean ± standard error"
FIRST = "*"  # after the highest figure of a row


def show(cells: Sequence[Cell], caption: str, console: Console) -> None:
    """Print the table and what it comes to; where the screen is too narrow lines run over, no digit is cut."""
    table = _table(cells)
    console.width = max(console.width, Measurement.get(console, console.options.update(max_width=1000), table).maximum)
    console.print(table)
    for line in (caption, f"{FIRST}: first of its row. Published: {CITATION}.", summary(cells)):
        console.print(Text(line), soft_wrap=True)


def _table(cells: Sequence[Cell]) -> Table:
    methods = list(cells[0].outcomes)
    table = Table(title=_TITLE, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")
    table.add_column("data set", no_wrap=True)
    for name in ("p %", *methods, "published\nbest"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("of", "first"):
        table.add_column(name, no_wrap=True)
    previous = ""
    for row in cells:
        if previous not in ("", row.dataset):
            table.add_section()
        figures = [figure(row, name) for name in methods]
        name = row.dataset if row.dataset != previous else ""
        table.add_row(name, str(row.p), *figures, *published(row), ", ".join(row.first))
        previous = row.dataset
    return table


def figure(row: Cell, method: str) -> str:
    """A method's figure as it is printed, marked where it is first."""
    spread = row.spread(method)
    error = "" if spread.std_err is None else f"±{spread.std_err:.2f}"
    return f"{spread.mean:.2f}{error}{FIRST if method in row.first else ' '}"


def published(row: Cell) -> tuple[str, str]:
    """The best published figure as it is printed, marked where it is first, and whose it is."""
    if row.published is None:
        return "", ""
    mark = FIRST if row.published.method in row.first else " "
    return f"{row.published.balanced:.1f}{mark}", row.published.method
