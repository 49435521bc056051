"""The command line of `eml evaluate`: its scenarios and their options.

Called by `eml.cli` for every command, so it imports nothing heavy: a scenario's session and what it needs come when
it runs.
"""

import argparse
import importlib

from eml.evaluate import options
from eml.evaluate.catalogue import (
    DEFAULT_HAPHAZARD_METHODS,
    DEFAULT_MEMORY,
    DEFAULT_METHODS,
    DEFAULT_RUNS,
    DEFAULT_STREAM_METHODS,
    HAPHAZARD_METHODS,
    HAPHAZARD_SETS,
    METHODS,
    ORDERS,
    SCHEMES,
    SLOW_PEERS,
    STREAM_MEMORY,
    STREAM_METHODS,
    STREAM_RUNS,
    STUDY_RUNS,
)
from eml.terminal import OK, set_run

_SESSIONS = {
    "one-shot": "eml.evaluate.session",
    "multi-shot": "eml.evaluate.session",
    "stream": "eml.evaluate.prequential.session",
    "haphazard": "eml.evaluate.haphazard.session",
    "convergence": "eml.evaluate.studies.session",
    "surface": "eml.evaluate.studies.session",
    "report": "eml.evaluate.reporting.session",
    "confirm": "eml.evaluate.confirming",
    "data": "eml.evaluate.inventory",
}

