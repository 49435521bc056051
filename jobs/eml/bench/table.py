"""The benchmark's figures on the screen, and what exactly they are.

Called by `running`; reads `comparison` and computes nothing itself.
"""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from eml.bench.comparison import COPY, EMPTY, JOB, QUIX, RIVER, Options, Pace, Result, Rival
from eml.bench.load import FEATURES
from eml.bench.measure import WARM_UP

NAMES = {
    JOB: "EML, a prediction for every record",
    EMPTY: "empty keyed PyFlink operator, record by record",
    COPY: "copy in Java, no Python",
    RIVER: "plain loop, River's logistic regression",
    QUIX: "Quix Streams, the same learner",
}
MUST, AIM = 1.0, 2.0  # times the records of the empty operator


def name(rival: Rival) -> str:
    """What a pipeline is."""
    ours = f", micro-batch {rival.micro_batch_ms} ms, {rival.backend}" if rival.micro_batch_ms else ""
    return NAMES[rival.kind] + ours


def _new(title: str, first: str, *headings: str) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column(first, justify="right", no_wrap=True)
    table.add_column("pipeline", min_width=20)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def show(options: Options, results: Sequence[Result], console: Console) -> None:
    """Print the table, and what was measured."""
    headings = ["records/s", *(f"times {peer}" for peer in options.peers), "with a label"]
    table = _new("Kafka to Kafka", "load", *headings)
    for result in results:
        for number, rival in enumerate(result.rates):
            table.add_row("" if number else result.label, name(rival), *_figures(options, result, rival))
        table.add_section()
    console.print(table)
    for line in (*_verdicts(options, results), _what(options)):
        console.print(line, soft_wrap=True)


def _figures(options: Options, result: Result, rival: Rival) -> tuple[str, ...]:
    answered = result.answered.get(rival)
    return (
        f"{result.rate(rival):,.0f}",
        *(f"{result.times(rival, peer):.2f}" for peer in options.peers),
        "" if answered is None else f"{answered:,}",
    )


def _verdicts(options: Options, results: Sequence[Result]) -> list[str]:
    """For each load, how the best of ours stands to the empty operator."""
    lines = []
    for result in results if EMPTY in options.peers else ():
        best = max(result.times(rival, EMPTY) for rival in result.rates if rival.kind == JOB)
        met = "above twice it" if best >= AIM else "above it" if best > MUST else "BELOW IT"
        lines.append(f"{result.label}: {best:.2f} times the empty operator, {met}")
    return lines


def show_paces(options: Options, paces: Sequence[Pace], console: Console) -> None:
    """Print how late answers come, and the highest rate that keeps up where it was looked for."""
    peer = next((pace for pace in paces if pace.rival.kind == options.peers[0]), None) if options.peers else None
    beside = [f"p99 times {peer.rival.kind}"] if peer is not None else []
    table = _new("From append to append", "records/s", "p50 ms", "p99 ms", *beside, "keeps up")
    for pace in paces:
        times = [] if peer is None else [f"{pace.p99_ms / max(1.0, peer.p99_ms):.2f}"]
        figures = (f"{pace.p50_ms:,.0f}", f"{pace.p99_ms:,.0f}", *times, "yes" if pace.keeps_up else "NO")
        table.add_row(f"{pace.rate:,}", name(pace.rival), *figures)
    console.print(table)
    console.print(
        f"Each device sends once a second; {options.seconds} s were measured after {options.settle} s that do not"
        f" count. {_common(options)} Under exactly-once readers see a record only with its checkpoint.",
        soft_wrap=True,
    )


def _what(options: Options) -> str:
    return (
        f"Measured: {options.records:,} records of {FEATURES} doubles, in Kafka before each start. The rate is of the"
        f" records in the output topic, from their append times; the first {WARM_UP:.0%} do not count."
        f" {_common(options)} Medians of {options.rounds}. 'With a label': predictions that name a class."
    )


def _common(options: Options) -> str:
    chosen = "".join(f" {key} {value}," for key, value in (*options.flink, *options.settings))
    return (
        f"{options.labelled:.0%} of the records have a label; each key begins with a copy of a model with"
        f" {options.exemplars:,} exemplars. Parallelism {options.parallelism}, {options.delivery}, a checkpoint every"
        f" {options.checkpoint_ms} ms,{chosen} real Python workers; peers without Flink are"
        " one process, the plain loop at least once."
    )
