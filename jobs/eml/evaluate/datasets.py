"""Data sets by name, as the paper's settings table lays them out, from the folder named by EML_DATA.

Called by `trial` (through a `Named` source); reads `.npz` files and checks them against their sha256: the project's
own, or where one is not there, what `eml evaluate data --fetch` got in its place. It knows nothing of batches or
stages. Values stay raw: a learner scales by what it has seen, for scaling here would know the future. The one
exception is part of the paper's own set-up: Mnist keeps its 455 (489) pixels of largest variance.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.evaluate import openml
from eml.evaluate.catalogue import DATASETS
from eml.evaluate.errors import EvaluationError, resolve_names

Floats = NDArray[np.float64]
Labels = NDArray[Any]  # whole numbers or strings, one per sample

SHA256: Mapping[str, str] = MappingProxyType(
    {
        "dsads_feat405.npz": "66ac3bbea936091b02e0844c4ac19eee6afceba71e5bc45f92ac8817d8f9e7fd",
        "gas_drift_8of10.npz": "e08e1999e133c66c773a0be0d0e2af96fe6fb4209ef3831abeb68e7a1356031f",
        "haphazard_australian.npz": "0c1255112db0a6b45bb94b0508ad0d7332c6126a2c14344d0eef27f5890f77ef",
        "haphazard_diabetes_f.npz": "e89a525a4b941b311494d1e69d60eb193b33a492cd9e61a1bc49b30830cd9afe",
        "haphazard_ipd.npz": "ca4c7af251ed258428be2d9087f59334bf5946c64f9566c381da28692811112b",
        "haphazard_svmguide3.npz": "7b271612c0fe57aa33a3a979a6dbbb9714b9a0935108801c420d2e1ad3ef5922",
        "haphazard_wbc.npz": "5baf80c0c8f1cdea469390494ea0723b90d62b950d25d35845c7b9ae70701878",
        "haphazard_wpbc.npz": "f8e142b6ec8a14df86b4f157a894cc89bbc9c0d9992a52758dd14456131e980b",
        "mnist_035.npz": "6ee4123c27b0ddf5ef0ffd125cb358f2c14563e78d7296f9e3ad0803369753c1",
        "satimage.npz": "158f32f4b0b9a43d42dfe27174fa13f9a6138a1ddae6fcb46bc11a826a45f950",
        "splice.npz": "ffe8a7845cd170e7f84d13e1a7cfa23ffd4af0716473f253e4ef53c068fa7578",
        "usps_full.npz": "055ce22043b5ffd297ac99189243b7316d06692c496473aa13ae5475a7437ee0",
    }
)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Samples in rows, and how a protocol cuts them: `split` = vanished, survived, new columns."""

    name: str
    X: Floats  # (samples, features)
    y: Labels  # (samples,)
    split: tuple[int, int, int]
    total: int | None  # samples of the T-stage, all batches together; None: as many as there are
    batches: tuple[int, ...]  # the paper's n_i
    note: str = ""
    natural: NDArray[np.intp] | None = None  # rows in the order in which they were recorded; None: as they stand

    @property
    def order(self) -> NDArray[np.intp]:
        """The rows as they were recorded."""
        return np.arange(len(self.y)) if self.natural is None else self.natural


@dataclass(frozen=True, slots=True)
class _Recipe:
    """How a data set is made of its file; `side` > 0: square images, turned into column order."""

    file: str
    split: tuple[int, int, int]
    total: int
    batches: tuple[int, ...]
    classes: tuple[int, ...] = ()  # none: all
    side: int = 0
    by_variance: bool = False  # which columns stay where the split has fewer: largest variance, else the first
    recorded_by: str = ""  # array of the file that tells which rows were recorded first; none: they stand in order
    note: str = ""


_DSADS_NOTE = "stands in for the paper's PAMAP2; not its data, so no figure to compare with"
_FETCHED = "from OpenML, whose rows need not be those of the project's own file"
_GAS_NOTE = "not in the paper; drift batches 1-6, 8 and 9"

