"""`eml demo` on the command line: its options, what its end means, and the import of what it runs only when it runs."""

import argparse
import os
from pathlib import Path

from eml.terminal import OK, examples, positive, set_run


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml demo`."""
    parser = subparsers.add_parser(
        "demo",
        help="a simulated fleet through two upgrades, on Kafka and Flink",
        epilog=examples("eml demo", "eml demo --machines 8 --keep"),
    )
    parser.add_argument("--machines", type=positive, default=4, help="machines in the fleet (default 4)")
    parser.add_argument("--records", type=positive, default=800, help="records per machine and version (default 800)")
    parser.add_argument("--seed", type=int, default=0, help="of the simulation (default 0)")
    parser.add_argument("--broker", metavar="ADDRESS", help="use this running broker (host:port), with new topics")
    parser.add_argument("--registry", metavar="URL", help="use this running registry (Confluent's API)")
    parser.add_argument(
        "--picture", metavar="FILE", type=Path, default=Path("eml-demo.png"), help="PNG to write (default eml-demo.png)"
    )
    parser.add_argument("--open", action="store_true", help="open the fleet's live page in the browser")
    parser.add_argument("--keep", action="store_true", help="keep everything running at the end, until Ctrl-C")
    set_run(parser, _run)


def _run(arguments: argparse.Namespace) -> int:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read with numpy's import: the job wants the other cores
    from eml.local.demo import Options, run  # noqa: PLC0415  numpy and the like would slow `eml --help`

    chosen = vars(arguments)
    run(Options(**{name: chosen[name] for name in Options.__slots__}))
    return OK
