"""Data sets from OpenML, through scikit-learn, turned into the form of the files in EML_DATA.

Called by `inventory` for `eml evaluate data --fetch`; needs a network, and scikit-learn with
pandas. What is fetched goes into the folder's own `openml/` with a checksum beside it. Its rows may differ
from those of the files the project's figures were made with (satimage: 6430 there, 6435 here), so it never takes their
place, and a data set loaded from there says so. Shapes and classes' names below are as known, not as tried: this was
written without a network.
"""

import hashlib
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.evaluate.errors import EvaluationError

FOLDER = "openml"  # inside EML_DATA

Values = NDArray[Any]  # samples in rows, as OpenML has them: numbers or letters
Names = NDArray[np.str_]  # a class per sample
Fetcher = Callable[[int], tuple[Values, Names]]

_BASES = {"A": 1, "G": 2, "C": 3, "T": 4}


@dataclass(frozen=True, slots=True)
class Origin:
    """A data set of OpenML, and how it becomes arrays X and y; `shape` is what is known of it."""

    number: int
    name: str
    shape: tuple[int, int]
    convert: Callable[[Values, Names], tuple[Values, Values]]


def _digits(samples: Values, names: Names) -> tuple[Values, Values]:
    """Mnist: the digits 0, 3 and 5 as bytes."""
    labels = names.astype(np.int64)
    chosen = np.isin(labels, (0, 3, 5))
    return samples[chosen].astype(np.uint8), labels[chosen]


def _post(samples: Values, names: Names) -> tuple[Values, Values]:
    """USPS: from -1..1 to 0..1, and classes 1..10 to the digits they stand for."""
    return ((samples.astype(np.float64) + 1.0) / 2.0).astype(np.float32), names.astype(np.int64) - 1


def _bases(samples: Values, names: Names) -> tuple[Values, Values]:
    """Splice: letters as codes, rows with an ambiguous one left out; neither (1) against either junction (-1)."""
    letters = np.char.upper(np.char.strip(samples.astype(np.str_)))
    clear = np.isin(letters, list(_BASES)).all(axis=1)
    codes = np.vectorize(_BASES.__getitem__, otypes=[np.uint8])(letters[clear])
    return codes, np.where(np.char.strip(names[clear]) == "N", 1, -1)


def _bands(samples: Values, names: Names) -> tuple[Values, Values]:
    """Satimage: bytes, and classes as whole numbers, which OpenML writes with a point."""
    return samples.astype(np.uint8), names.astype(np.float64).astype(np.int64)


ORIGINS: Mapping[str, Origin] = MappingProxyType(  # by the file they take the form of
    {
        "mnist_035.npz": Origin(554, "mnist_784", (70000, 784), _digits),
        "usps_full.npz": Origin(41082, "USPS", (9298, 256), _post),
        "splice.npz": Origin(46, "splice", (3190, 60), _bases),
        "satimage.npz": Origin(182, "satimage", (6430, 36), _bands),
    }
)


def fetch(file: str, folder: Path, fetcher: Fetcher | None = None) -> Path:
    """Fetch what `file` is made of, and write it into the folder's `openml/`; return its path."""
    origin = ORIGINS[file]
    samples, names = (fetcher or from_openml)(origin.number)
    if samples.shape != origin.shape or len(names) != len(samples):
        raise EvaluationError(
            f"OpenML {origin.number} ({origin.name}) is {samples.shape}, not {origin.shape}: it is another version, "
            "and nothing was written"
        )
    converted, labels = origin.convert(samples, names)
    path = folder / FOLDER / file
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".part.npz")
    np.savez_compressed(unfinished, X=converted, y=labels)
    recorded(path).write_text(hashlib.sha256(unfinished.read_bytes()).hexdigest() + "\n", encoding="ascii")
    unfinished.replace(path)
    return path


def recorded(path: Path) -> Path:
    """Where the checksum of a fetched file is."""
    return path.with_suffix(".sha256")


def from_openml(number: int) -> tuple[Values, Names]:
    """Fetch by number; scikit-learn checks what it downloads against OpenML's own checksum."""
    try:
        datasets = importlib.import_module("sklearn.datasets")
    except ModuleNotFoundError as error:
        raise EvaluationError(
            "OpenML is read through scikit-learn, which is not installed: install eml with its extra, eml[evaluate]"
        ) from error
    try:
        found = datasets.fetch_openml(data_id=number, as_frame=True, parser="auto")
    except (OSError, ValueError) as error:  # no network, no such set, or not what OpenML says it is
        raise EvaluationError(f"OpenML {number} cannot be had now: {error}") from error
    return found.data.to_numpy(), found.target.to_numpy().astype(np.str_)
