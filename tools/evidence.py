"""docs/evidence.md and README's table from the kept trials: `python -m tools.evidence`, called by `make evidence`.

Every figure on the page is computed here from evidence/*.jsonl by the same code as `eml evaluate report`; a test makes
the page again and compares. What is written by hand is what the figures mean, and no sentence here says who wins:
those sentences are computed, too.
"""

import re
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from eml.evaluate.catalogue import DATASETS
from eml.evaluate.kept_trials.store import Line, Store
from eml.evaluate.reporting import compare, haphazard, markdown
from eml.evaluate.reporting.gather import OURS, VARIANTS, Entry, Row, Table, kind_of, tables
from eml.evaluate.reporting.sections import title

ROOT = Path(__file__).parents[1]
NAMES = {
    "eml": "EML",
    "eml-announced": "EML, announced in the last quarter of the stage before",
    "eml-woT": "EML without the T-stage",
    "eml-woI": "EML without the I-stage",
    "eml-woLinear": "EML without the linear view",
    "eml-woFresh": "EML without the fresh start",
    "drop-only": "the same learner, survivors only",
    "restart": "the same learner, restarted cold",
    "memory": "nearest neighbours on the survivors",
    "river-lr": "River logistic regression",
    "river-lr-restart": "River logistic regression, restarted cold",
    "river-knn": "River KNN",
    "river-arf": "River ARF",
    "openmoa-ftrl": "OpenMOA FTRL",
    "openmoa-fesl": "OpenMOA FESL",
    "openmoa-ovfm": "OpenMOA OVFM",
    "haphazard-olvf": "haphazard OLVF",
    "metric-learn-nca": "metric-learn NCA",
}
IN_README = ("eml", "drop-only", "restart", "river-lr", "openmoa-ftrl")
WIDE = ("DSADS", "Gas")  # with rows of their own in README; the paper's smaller sets share one
BEGIN, END = "<!-- made by `make evidence` -->", "<!-- end -->"


