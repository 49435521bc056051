"""The whole report as a document: what is in it, what each table says, and what is not there.

Called by `session`; puts together what `sections` and `pictures` make of the kept trials.
"""

from collections.abc import Sequence

from eml import __version__
from eml.evaluate.catalogue import DATASETS
from eml.evaluate.kept_trials.store import Reading
from eml.evaluate.paper import MAIN_TABLE, cells
from eml.evaluate.reporting import compare, freshness, haphazard, pictures, sections
from eml.evaluate.reporting.document import Block, Bullets, Gallery, Heading, Paragraph
from eml.evaluate.reporting.gather import OURS, Table, tables

# Facts about the data at hand; see `eml evaluate data` for each set.
ABSENT = (
    "Of the paper's data sets EV-Action, Gisette, ImageNet and PAMAP2 could not be had: there is no row for them.",
    "DSADS stands in for PAMAP2: wearables and activities, too, but not its data, so no published figure is beside it.",
    "Gas is beside the paper: an array of sensors that drift.",
    "The paper's own splits are not at hand: sizes, classes and features follow its settings, the seeds are ours.",
)


def document(reading: Reading) -> list[Block]:
    """All blocks of the report."""
    found = tables(reading.lines)
    blocks: list[Block] = [Heading(1, "EML: measured"), Paragraph(_opening(reading))]
    short = [*([_overall(found), *map(_short, found)] if found else []), *haphazard.short(reading.lines)]
    blocks += [Heading(2, "In short"), Bullets(tuple(short))] if short else []
    for table in found:
        blocks += [*sections.section(table), *pictures.galleries(table)]
    blocks += haphazard.sections(reading.lines)
    blocks += _looks_inside(reading)
    absent = [*ABSENT, *_missing(found)]
    absent += [] if haphazard.kept(reading.lines) else ["haphazard: nothing is kept in this folder."]
    blocks += [Heading(2, "What is not here"), Bullets((*absent, *_unsound(reading, found)))]
    return blocks


def _opening(reading: Reading) -> str:
    methods = {line.trial["method"] for line in reading.lines}
    datasets = {line.trial["dataset"] for line in reading.lines}
    counts = f"{len(reading.lines)} kept trials of {len(methods)} methods on {len(datasets)} data sets"
    return (
        f"{counts}, read by eml {__version__}. Every figure below is computed from them; the paper's own are named so. "
        "All methods of a row were dealt the same batches, or the same stream, seed by seed."
    )


def _overall(found: Sequence[Table]) -> str:
    places = [compare.first_places(table) for table in found]
    first, of = (sum(counts) for counts in zip(*places, strict=True))
    return f"All tables together: {OURS} is first in {first} of {of} rows" + (f" ({first / of:.0%})." if of else ".")


def _short(table: Table) -> str:
    return f"{sections.title(table)}, {len(table.methods)} methods: {sections.headline(table)}."


def _looks_inside(reading: Reading) -> list[Block]:
    found: list[Gallery] = [*pictures.convergence(reading.lines), *pictures.surfaces(reading.lines)]
    return [Heading(2, "Inside the learner"), *found] if found else []


def _missing(found: Sequence[Table]) -> list[str]:
    """Data sets and cells of the paper that no table of the folder has."""
    lines = []
    for scenario in (*MAIN_TABLE, "stream"):
        rows = {(row.dataset, row.batch) for table in found if table.scenario == scenario for row in table.rows}
        if not rows:
            lines.append(f"{scenario}: nothing is kept in this folder.")
            continue
        datasets = [name for name in DATASETS if name not in {dataset for dataset, _ in rows}]
        if datasets:
            lines.append(f"{scenario}: no trial of {', '.join(datasets)} in this folder.")
        published = cells(scenario) if scenario in MAIN_TABLE else []
        partly = [f"{d} n_i {b}" for d, b in published if (d, b) not in rows and d not in datasets]
        if partly:
            lines.append(f"{scenario}: published, but not in this folder: {', '.join(partly)}.")
    return lines


def _unsound(reading: Reading, found: Sequence[Table]) -> list[str]:
    lines = freshness.remarks([line for table in found for line in table.lines] + haphazard.kept(reading.lines))
    if reading.confirmed:
        methods = ", ".join(dict.fromkeys(f"{one.scenario} {one.method}" for one in reading.confirmed))
        rerun = sum(len(one.rerun) for one in reading.confirmed)
        lines.append(
            f"Made with earlier code, but counted as today's because {rerun} of their trials were run again and gave "
            f"the same figures (eml evaluate confirm): {methods}."
        )
    if reading.unreadable:
        lines.append(f"{reading.unreadable} lines of the folder could not be read and are left out.")
    return lines
