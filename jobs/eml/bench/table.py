"""The benchmark's figures on the screen, and what exactly they are.

Called by `stream`; reads `comparison` and computes nothing itself.
"""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from eml.bench.comparison import COPY, EMPTY, JOB, Options, Result, Rival
from eml.bench.load import FEATURES, FIRST
from eml.bench.measure import WARM_UP

NAMES = {
    JOB: "EML, a prediction for every record",
    EMPTY: "empty keyed PyFlink operator, record by record",
    COPY: "copy in Java, no Python",
}
MUST, AIM = 1.0, 2.0  # times the records of the empty operator


def name(rival: Rival) -> str:
    """What a pipeline is."""
    return NAMES[rival.kind] + (f", micro-batch {rival.micro_batch_ms} ms" if rival.micro_batch_ms else "")


def show(options: Options, results: Sequence[Result], console: Console) -> None:
    """Print the table, and what was measured."""
    table = Table(title="Kafka to Kafka", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("keys", justify="right", no_wrap=True)
    table.add_column("pipeline")
    for heading in ("records/s", "times empty", "times copy", "with a label"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        for number, rival in enumerate(result.rates):
            table.add_row("" if number else str(result.keys), name(rival), *_figures(result, rival))
        table.add_section()
    console.print(table)
    for line in (*_verdicts(results), _what(options)):
        console.print(line, soft_wrap=True)


def _figures(result: Result, rival: Rival) -> tuple[str, ...]:
    answered = result.answered.get(rival)
    return (
        f"{result.rate(rival):,.0f}",
        f"{result.times(rival, EMPTY):.2f}",
        f"{result.times(rival, COPY):.2f}",
        "" if answered is None else f"{answered:,}",
    )


def _verdicts(results: Sequence[Result]) -> list[str]:
    """For each number of keys, how the best of ours stands to the empty operator."""
    lines = []
    for result in results:
        best = max(result.times(rival, EMPTY) for rival in result.rates if rival.kind == JOB)
        met = "above twice it" if best >= AIM else "above it" if best > MUST else "BELOW IT"
        lines.append(f"{result.keys} keys: {best:.2f} times the empty operator, {met}")
    return lines


def _what(options: Options) -> str:
    return (
        f"Measured: {options.records:,} records of {FEATURES} doubles, in Kafka before each start;"
        f" {options.labelled:.0%} and each key's first {FIRST} with a label. The rate is of the records in the output"
        f" topic, from their append times; the first {WARM_UP:.0%} do not count. Parallelism {options.parallelism},"
        f" {options.delivery}, a checkpoint every {options.checkpoint_ms} ms, real Python workers;"
        + "".join(f" {name} {value};" for name, value in options.flink)
        + f" medians of {options.rounds}. 'With a label': predictions that name a class."
    )