def main() -> int:
    """Write the page and the table."""
    lines = kept()
    (ROOT / "docs/evidence.md").write_text(page(lines), encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8"), lines), encoding="utf-8")
    return 0


def kept() -> Sequence[Line]:
    """The trials in evidence/."""
    reading = Store(ROOT / "evidence").read_all()
    if reading.unreadable:
        raise SystemExit(f"evidence/ has {reading.unreadable} lines that cannot be read")
    return reading.lines


# -- README ------------------------------------------------------------------------------------------------------------


def with_table(readme: str, lines: Sequence[Line]) -> str:
    """README with its table made anew, between two marks."""
    before, _, rest = readme.partition(BEGIN)
    return f"{before}{BEGIN}\n{short_table(lines)}\n{END}{rest.partition(END)[2]}"


def short_table(lines: Sequence[Line]) -> str:
    """A few rows: right answers in the first 20 % after one switch."""
    early = [table for table in tables(lines) if _is_plain_stream(table) and table.figure == "early"]
    rows = {row.dataset: row for table in early for row in table.rows}
    text = [f"| first 20 % after the switch | {' | '.join(NAMES[method] for method in IN_README)} |"]
    text.append("|---|" + "---:|" * len(IN_README))
    for name in WIDE:
        means = {method: rows[name].entries[method] for method in IN_README if method in rows[name].entries}
        text.append(_row(name, {method: _shown(entry) for method, entry in means.items()}))
    others = [rows[name] for name in DATASETS if name in rows and name not in WIDE]
    shared = [method for method in IN_README if all(method in row.entries for row in others)]
    averages = {m: f"{statistics.fmean(row.entries[m].mean for row in others):.2f}" for m in shared}
    text.append(_row(f"mean of {len(others)} smaller sets", averages))
    missing = re.findall(r"first in (\d+ of \d+) rows", _missing_inputs(lines))
    told = f" With values missing (a published benchmark) it is first in {missing[0]} rows." if missing else ""
    return "\n".join([*text, "", summary(lines) + told])


def _is_plain_stream(table: Table) -> bool:
    """One switch, records in a seeded order, whichever features come and go by default."""
    other = {"scheme", "order"} & table.parameters.keys()
    return table.scenario == "stream" and table.parameters["switches"] == 1 and not other


def _row(name: str, cells: dict[str, str]) -> str:
    best = max(float(cell.partition("±")[0]) for cell in cells.values())
    bold = {m: f"**{cell}**" if float(cell.partition("±")[0]) == best else cell for m, cell in cells.items()}
    return f"| {name} | {' | '.join(bold.get(method, '') for method in IN_README)} |"


# -- the page ----------------------------------------------------------------------------------------------------------


def page(lines: Sequence[Line]) -> str:
    """The page as Markdown."""
    found = tables(lines)
    blocks = [INTRODUCTION, "## In short", summary(lines), _missing_inputs(lines), *_streams(found)]
    blocks += ["## Missing inputs", MISSING, _shifted(markdown.write(haphazard.sections(lines)))]
    blocks += ["## The paper's own scenarios", *_paper(found), CHOICES]
    return "\n\n".join(filter(None, blocks)) + "\n"


def summary(lines: Sequence[Line]) -> str:
    """Who is first how often, and where another method is above EML."""
    found = [table for table in tables(lines) if _has_ours(table)]
    first, rows = (sum(counts) for counts in zip(*map(compare.first_places, found), strict=True))
    text = (
        f"Over all {rows} rows of streams and scenarios measured, EML is first in {first} ({100 * first / rows:.0f} %)."
    )
    lost: dict[str, list[float]] = {}
    for table in found:
        thin = compare.uncounted(table)
        for record in compare.records(table):
            if record.method not in VARIANTS and record.method not in thin:
                lost.setdefault(record.method, []).extend(-contest.lead for contest in record.lost)
    ahead = {method: points for method, points in lost.items() if points}
    others = [f"{_name(m)} ({len(points)} rows, by {_span(points)} points)" for m, points in ahead.items()]
    if others:
        text += f" Above it: {'; '.join(others)}."
    never = [_name(method) for method in lost if method not in ahead]
    return f"{text} Never above it: {', '.join(never)}." if never else text


def _missing_inputs(lines: Sequence[Line]) -> str:
    said = haphazard.short(lines)
    return " ".join(said)


def _has_ours(table: Table) -> bool:
    return any(OURS in row.entries for row in table.rows)


def _span(points: Sequence[float]) -> str:
    low, high = f"{min(points):.2f}", f"{max(points):.2f}"
    return low if low == high else f"{low} to {high}"


def _streams(found: Sequence[Table]) -> Iterator[str]:
    yield "## In a stream"
    yield STREAM
    by_plan: dict[str, dict[str, Table]] = {}
    for table in found:
        if table.scenario == "stream" and _has_ours(table):
            by_plan.setdefault(_plan(table), {})[table.figure] = table
    yield _parts([table for figures in by_plan.values() for table in figures.values() if table.figure != "balanced"])
    for plan, figures in by_plan.items():
        yield f"### {plan}"
        yield _stream_table(figures["early"], figures["after"])


def _parts(found: Sequence[Table]) -> str:
    """What each part of EML is worth: EML minus the variant without it, row by row."""
    leads: dict[str, list[float]] = {}
    for table in found:
        for contest in compare.contests(table):
            if contest.method in VARIANTS:
                leads.setdefault(contest.method, []).append(contest.lead)
    worth = [f"{_name(m)}: {statistics.fmean(p):+.2f} on average ({_span(p)}, {len(p)} rows)" for m, p in leads.items()]
    return f"EML minus its variants, in points: {'; '.join(worth)}." if worth else ""


def _plan(table: Table) -> str:
    text = title(table).partition(": ")[0].removeprefix("Stream, ")
    return text[0].upper() + text[1:]


def _stream_table(early: Table, after: Table) -> str:
    text = ["| data set | method | first 20 % after the switch | stage after it | seeds |", "|---|---|---:|---:|---:|"]
    for first, whole in zip(early.rows, after.rows, strict=True):
        methods = _counted(first)
        methods.sort(key=lambda method: -whole.entries[method].mean)
        bests = [_best(row, methods) for row in (first, whole)]
        for number, method in enumerate(methods):
            cells = [_cell(row.entries[method], best) for row, best in zip((first, whole), bests, strict=True)]
            seeds = len(first.entries[method].values)
            text.append(f"| {first.dataset if number == 0 else ''} | {_name(method)} | {' | '.join(cells)} | {seeds} |")
    return "\n".join(text)


def _counted(row: Row) -> list[str]:
    """Methods with at least half of EML's seeds: fewer are chance, and take no place in a row."""
    least = compare.ENOUGH * len(row.entries[OURS].values) if OURS in row.entries else 0
    return [method for method, entry in row.entries.items() if len(entry.values) >= least]


def _best(row: Row, methods: Sequence[str]) -> float:
    return max(round(row.entries[method].mean, 2) for method in methods)


def _cell(entry: Entry, best: float) -> str:
    return f"**{_shown(entry)}**" if round(entry.mean, 2) == best else _shown(entry)


def _shown(entry: Entry) -> str:
    error = "" if entry.std_err is None else f"±{entry.std_err:.2f}"
    return f"{entry.mean:.2f}{error}"


def _paper(found: Sequence[Table]) -> Iterator[str]:
    yield PAPER
    scenarios = [table for table in found if table.scenario != "stream"]
    for table in scenarios:
        if _has_ours(table):
            yield f"### {title(table)}"
            yield _scenario_table(table)
    waiting = [title(table) for table in scenarios if not _has_ours(table)]
    if waiting:
        yield (
            f"Not measured with the learner of today: {'; '.join(waiting)}. The trials of the rivals are kept, so that"
            " only EML is left to run."
        )


def _scenario_table(table: Table) -> str:
    text = ["| data set | EML | best rival | best control | EML in the paper |", "|---|---:|---|---|---:|"]
    for row in table.rows:
        if OURS in row.entries:
            best = [_best_of_kind(row, kind) for kind in ("rival", "control")]
            paper = f"{row.published[OURS].accuracy:.2f}" if OURS in row.published else ""
            text.append(f"| {row.name} | {_shown(row.entries[OURS])} | {' | '.join(best)} | {paper} |")
    return "\n".join(text)


def _best_of_kind(row: Row, kind: str) -> str:
    entries = {m: row.entries[m] for m in _counted(row) if kind_of(m) == kind}
    if not entries:
        return ""
    method = max(entries, key=lambda name: entries[name].mean)
    return f"{_shown(entries[method])} ({_name(method)})"


def _name(method: str) -> str:
    return NAMES.get(method, method.upper() if kind_of(method) == "rival" else method)


def _shifted(text: str) -> str:
    """A report's section without its own title."""
    return re.sub(r"^## .*\n\n", "", text, count=1, flags=re.MULTILINE).strip()


INTRODUCTION = f"""\
{BEGIN}

# Evidence

Every figure on this page comes from the trials in [evidence/](../evidence), and `make evidence` makes the page anew
from them. A test fails when page and trials differ. `eml evaluate report --keep evidence --html report.html` makes a
longer report with all methods, significance, times and pictures.

**How it was measured.** Methods of a row get the same batches or the same stream, seed by seed, with the same memory.
Each of them predicts a record before it gets its label (prequential evaluation). Figures are means ± standard error
in percent. Bold is the best of a row. A method with fewer than half of EML's seeds in a row is left out.

**Who is compared.** The paper's nine rivals, written anew from their papers (`jobs/eml/evaluate/rivals` says how each
was read). Controls: nearest neighbours on the survivors, EML's own learner restarted cold, and the same learner with
the survivors alone, which never gets the new features. Learners of River, OpenMOA, haphazard and metric-learn run from
their own packages.

**Make it again.** `EML_DATA` names the folder with the data; `eml evaluate data` lists the data sets and
`eml evaluate data --fetch` gets four of them from OpenML. With `--keep evidence` a scenario takes the kept trials and
adds what is missing; an interrupted run goes on where it stopped. After a change of the code,
`eml evaluate confirm --keep evidence` runs a kept trial of each rival and data set again: where the results are equal
to the last bit, the method's other trials stand.
`--data FILE.npz --split DV,DS,DN --batch N` takes your own data, NaN where a value is missing."""

STREAM = """\
`eml evaluate stream --dataset DSADS,Gas --total 4000 --seed 100 --methods all`, with `--switches 5` for the rows of
five switches, and `--total 2000` for the smaller sets. Records come in a seeded order. At a switch a body unit
(DSADS), 4 of 16 sensors (Gas) or a block of features is swapped for others. Every record is predicted, then its label
is given."""

MISSING = """\
`eml evaluate haphazard --keep evidence` runs a published benchmark of missing values on its exact streams."""

PAPER = """\
`eml evaluate one-shot` and `eml evaluate multi-shot` run the paper's protocols: features evolve once, or twice."""

CHOICES = """\
## What was chosen while looking

The defaults of EML are one set for all data. They were chosen while looking at these data sets and at public ones of
the KEEL repository. Of the peers, FTRL's softmax, FESL's step and OLVF's C were chosen in their favour on these data.
haphazard's OCDS does not learn as published and is left out. OpenMOA's OVFM runs, but takes half an hour a stream on
DSADS, and is not in the kept trials.

**Speed** is on [another page](benchmarks.md)."""


if __name__ == "__main__":
    sys.exit(main())
