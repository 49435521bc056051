"""Options that the scenarios of `eml evaluate` share, and the forms of numbers and names.

Called by `command` for every command line of `eml`, so it imports nothing heavy.
"""

import argparse
import os

from eml.evaluate.catalogue import DATASETS


def add_data(parser: argparse.ArgumentParser, total_help: str) -> "argparse._ArgumentGroup":
    """Add which data to use, by name or the user's own; return the group for what a scenario adds."""
    data = parser.add_argument_group("data")
    which = data.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--dataset",
        action="extend",
        type=names,
        metavar="NAME",
        help=f"repeatable; from the folder in EML_DATA: {', '.join(DATASETS)}, or all",
    )
    which.add_argument(
        "--data",
        metavar="FILE.npz",
        help="your own: arrays X (samples in rows) and y (labels); NaN and infinite values are missing, and rivals and "
        "memory controls, which cannot take that, are shown the feature's mean so far",
    )
    data.add_argument("--split", type=split, metavar="DV,DS,DN", help="columns of X that vanish, survive, are new")
    data.add_argument("--classes", type=names, metavar="A,B,..", help="labels of y to use (default: all)")
    data.add_argument("--total", type=positive, metavar="N", help=total_help)
    return data


def add_batch(data: "argparse._ArgumentGroup", default: str) -> None:
    """Add the sizes of a protocol's batches."""
    data.add_argument(
        "--batch",
        type=positives,
        metavar="N[,N..]",
        help=f"samples per batch (default for --dataset: {default})",
    )


def add_runs(parser: argparse.ArgumentParser, memory: int, runs: int) -> None:
    """Add how much is remembered, how often all is repeated, and where the figures go."""
    parser.add_argument(
        "--memory",
        type=positive,
        default=memory,
        metavar="N",
        help="exemplars that every method may remember (default: %(default)s)",
    )
    parser.add_argument("--runs", type=positive, default=runs, metavar="N", help="seeds (default: %(default)s)")
    parser.add_argument("--seed", type=whole, default=0, metavar="N", help="the first seed (default: %(default)s)")
    add_jobs(parser)
    parser.add_argument("--json", metavar="FILE", help="write every figure of every seed here")
    add_keep(parser, "keep finished trials here, and run only those that are not there yet", required=False)


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add how many processes there may be."""
    parser.add_argument(
        "--jobs", type=positive, default=os.cpu_count() or 1, metavar="N", help="processes (default: cores)"
    )


def add_keep(parser: argparse.ArgumentParser, text: str, *, required: bool) -> None:
    """Add the folder of finished trials."""
    parser.add_argument("--keep", metavar="FOLDER", required=required, help=text)


def names(text: str) -> list[str]:
    """Return names between commas."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError("at least one name is needed")
    return found


def positive(text: str) -> int:
    """Return a number from 1 on."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a positive whole number is needed, not {text!r}")
    return int(text)


def positives(text: str) -> tuple[int, ...]:
    """Return numbers from 1 on, none twice."""
    return tuple(positive(part) for part in dict.fromkeys(names(text)))


def whole(text: str) -> int:
    """Return a number from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a whole number from 0 on is needed, not {text!r}")
    return int(text)


def share(text: str) -> float:
    """Return a number above 0, up to 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"a share above 0 and up to 1 is needed, as 0.25, not {text!r}")
    return value


def split(text: str) -> tuple[int, int, int]:
    """Return three numbers of columns that leave no stage without any."""
    parts = text.split(",")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"three numbers of columns are needed, as in 10,20,10, not {text!r}")
    vanished, survived, new = map(int, parts)
    if not (vanished + survived and survived + new):
        raise argparse.ArgumentTypeError(f"{text} leaves a stage without features")
    return vanished, survived, new
