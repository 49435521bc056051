"""`eml bench stream` from its options to its tables, its file of figures and what got slower.

Called by `command`; has `stream` or `paced` measure on a stack that it starts, or that is given.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from eml.bench import report, table
from eml.bench.comparison import QUIX, Options
from eml.bench.paced import find_rate, paces
from eml.bench.quix_python import quix_python
from eml.bench.stream import Bench
from eml.local.stack import running


def run(
    options: Options, json_file: Path | None = None, baseline: Path | None = None, console: Console | None = None
) -> None:
    """Measure and print everything."""
    console = console or Console(highlight=False)
    before = report.read(baseline) if baseline is not None else None  # a wrong file is told before minutes are spent
    if QUIX in options.peers:
        quix_python()  # and so is a missing one
    with (
        running(bootstrap_servers=options.broker, registry_url=options.registry) as stack,
        TemporaryDirectory(prefix="eml-bench-") as folder,
    ):
        bench = Bench(options, stack, console, Path(folder))
        figures = _paced(bench) if options.rate or options.find_rate else _backlog(bench)
    if json_file is not None:
        report.write(json_file, "stream", options, figures)
    if before is not None:
        report.compare(before, figures, console)


def _backlog(bench: Bench) -> report.Figures:
    results = [bench.compare(keys, nulls) for keys, nulls in bench.options.loads()]
    table.show(bench.options, results, bench.console)
    return report.of_results(bench.options, results)


def _paced(bench: Bench) -> report.Figures:
    found = find_rate(bench) if bench.options.find_rate else paces(bench, bench.options.rate or 1)
    table.show_paces(bench.options, found, bench.console)
    return report.of_paces(bench.options, found)