_RECIPES: Mapping[str, _Recipe] = MappingProxyType(
    {
        "Mnist0vs5": _Recipe("mnist_035.npz", (114, 228, 113), 3200, (80, 160, 320), (0, 5), 28, by_variance=True),
        "Mnist0vs3vs5": _Recipe(
            "mnist_035.npz", (123, 245, 121), 4800, (120, 240, 480), (0, 3, 5), 28, by_variance=True
        ),
        "Splice": _Recipe("splice.npz", (10, 40, 10), 2240, (80, 160, 320)),
        "USPS0vs5": _Recipe("usps_full.npz", (64, 128, 64), 960, (120, 160, 240), (0, 5), 16),
        "USPS0vs3vs5": _Recipe("usps_full.npz", (64, 128, 64), 1440, (180, 240, 300), (0, 3, 5), 16),
        "Satimage": _Recipe("satimage.npz", (10, 18, 8), 1080, (60, 90, 120), (1, 2, 3)),
        "DSADS": _Recipe(
            "dsads_feat405.npz",
            (81, 162, 81),
            7200,
            (360, 540, 720),
            tuple(range(1, 19)),
            recorded_by="subject",  # in the file activities come first, and subjects within each
            note=_DSADS_NOTE,
        ),
        "Gas": _Recipe("gas_drift_8of10.npz", (32, 64, 32), 2400, (120, 180, 240), recorded_by="batch", note=_GAS_NOTE),
    }
)


@dataclass(frozen=True, slots=True)
class Named:
    """A data set by name; small enough to be sent to a worker, which loads it."""

    name: str

    def load(self) -> Dataset:
        """Return the data set, read from the folder in EML_DATA."""
        return load(self.name)


def load(name: str) -> Dataset:
    """Return the data set `name`, with the paper's columns, classes and settings."""
    (name,) = resolve_names([name], DATASETS, "data set")
    recipe = _RECIPES[name]
    path = checked(name, recipe.file)
    with np.load(path) as arrays:
        samples, labels = arrays["X"], arrays["y"]
        recorded = arrays[recipe.recorded_by] if recipe.recorded_by else np.zeros(len(labels))
    if recipe.classes:
        chosen = np.isin(labels, recipe.classes)
        samples, labels, recorded = samples[chosen], labels[chosen], recorded[chosen]
    return Dataset(
        name=name,
        X=_columns(samples, recipe),
        y=labels.astype(np.int64),
        split=recipe.split,
        total=recipe.total,
        batches=recipe.batches,
        note="; ".join(filter(None, (recipe.note, _FETCHED if path.parent.name == openml.FOLDER else ""))),
        natural=np.argsort(recorded, kind="stable"),
    )


def _columns(samples: NDArray[Any], recipe: _Recipe) -> Floats:
    """Return the columns of the split, images in COLUMN order as MATLAB stores them.

    With rows the paper's figures are out of reach: the lower halves of 3 and 5 are alike.
    """
    if recipe.side:
        samples = samples.reshape(-1, recipe.side, recipe.side).transpose(0, 2, 1).reshape(len(samples), -1)
    values = samples.astype(np.float64)
    width = sum(recipe.split)
    if recipe.by_variance:
        largest = np.argsort(-values.var(axis=0), kind="stable")[:width]
        return values[:, np.sort(largest)]
    return values[:, :width]


def file_of(name: str) -> str:
    """Return the file a data set is read from."""
    return _RECIPES[name].file


def haphazard_file(name: str) -> str:
    """Return the file of a set of the haphazard benchmark."""
    return f"haphazard_{name}.npz"


def locate(file: str) -> tuple[Path, str] | None:
    """Return where `file` is and the sha256 it must have: in EML_DATA, or fetched from OpenML beside it."""
    folder = Path(os.environ.get("EML_DATA") or "")
    if not os.environ.get("EML_DATA"):
        return None
    if (folder / file).is_file():
        return folder / file, SHA256[file]
    fetched = folder / openml.FOLDER / file
    if fetched.is_file() and openml.recorded(fetched).is_file():
        return fetched, openml.recorded(fetched).read_text(encoding="ascii").strip()
    return None


def checked(name: str, file: str) -> Path:
    """Return the path of `file`, or say what to set."""
    found = locate(file)
    if found is None:
        raise EvaluationError(_absent(name, file, os.environ.get("EML_DATA")))
    path, expected = found
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    if checksum != expected:
        raise EvaluationError(
            f"{path} is not the file these figures are made with: its sha256 is {checksum}, expected {expected}"
        )
    return path


def _absent(name: str, file: str, folder: str | None) -> str:
    if not folder:
        return (
            f"{name} is read from a file, and EML_DATA is not set: set EML_DATA to the folder that holds {file} "
            "(or bring your own data with --data FILE.npz)"
        )
    other = f", or get OpenML's with eml evaluate data --fetch {name}" if file in openml.ORIGINS else ""
    return (
        f"{name} needs {Path(folder) / file}, which is not there: set EML_DATA to the folder that holds {file}{other}"
    )
