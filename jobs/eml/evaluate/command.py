"""The command line of `eml evaluate`: its options, and numbers checked for their form.

Called by `eml.cli` for every command, so it imports nothing heavy: `session` and what it needs come when it runs.
"""

import argparse
import os
import sys

from eml.evaluate.catalogue import DATASETS, DEFAULT_MEMORY, DEFAULT_METHODS, DEFAULT_RUNS, METHODS

_EXAMPLES = """examples:
  EML_DATA=data eml evaluate one-shot --dataset USPS0vs5 --runs 5
  EML_DATA=data eml evaluate multi-shot --task II --dataset all --json results.json
  eml evaluate one-shot --data mine.npz --split 10,20,10 --batch 60,90 --methods eml,memory
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `evaluate` with its scenarios to the command line."""
    parser = subparsers.add_parser(
        "evaluate",
        help="measure the learner by the paper's protocols",
        description="Run methods through the paper's protocols and print their accuracy beside the paper's.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    scenarios = parser.add_subparsers(title="scenarios", metavar="SCENARIO", required=True, dest="scenario")
    one_shot = scenarios.add_parser("one-shot", help="features evolve once")
    one_shot.set_defaults(task=None, run=run)
    _add_options(one_shot)
    multi_shot = scenarios.add_parser("multi-shot", help="features evolve twice, in three stages")
    multi_shot.add_argument(
        "--task",
        choices=("I", "II"),
        default="I",
        help="I (default): the test batch of stage 3, from stages 2 and 3; II: predictions in all stages, from all",
    )
    multi_shot.set_defaults(run=run)
    _add_options(multi_shot)


def _add_options(parser: argparse.ArgumentParser) -> None:
    data = parser.add_argument_group("data")
    which = data.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--dataset",
        action="extend",
        type=_names,
        metavar="NAME",
        help=f"repeatable; from the folder in EML_DATA: {', '.join(DATASETS)}, or all",
    )
    which.add_argument("--data", metavar="FILE.npz", help="your own: arrays X (samples in rows) and y (labels)")
    data.add_argument("--split", type=_split, metavar="DV,DS,DN", help="columns of X that vanish, survive, are new")
    data.add_argument("--classes", type=_names, metavar="A,B,..", help="labels of y to use (default: all)")
    data.add_argument("--total", type=_positive, metavar="N", help="samples before the evolution (default: all)")
    data.add_argument(
        "--batch", type=_positives, metavar="N[,N..]", help="samples per batch (default for --dataset: the paper's)"
    )
    parser.add_argument("--methods", type=_names, default=list(DEFAULT_METHODS), metavar="A,B,..", help=_METHODS_HELP)
    parser.add_argument("--memory", type=_positive, default=DEFAULT_MEMORY, metavar="N", help=_MEMORY_HELP)
    parser.add_argument(
        "--runs", type=_positive, default=DEFAULT_RUNS, metavar="N", help="seeds (default: %(default)s)"
    )
    parser.add_argument("--seed", type=_seed, default=0, metavar="N", help="the first seed (default: %(default)s)")
    parser.add_argument(
        "--jobs", type=_positive, default=os.cpu_count() or 1, metavar="N", help="processes (default: cores)"
    )
    parser.add_argument("--json", metavar="FILE", help="write every figure of every seed here")


_METHODS_HELP = f"of {', '.join(METHODS)}, or all (default: {','.join(DEFAULT_METHODS)})"
_MEMORY_HELP = "exemplars that every method may remember (default: %(default)s)"


def run(arguments: argparse.Namespace) -> int:
    """Run the command; 0, or 2 with a message where it cannot be run as asked, or 130 where it was interrupted."""
    try:
        from eml.evaluate import session  # noqa: PLC0415 (rich is an extra; other commands must work without it)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "rich":
            raise
        sys.stderr.write("eml evaluate: needs the package rich; install eml with its extra: eml[evaluate]\n")
        return 2
    return session.run(arguments)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("at least one name is needed")
    return names


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a positive whole number is needed, not {text!r}")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a whole number from 0 on is needed, not {text!r}")
    return int(text)


def _positives(text: str) -> tuple[int, ...]:
    return tuple(_positive(part) for part in dict.fromkeys(_names(text)))


def _split(text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"three numbers of columns are needed, as in 10,20,10, not {text!r}")
    vanished, survived, new = map(int, parts)
    if not (vanished + survived and survived + new):
        raise argparse.ArgumentTypeError(f"{text} leaves a stage without features")
    return vanished, survived, new
