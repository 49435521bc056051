"""The command line of `eml evaluate`: its scenarios and their options.

Called by `eml.cli` for every command, so it imports nothing heavy: a scenario's session and what it needs come when
it runs.
"""

import argparse
import importlib
import sys

from eml.evaluate import options
from eml.evaluate.catalogue import (
    DEFAULT_MEMORY,
    DEFAULT_METHODS,
    DEFAULT_RUNS,
    METHODS,
    PEERS,
    STREAM_MEMORY,
    STREAM_METHODS,
    STREAM_RUNS,
)

_EXAMPLES = """examples:
  EML_DATA=data eml evaluate one-shot --dataset USPS0vs5 --runs 5
  EML_DATA=data eml evaluate multi-shot --task II --dataset all --json results.json
  EML_DATA=data eml evaluate stream --dataset DSADS,Gas
  eml evaluate one-shot --data mine.npz --split 10,20,10 --batch 60,90 --methods eml,memory
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `evaluate` with its scenarios to the command line."""
    parser = subparsers.add_parser(
        "evaluate",
        help="measure the learner by the paper's protocols, and in a stream beside other learners",
        description="Run methods through the paper's protocols and print their accuracy beside the paper's; or "
        "through a stream whose features are switched, beside other learners.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    scenarios = parser.add_subparsers(title="scenarios", metavar="SCENARIO", required=True, dest="scenario")
    one_shot = scenarios.add_parser("one-shot", help="features evolve once")
    one_shot.set_defaults(task=None)
    _add_paper_options(one_shot)
    multi_shot = scenarios.add_parser("multi-shot", help="features evolve twice, in three stages")
    multi_shot.add_argument(
        "--task",
        choices=("I", "II"),
        default="I",
        help="I (default): the test batch of stage 3, from stages 2 and 3; II: predictions in all stages, from all",
    )
    _add_paper_options(multi_shot)
    _add_stream_options(scenarios.add_parser("stream", help="records one by one, each predicted, then learnt"))


def _add_paper_options(parser: argparse.ArgumentParser) -> None:
    data = options.add_data(parser, "samples before the evolution (default: all)")
    data.add_argument(
        "--batch",
        type=options.positives,
        metavar="N[,N..]",
        help="samples per batch (default for --dataset: the paper's)",
    )
    parser.add_argument(
        "--methods",
        type=options.names,
        default=list(DEFAULT_METHODS),
        metavar="A,B,..",
        help=f"of {', '.join(METHODS)}, or all (default: {','.join(DEFAULT_METHODS)})",
    )
    options.add_runs(parser, DEFAULT_MEMORY, DEFAULT_RUNS)
    parser.set_defaults(run=run)


def _add_stream_options(parser: argparse.ArgumentParser) -> None:
    data = options.add_data(parser, "records of the stream (default: all)")
    data.add_argument(
        "--switches", type=options.positive, default=1, metavar="N", help="times features change (default: %(default)s)"
    )
    data.add_argument(
        "--labelled", type=options.share, default=1.0, metavar="SHARE", help="of the records (default: all, 1)"
    )
    data.add_argument(
        "--notice",
        type=options.share,
        default=0.25,
        metavar="SHARE",
        help="last part of a stage in which eml-announced knows the next features (default: %(default)s)",
    )
    parser.add_argument(
        "--methods",
        type=options.names,
        default=list(STREAM_METHODS),
        metavar="A,B,..",
        help=f"of {', '.join(STREAM_METHODS)} (default: all); {', '.join(PEERS)} need the peers' environment: "
        "make .venv-peers/.ready, or EML_PEERS_PYTHON",
    )
    options.add_runs(parser, STREAM_MEMORY, STREAM_RUNS)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; 0, or 2 with a message where it cannot be run as asked, or 130 where it was interrupted."""
    package = "eml.evaluate.prequential" if arguments.scenario == "stream" else "eml.evaluate"
    try:
        session = importlib.import_module(f"{package}.session")  # rich is an extra; other commands must work without it
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "rich":
            raise
        sys.stderr.write("eml evaluate: needs the package rich; install eml with its extra: eml[evaluate]\n")
        return 2
    status: int = session.run(arguments)
    return status
