"""The stream's table on the screen: one row per data set and method.

Called by `session`; reads `results`, computes nothing.
"""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from eml.evaluate.prequential.results import Group, Spread

_TITLE = "stream: accuracy in percent, predicted before learnt; mean ± standard error"
_COLUMNS = {
    "first 20 %\nafter": "early",
    "stage\nafter": "after",
    "balanced\nafter": "balanced",
    "before": "before",
}


def show(groups: Sequence[Group], caption: str, console: Console) -> None:
    """Print the table, its notes and who is ahead; where the screen is too narrow lines run over, no digit is cut."""
    table = _table(groups)
    console.width = max(console.width, Measurement.get(console, console.options.update(max_width=1000), table).maximum)
    console.print(table)
    notes = [f"{group.dataset}: {group.note}" for group in groups if group.note]
    for line in (caption, *notes, *_leads(groups)):
        console.print(Text(line), soft_wrap=True)


def _table(groups: Sequence[Group]) -> Table:
    table = Table(title=_TITLE, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")
    table.add_column("data set", no_wrap=True)
    table.add_column("method", no_wrap=True)
    for name in (*_COLUMNS, "regret\nrecords", "CPU\ns"):
        table.add_column(name, justify="right", no_wrap=True)
    for group in groups:
        for number, method in enumerate(group.figures):
            accuracies = [_figure(group.spread(method, figure), 2) for figure in _COLUMNS.values()]
            costs = [_figure(group.regret(method), 1), f"{group.spread(method, 'seconds').mean:.1f}"]
            table.add_row("" if number else group.dataset, method, *accuracies, *costs)
        table.add_section()
    return table


def _figure(spread: Spread | None, digits: int) -> str:
    if spread is None:
        return ""
    return f"{spread.mean:.{digits}f}" + ("" if spread.std_err is None else f"±{spread.std_err:.{digits}f}")


def _leads(groups: Sequence[Group]) -> list[str]:
    lines = []
    for group in groups:
        lead = group.lead()
        if lead is not None:
            rival, ahead = lead
            error = "" if ahead.std_err is None else f"±{ahead.std_err:.2f}"
            lines.append(f"{group.dataset}, first 20 %: eml minus the best rival ({rival}): {ahead.mean:+.2f}{error}")
    return lines
