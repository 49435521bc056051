"""The part of the report about one table: figures, significance, the paper's figures, where ours is beaten.

Called by `contents`; reads `gather` and `compare`, and computes nothing but sentences.
"""

from collections.abc import Mapping, Sequence

from eml.evaluate.reporting import compare
from eml.evaluate.reporting.compare import LEVEL, Contest, Record
from eml.evaluate.reporting.document import Block, Bullets, Cell, Grid, Heading, Paragraph
from eml.evaluate.reporting.gather import OURS, VARIANTS, Entry, Row, Table, kind_of, method_order

_TITLES = {
    "one-shot": "One-shot",
    "multi-shot-task-I": "Multi-shot, Task I",
    "multi-shot-task-II": "Multi-shot, Task II",
    "stream": "Stream",
}
_FIGURES = {
    "accuracy": "accuracy",
    "early": "first 20 % after a switch",
    "after": "whole stage after a switch",
    "balanced": "whole stage after a switch, classes alike",
}
AHEAD, BEHIND = "▲", "▼"
_LEGEND = (
    f"Mean ± standard error over seeds, in percent; bold: best of the row. {AHEAD} ours is better, {BEHIND} ours is "
    f"worse at the level {LEVEL:g} (Wilcoxon's signed ranks over the same seeds, two-sided, Holm-corrected over this "
    "table)."
)


def title(table: Table) -> str:
    """The table's name; a stream has one per plan and figure."""
    if table.scenario != "stream":
        return _TITLES[table.scenario]
    switches, total = table.parameters["switches"], table.parameters["total"]
    plan = f"{switches} switch{'es' if switches > 1 else ''}, {'all' if total is None else total} records"
    plan += f", {table.parameters['scheme']} features" if "scheme" in table.parameters else ""
    plan += " as recorded" if "order" in table.parameters else ""
    return f"{_TITLES[table.scenario]}, {plan}: {_FIGURES[table.figure]}"


def section(table: Table) -> list[Block]:
    """All about one table."""
    found = compare.records(table)
    blocks: list[Block] = [Heading(2, title(table)), Paragraph(_parameters(table)), *_headline(table, found)]
    blocks += [Heading(3, "Measured here"), _measured(table, compare.contests(table))]
    if found:
        blocks += [Heading(3, "Ours against each"), _against(table, found)]
    if any(row.published for row in table.rows):
        blocks += [Heading(3, "Published in the paper"), _beside_paper(table)]
    return blocks


def _parameters(table: Table) -> str:
    words = {
        "memory": "memory of {} exemplars",
        "switches": "switches: {}",
        "total": "records: {}",
        "scheme": "{} features",
        "order": "order of records: {}",
    }
    shares = {"labelled": "labelled: {:g} %", "notice": "announced in the last {:g} % of a stage (eml-announced)"}
    parts = []
    for name, value in table.parameters.items():
        if name in shares:
            parts.append(shares[name].format(100 * value))
        else:
            parts.append(words.get(name, name + " {}").format("all" if value is None else value))
    text = "; ".join(parts) + "."
    return text[0].upper() + text[1:]


def headline(table: Table) -> str:
    """The table in one sentence."""
    first, of = compare.first_places(table)
    text = f"{OURS} is first in {first} of {of} rows" if of else "nothing to compare ours with"
    reached, published = compare.paper_reached(table)
    return f"{text}, at or above the paper's EML in {reached} of {published}" if published else text


def _headline(table: Table, found: Sequence[Record]) -> list[Block]:
    seeds = sorted({len(entry.values) for row in table.rows for entry in row.entries.values()})
    text = f"{headline(table)}. Variants of ours take no places. Seeds per cell: {_span(seeds)}."
    thin = ", ".join(f"{method} ({count})" for method, count in compare.uncounted(table).items())
    if thin:
        text += f" Too few seeds in common to count for places: {thin}."
    least = compare.least_corrected(found)
    if found and least >= LEVEL:
        text += f" With so few no corrected p can be below {least:.2g}: nothing here can be significant."
    blocks: list[Block] = [Paragraph(text)]
    beaten = [_lost(record) for record in found if record.lost]
    beaten += [f"{name}, as published: {', '.join(rows)}" for name, rows in compare.published_above(table).items()]
    if beaten:
        blocks += [Paragraph("Where another is above ours, by how many points:"), Bullets(tuple(beaten))]
    elif found:
        blocks.append(Paragraph("No other method is above ours in any row."))
    return blocks