_EXAMPLES = """examples:
  EML_DATA=data eml evaluate one-shot --dataset USPS0vs5 --runs 5
  EML_DATA=data eml evaluate multi-shot --task II --dataset all --json results.json
  EML_DATA=data eml evaluate stream --dataset DSADS,Gas
  EML_DATA=data eml evaluate stream --dataset Gas --order file --scheme sudden --switches 3
  EML_DATA=data eml evaluate haphazard --keep kept
  EML_DATA=data eml evaluate one-shot --dataset all --methods all --runs 50 --keep kept
  eml evaluate report --keep kept --html report.html
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
    _add_haphazard_options(
        scenarios.add_parser("haphazard", help="values missing at random: a published benchmark on its exact streams")
    )
    _add_studies(scenarios)
    _add_report_options(scenarios.add_parser("report", help="a page and tables of all that was kept with --keep"))
    _add_confirm_options(
        scenarios.add_parser(
            "confirm", help="run some kept trials again after a change of the code: do the others stand?"
        )
    )
    _add_data_options(scenarios.add_parser("data", help="list the data sets, and whether they are at hand"))


def _add_paper_options(parser: argparse.ArgumentParser) -> None:
    data = options.add_data(parser, "samples before the evolution (default: all)")
    options.add_batch(data, "the paper's")
    parser.add_argument(
        "--methods",
        type=options.names,
        default=list(DEFAULT_METHODS),
        metavar="A,B,..",
        help=f"of {', '.join(METHODS)}, or all (default: {','.join(DEFAULT_METHODS)})",
    )
    options.add_runs(parser, DEFAULT_MEMORY, DEFAULT_RUNS)
    set_run(parser, _run, extra="evaluate")


def _add_stream_options(parser: argparse.ArgumentParser) -> None:
    data = options.add_data(parser, "records of the stream (default: all)")
    data.add_argument(
        "--switches", type=options.positive, default=1, metavar="N", help="times features change (default: %(default)s)"
    )
    data.add_argument(
        "--scheme",
        choices=SCHEMES,
        default=SCHEMES[0],
        help="which features change: rotating (default; one group is absent in turn, with one switch DV vanish and DN "
        "are new), sudden (a chunk more at each switch), obsolete (a chunk less), reappearing (a chunk goes, and comes "
        "back with the next switch)",
    )
    data.add_argument(
        "--order",
        choices=ORDERS,
        default=ORDERS[0],
        help="of the records: seeded (default), or file: as they were recorded, the first --total of them, Gas by "
        "month, DSADS by subject and there by activity, others as they stand; the seed then moves a learner's own "
        "randomness and which labels are given",
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
        default=list(DEFAULT_STREAM_METHODS),
        metavar="A,B,..",
        help=f"of {', '.join(STREAM_METHODS)}, or all (default: all but the slow ones, {', '.join(SLOW_PEERS)}); those "
        "of other libraries need the peers' environment: make .venv-peers/.ready, or EML_PEERS_PYTHON",
    )
    options.add_runs(parser, STREAM_MEMORY, STREAM_RUNS)
    set_run(parser, _run, extra="evaluate")


def _add_haphazard_options(parser: argparse.ArgumentParser) -> None:
    data = parser.add_argument_group("data")
    which = data.add_mutually_exclusive_group()
    which.add_argument(
        "--dataset",
        action="extend",
        type=options.names,
        metavar="NAME",
        help=f"repeatable; from the folder in EML_DATA, haphazard_NAME.npz: {', '.join(HAPHAZARD_SETS)}; default: all",
    )
    which.add_argument(
        "--data",
        metavar="FILE.npz",
        help="your own: X (records in rows, in order), y (two classes), and masks of X's shape: mask25 for 25 %%, ...",
    )
    data.add_argument(
        "--p",
        type=options.positives,
        metavar="P[,P..]",
        help="percent of the values that are there: 25, 50, 75 (default: all masks there are)",
    )
    parser.add_argument(
        "--methods",
        type=options.names,
        default=list(DEFAULT_HAPHAZARD_METHODS),
        metavar="A,B,..",
        help=f"of {', '.join(HAPHAZARD_METHODS)}, or all (default: {','.join(DEFAULT_HAPHAZARD_METHODS)}); river-lr "
        "needs the peers' environment: make .venv-peers/.ready, or EML_PEERS_PYTHON",
    )
    options.add_runs(parser, STREAM_MEMORY, STREAM_RUNS)
    set_run(parser, _run, extra="evaluate")


def _add_studies(scenarios: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    curve = scenarios.add_parser(
        "convergence", help="objective and held-out accuracy, step by step (in the paper: USPS0vs5, Mnist0vs5)"
    )
    surface = scenarios.add_parser(
        "surface", help="accuracy over two settings (in the paper: Mnist0vs3vs5, USPS0vs5, Splice)"
    )
    for parser in (curve, surface):
        options.add_batch(options.add_data(parser, "samples before the evolution (default: all)"), "the smallest")
        options.add_runs(parser, DEFAULT_MEMORY, STUDY_RUNS)
        set_run(parser, _run, extra="evaluate")
    surface.add_argument(
        "--plane",
        type=options.names,
        default=["lambda-rho"],
        metavar="A-B",
        help="lambda-rho (default), or the paper's gamma-rho and gamma-lambda, or all",
    )


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    options.add_keep(parser, "where the trials were kept", required=True)
    parser.add_argument("--html", metavar="FILE", help="write one page with tables and pictures, nothing outside it")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables (default, without --html: to the screen)")
    set_run(parser, _run, extra="evaluate")


def _add_confirm_options(parser: argparse.ArgumentParser) -> None:
    options.add_keep(parser, "where the trials were kept; what is confirmed is noted there", required=True)
    parser.add_argument(
        "--longest",
        type=options.positive,
        metavar="SECONDS",
        help="leave out trials that took longer, where a method has a quicker one (default: one per data set)",
    )
    options.add_jobs(parser)
    set_run(parser, _run, extra="evaluate")


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fetch",
        action="extend",
        type=options.names,
        metavar="NAME",
        help="get these from OpenML into the folder in EML_DATA; needs a network and scikit-learn",
    )
    set_run(parser, _run, extra="evaluate")


def _run(arguments: argparse.Namespace) -> int:
    session = importlib.import_module(_SESSIONS[arguments.scenario])  # with packages that other commands do without
    session.run(arguments)
    return OK
