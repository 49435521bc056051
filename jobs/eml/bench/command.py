"""`eml bench` on the command line: its options, and the import of what it runs only when it runs."""

import argparse

from eml.local.command import told


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml bench`."""
    parser = subparsers.add_parser("bench", help="measure speed on this machine")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    stream = commands.add_parser("stream", help="the job on Flink and Kafka, beside PyFlink without it")
    stream.add_argument("--records", type=_positive, default=400_000, help="for each pipeline (default %(default)s)")
    stream.add_argument(
        "--keys", type=_positives, default=(100, 1000), metavar="N[,N..]", help="devices (default 100,1000)"
    )
    stream.add_argument("--labelled", type=_share, default=0.05, help="share with a label (default %(default)s)")
    stream.add_argument(
        "--micro-batch-ms", type=_positives, default=(1000,), metavar="MS[,MS..]", help="of the job (default 1000)"
    )
    stream.add_argument("--rounds", type=_positive, default=1, help="turns of each pipeline (default %(default)s)")
    stream.add_argument("--parallelism", type=_positive, default=1, help="of each pipeline (default %(default)s)")
    stream.add_argument("--delivery", choices=("exactly-once", "at-least-once"), default="exactly-once")
    stream.add_argument("--checkpoint-ms", type=_positive, default=5_000, help="between two (default %(default)s)")
    stream.add_argument("--broker", metavar="ADDRESS", help="use this running broker (host:port), with new topics")
    stream.add_argument("--registry", metavar="URL", help="use this running registry (Confluent's API)")
    stream.add_argument(
        "-D", dest="flink", type=_pair, action="append", default=[], metavar="KEY=VALUE", help="Flink's own, for all"
    )
    stream.set_defaults(run=_run)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a positive whole number is needed, not {text!r}")
    return int(text)


def _positives(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_positive(part) for part in text.split(",")))


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= 1.0:
        raise argparse.ArgumentTypeError(f"a number from 0 to 1 is needed, not {text!r}")
    return share


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"KEY=VALUE is needed, not {text!r}")
    return name, value


def _run(arguments: argparse.Namespace) -> int:
    return told("eml bench", lambda: _stream(arguments))


def _stream(arguments: argparse.Namespace) -> None:
    from eml.bench.comparison import Options  # noqa: PLC0415  numpy and the like would slow `eml --help`
    from eml.bench.stream import run  # noqa: PLC0415

    chosen = {**vars(arguments), "flink": tuple(arguments.flink)}
    run(Options(**{name: chosen[name] for name in Options.__slots__}))