def _lost(record: Record) -> str:
    rows = ", ".join(f"{c.row.name} {-c.lead:+.2f}{BEHIND if c.significant else ''}" for c in record.lost)
    kind = "variant of ours" if record.method in VARIANTS else kind_of(record.method)
    return f"{record.method} ({kind}), {len(record.lost)} of {len(record.contests)} rows: {rows}"


def _measured(table: Table, contests: Sequence[Contest]) -> Grid:
    marks = {(c.row.name, c.method): AHEAD if c.lead > 0 else BEHIND for c in contests if c.significant and c.lead}
    methods = table.methods
    batches = any(row.batch is not None for row in table.rows)
    rows = []
    for row in table.rows:
        best = compare.best_of(row)
        fields = [_figure(row.entries.get(m), marks.get((row.name, m), ""), strong=m in best) for m in methods]
        rows.append((*_names(row, batches=batches), *fields))
    return Grid(_LEGEND, (*_name_header(batches=batches), *methods), tuple(rows), names=1 + batches)


def _figure(entry: Entry | None, mark: str, *, strong: bool) -> Cell:
    if entry is None:
        return Cell("")
    error = "" if entry.std_err is None else f"±{entry.std_err:.2f}"
    return Cell(f"{entry.mean:.2f}{error}{mark}", strong=strong)


def _against(table: Table, found: Sequence[Record]) -> Grid:
    means = compare.averages(table)
    mine = means.get(OURS)
    rows = [_own_row(mine)] if mine else []
    rows += [_record_row(record, means) for record in found]
    header = ("method", "kind", "ours ahead", "level", "behind", "mean lead", "average", "CPU s")
    caption = (
        f"Ours against each: rows in which ours is ahead, level, behind, of these significant ({AHEAD}, {BEHIND}); "
        "mean lead in points and average accuracy, every data set counting the same; CPU seconds of a trial, learning "
        "and predicting. Average and seconds only where a method has all rows of ours."
    )
    return Grid(caption, header, tuple(rows), names=2)


def _own_row(mean: tuple[float, float]) -> tuple[Cell, ...]:
    return Cell(OURS, strong=True), Cell("ours"), *[Cell("")] * 4, Cell(f"{mean[0]:.2f}"), Cell(f"{mean[1]:.2f}")


def _record_row(record: Record, means: Mapping[str, tuple[float, float]]) -> tuple[Cell, ...]:
    average, seconds = means.get(record.method, (None, None))
    return (
        Cell(record.method),
        Cell(kind_of(record.method)),
        Cell(f"{record.count(1)} ({record.count(1, significant=True)}{AHEAD})"),
        Cell(str(record.count(0))),
        Cell(f"{record.count(-1)} ({record.count(-1, significant=True)}{BEHIND})"),
        Cell(f"{record.lead:+.2f}"),
        Cell("" if average is None else f"{average:.2f}"),
        Cell("" if seconds is None else f"{seconds:.2f}"),
    )


def _beside_paper(table: Table) -> Grid:
    rows = [row for row in table.rows if row.published]
    methods = sorted({method for row in rows for method in row.published}, key=method_order)
    lines = []
    for row in rows:
        best = max(figure.accuracy for figure in row.published.values())
        lines.append((*_names(row, batches=True), *(_published(row, method, best) for method in methods)))
    caption = (
        "The paper's published figures (fifty runs, its own splits), bold: its best of the row; under each, what was "
        "measured here minus that."
    )
    return Grid(caption, (*_name_header(batches=True), *methods), tuple(lines), names=2)


def _published(row: Row, method: str, best: float) -> Cell:
    figure = row.published.get(method)
    if figure is None:
        return Cell("")
    entry = next((entry for name, entry in row.entries.items() if name.casefold() == method.casefold()), None)
    under = "" if entry is None else f"{round(entry.mean, 2) - figure.accuracy:+.2f}"
    return Cell(f"{figure.accuracy:.2f}±{figure.std_err:.2f}", under, strong=figure.accuracy == best)


def _names(row: Row, *, batches: bool) -> tuple[Cell, ...]:
    return (Cell(row.dataset), Cell(str(row.batch))) if batches else (Cell(row.dataset),)


def _name_header(*, batches: bool) -> tuple[str, ...]:
    return ("data set", "n_i") if batches else ("data set",)


def _span(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
