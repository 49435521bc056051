"""The table on the screen: one row per data set and batch size, methods beside the paper's figure.

Called by `session`; reads `results`, computes nothing.
"""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from eml.evaluate.results import BETTER_MEMORY, CONTROL_MARGIN, MEMORIES, Cell, Score, summarise


def show(cells: Sequence[Cell], title: str, caption: str, console: Console) -> None:
    """Print the table, its notes and its summary; where the screen is too narrow lines run over, no digit is cut."""
    table = _table(cells, title)
    console.width = max(console.width, Measurement.get(console, console.options.update(max_width=1000), table).maximum)
    console.print(table)
    for line in (caption, *_notes(cells), *_summary_lines(cells)):
        console.print(Text(line), soft_wrap=True)


def _table(cells: Sequence[Cell], title: str) -> Table:
    columns = _columns(cells)
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")
    table.add_column("data set", no_wrap=True)
    table.add_column("n_i", justify="right")
    for name in (*columns, "paper EML", "eml -paper"):
        table.add_column(name.replace(" ", "\n", 1), justify="right", no_wrap=True)
    previous = ""
    for row in cells:
        if previous not in ("", row.dataset):
            table.add_section()
        scores = [_figure(_score(row, name)) for name in columns]
        table.add_row(row.dataset if row.dataset != previous else "", str(row.batch), *scores, *_paper(row))
        previous = row.dataset
    table.add_section()
    averages = summarise(cells).averages
    table.add_row("average", "", *(f"{averages[name]:.2f}" for name in columns), "", "")
    return table


def _columns(cells: Sequence[Cell]) -> list[str]:
    """Methods as asked for; where both memory controls ran, one column with the better of the two."""
    names = list(cells[0].scores)
    if not all(name in names for name in MEMORIES):
        return names
    names[names.index(MEMORIES[0])] = BETTER_MEMORY
    return [name for name in names if name not in MEMORIES]


def _score(row: Cell, column: str) -> Score | None:
    return row.control if column == BETTER_MEMORY else row.scores[column]


def _figure(score: Score | None) -> str:
    if score is None:
        return ""
    return f"{score.mean:.2f}" + ("" if score.std_err is None else f"±{score.std_err:.2f}")


def _paper(row: Cell) -> tuple[str, str]:
    if row.paper is None:
        return "", ""
    published = f"{row.paper.accuracy:.2f}±{row.paper.std_err:.2f}"
    if "eml" not in row.scores:
        return published, ""
    return published, f"{round(row.scores['eml'].mean, 2) - row.paper.accuracy:+.2f}"


def _notes(cells: Sequence[Cell]) -> list[str]:
    """Each note once, with the batch sizes it is about."""
    batches: dict[tuple[str, str], list[str]] = {}
    for row in cells:
        for note in row.notes:
            batches.setdefault((row.dataset, note), []).append(str(row.batch))
    return [f"{dataset}, n_i {', '.join(sizes)}: {note}" for (dataset, note), sizes in batches.items()]


def _summary_lines(cells: Sequence[Cell]) -> list[str]:
    summary = summarise(cells)
    lines = []
    reached, of = summary.paper_reached
    if of:
        lines.append(f"eml at or above the paper's EML: {reached} of {of} cells")
    below, of = summary.below_control
    if of:
        control = BETTER_MEMORY if BETTER_MEMORY in summary.averages else "memory control"
        lines.append(f"eml more than {CONTROL_MARGIN} below {control}: {below} of {of} cells")
    if len(summary.by_stage) > 1:
        stages = ", ".join(f"stage {stage} {mean:.2f}" for stage, mean in summary.by_stage.items())
        lines.append(f"eml by stage, average over cells: {stages}")
    averages = ", ".join(f"{name} {mean:.2f}" for name, mean in summary.averages.items())
    return [*lines, f"average over data sets: {averages}"]
