"""`eml bench` on the command line: its options, and the import of what it runs only when it runs."""

import argparse
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from eml.bench.comparison import BACKENDS, PEERS, Options
from eml.terminal import OK, examples, positive, set_run

FEWEST_EXEMPLARS = 64


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml bench`."""
    parser = subparsers.add_parser("bench", help="measure speed on this machine")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    stream = commands.add_parser(
        "stream",
        help="the job on Flink and Kafka, beside what one would take instead",
        epilog=examples(
            "eml bench stream --keys 100,1000 --rounds 3 --json figures.json",
            "eml bench stream --rate 500 --keys 500 --micro-batch-ms 50,1000",
        ),
    )
    _add_load(stream)
    _add_pace(stream)
    _add_rivals(stream)
    _add_figures(stream)
    set_run(stream, _run_stream)
    sizing = commands.add_parser(
        "sizing",
        help="what a fleet needs in tasks, memory and state, fitted on this machine",
        epilog=examples("eml bench sizing --labels-per-day 3"),
    )
    sizing.add_argument("--records", type=positive, default=120_000, help="for each point (default %(default)s)")
    sizing.add_argument("--labels-per-day", type=_amount, default=24.0, help="of each device (default %(default)g)")
    sizing.add_argument("--broker", metavar="ADDRESS", help="use this running broker (host:port), with new topics")
    sizing.add_argument("--registry", metavar="URL", help="use this running registry (Confluent's API)")
    sizing.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    set_run(sizing, _run_sizing)
    learner = commands.add_parser(
        "learner",
        help="the learner alone: cost against features, exemplars and classes",
        epilog=examples("eml bench learner --rounds 9 --baseline evidence/bench/learner.json"),
    )
    learner.add_argument("--rounds", type=positive, default=5, help="of which the fastest counts (default %(default)s)")
    _add_figures(learner)
    set_run(learner, _run_learner)


def _add_load(stream: argparse.ArgumentParser) -> None:
    load = stream.add_argument_group("what is sent")
    load.add_argument("--records", type=positive, default=400_000, help="for each pipeline (default %(default)s)")
    load.add_argument(
        "--keys", type=_positives, default=(100, 1000), metavar="N[,N..]", help="devices (default 100,1000)"
    )
    load.add_argument("--labelled", type=_share, default=0.05, help="share with a label (default %(default)s)")
    load.add_argument("--nulls", type=_shares, default=(0.0,), metavar="SHARE[,..]", help="values missing (default 0)")
    load.add_argument(
        "--exemplars",
        type=_exemplars,
        default=1024,
        metavar="N",
        help="of the model each key begins with (default 1024)",
    )
    load.add_argument(
        "--copies",
        action="store_true",
        help="models stay copies of that one, as in a new fleet; else each learns a label of its own first",
    )


def _add_pace(stream: argparse.ArgumentParser) -> None:
    pace = stream.add_argument_group("a load at a pace, for delays; every device sends once a second")
    pace.add_argument("--rate", type=positive, metavar="N", help="records per second, in place of --records and --keys")
    pace.add_argument(
        "--find-rate", action="store_true", help="look for the highest rate that keeps up, from --rate on"
    )
    pace.add_argument("--seconds", type=positive, default=30, help="that are measured (default %(default)s)")
    pace.add_argument("--settle", type=positive, default=15, help="seconds before them (default %(default)s)")


def _add_rivals(stream: argparse.ArgumentParser) -> None:
    rivals = stream.add_argument_group("who is compared")
    rivals.add_argument(
        "--peers",
        type=_choices(PEERS),
        default=("copy", "empty", "river"),
        metavar="NAME[,..]",
        help=f"of {', '.join(PEERS)} (default copy,empty,river); quix needs `make .venv-peers/.ready`",
    )
    rivals.add_argument(
        "--backend",
        type=_choices(BACKENDS),
        default=("heap",),
        metavar="NAME[,..]",
        help="where the job keeps its state: heap, rocksdb (default heap)",
    )
    rivals.add_argument(
        "--micro-batch-ms", type=_positives, default=(1000,), metavar="MS[,MS..]", help="of the job (default 1000)"
    )
    rivals.add_argument("--rounds", type=positive, default=1, help="turns of each pipeline (default %(default)s)")
    rivals.add_argument("--parallelism", type=positive, default=1, help="of each pipeline (default %(default)s)")
    rivals.add_argument("--delivery", choices=("exactly-once", "at-least-once"), default="exactly-once")
    rivals.add_argument("--checkpoint-ms", type=positive, default=5_000, help="between two (default %(default)s)")
    rivals.add_argument("--broker", metavar="ADDRESS", help="use this running broker (host:port), with new topics")
    rivals.add_argument("--registry", metavar="URL", help="use this running registry (Confluent's API)")
    rivals.add_argument(
        "-D", dest="flink", type=_pair, action="append", default=[], metavar="KEY=VALUE", help="Flink's own, for all"
    )
    rivals.add_argument(
        "-S",
        dest="settings",
        type=_pair,
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="a setting of the job, as limits.cached_bytes=4000000000",
    )


def _add_figures(parser: argparse.ArgumentParser) -> None:
    figures = parser.add_argument_group("figures")
    figures.add_argument("--json", type=Path, metavar="FILE", help="write them")
    figures.add_argument("--baseline", type=Path, metavar="FILE", help="of an earlier --json: say what got slower")


def _positives(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(positive(part) for part in text.split(",")))


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= 1.0:
        raise argparse.ArgumentTypeError(f"a number from 0 to 1 is needed, not {text!r}")
    return share


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0.0 <= amount < float("inf"):
        raise argparse.ArgumentTypeError(f"a number from 0 on is needed, not {text!r}")
    return amount


def _shares(text: str) -> tuple[float, ...]:
    return tuple(dict.fromkeys(_share(part) for part in text.split(",")))


def _exemplars(text: str) -> int:
    if positive(text) < FEWEST_EXEMPLARS:
        raise argparse.ArgumentTypeError(f"at least {FEWEST_EXEMPLARS} are needed, not {text}")
    return int(text)


def _choices(names: Iterable[str]) -> Callable[[str], tuple[str, ...]]:
    def chosen(text: str) -> tuple[str, ...]:
        parts = tuple(dict.fromkeys(text.split(","))) if text else ()
        unknown = [part for part in parts if part not in names]
        if unknown:
            raise argparse.ArgumentTypeError(f"there is no {unknown[0]!r}: choose from {', '.join(names)}")
        return parts

    return chosen


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"KEY=VALUE is needed, not {text!r}")
    return name, value


def _run_stream(arguments: argparse.Namespace) -> int:
    from eml.bench.running import run  # noqa: PLC0415  numpy and the like would slow `eml --help`

    chosen = {**vars(arguments), "flink": tuple(arguments.flink), "settings": tuple(arguments.settings)}
    options = Options(**{name: chosen[name] for name in Options.__slots__})
    run(options, arguments.json, arguments.baseline)
    return OK


def _run_sizing(arguments: argparse.Namespace) -> int:
    os.environ["OMP_NUM_THREADS"] = "1"  # read with numpy's import: as in the job
    from eml.bench.sizing import options_of, run  # noqa: PLC0415

    run(options_of(arguments.records, arguments.broker, arguments.registry), arguments.labels_per_day, arguments.json)
    return OK


def _run_learner(arguments: argparse.Namespace) -> int:
    os.environ["OMP_NUM_THREADS"] = "1"  # read with numpy's import: as in the job
    from eml.bench.learner import run  # noqa: PLC0415

    run(arguments.rounds, arguments.json, arguments.baseline)
    return OK
