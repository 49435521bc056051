"""`eml demo` on the command line: its options, and the import of what it runs only when it runs."""

import argparse


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml demo`."""
    parser = subparsers.add_parser("demo", help="a simulated fleet through two firmware upgrades")
    parser.add_argument("--machines", type=int, default=4, help="machines in the fleet (default 4)")
    parser.add_argument("--records", type=int, default=800, help="records per machine and version (default 800)")
    parser.add_argument("--seed", type=int, default=0)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from eml.local.demo import run  # noqa: PLC0415  numpy and rich would slow `eml --help`

    return run(arguments.machines, arguments.records, arguments.seed)
