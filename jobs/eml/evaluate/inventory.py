"""`eml evaluate data`: each data set, where it comes from, whether it is at hand, its checksum, what it stands for.

Called by `command`; asks `datasets` where files are, and has `openml` fetch what is asked for. It needs no package but
the core's, so that it also runs where the peers are.
"""

import argparse
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from eml.evaluate import openml
from eml.evaluate.catalogue import DATASETS, HAPHAZARD_SETS
from eml.evaluate.datasets import SHA256, file_of, haphazard_file, locate
from eml.evaluate.errors import EvaluationError, resolve_names

_DIGITS = 12  # of a checksum on the screen
_SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "mnist_035.npz": "Mnist digits 0, 3 and 5 (LeCun et al. 1998)",
        "usps_full.npz": "USPS digits (Hull 1994)",
        "splice.npz": "UCI splice junctions, as LIBSVM has them",
        "satimage.npz": "UCI Statlog Landsat",
        "dsads_feat405.npz": "UCI Daily and Sports Activities; statistics of its recordings",
        "gas_drift_8of10.npz": "UCI Gas Sensor Array Drift, batches 1-6, 8 and 9",
    }
)
_STANDS_FOR: Mapping[str, str] = MappingProxyType(
    {"DSADS": "the paper's PAMAP2, which could not be had", "Gas": "nothing in the paper: beside it"}
)
_NOT_AT_HAND = "EV-Action, Gisette, ImageNet and PAMAP2 of the paper could not be had; nothing is loaded in their name."


def run(arguments: argparse.Namespace) -> None:
    """List, or fetch and list."""
    for file in dict.fromkeys(file_of(name) for name in resolve_names(arguments.fetch or [], DATASETS, "data set")):
        if file not in openml.ORIGINS:
            raise EvaluationError(f"{file} is on no OpenML page that is known here; it is read from EML_DATA only")
        sys.stderr.write(f"fetching {openml.ORIGINS[file].name} from OpenML\n")
        openml.fetch(file, _folder())
    sys.stdout.write("\n".join(_lines()) + "\n")


def _folder() -> Path:
    folder = Path(os.environ.get("EML_DATA") or "")
    if not os.environ.get("EML_DATA") or not folder.is_dir():
        raise EvaluationError("EML_DATA must name a folder: what is fetched goes there")
    return folder


def _lines() -> Iterator[str]:
    header = ("data set", "state", "sha256", "file", "OpenML", "from", "stands for")
    rows = [header, *map(_row, DATASETS), *map(_haphazard_row, HAPHAZARD_SETS)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(field.ljust(width) for field, width in zip(row, widths, strict=True)).rstrip()
    yield f"EML_DATA: {os.environ.get('EML_DATA') or 'not set'}"
    yield _NOT_AT_HAND


def _row(name: str) -> tuple[str, ...]:
    file = file_of(name)
    origin = openml.ORIGINS.get(file)
    state, checksum = _state(file)
    page = "" if origin is None else f"{origin.name} ({origin.number})"
    return name, state, checksum[:_DIGITS], file, page, _SOURCES[file], _STANDS_FOR.get(name, f"the paper's {name}")


def _haphazard_row(name: str) -> tuple[str, ...]:
    file = haphazard_file(name)
    state, checksum = _state(file)
    return name, state, checksum[:_DIGITS], file, "", "the haphazard-inputs benchmark (Agarwal et al. 2024)", "itself"


def _state(file: str) -> tuple[str, str]:
    """Whether a file is at hand, and its checksum; of one that is not, the one it must have."""
    found = locate(file)
    if found is None:
        return "not there", SHA256[file]
    path, expected = found
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    if checksum != expected:
        return "another file", checksum
    return ("from OpenML" if path.parent.name == openml.FOLDER else "at hand"), checksum
