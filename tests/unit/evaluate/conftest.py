"""Small synthetic data for the harness: two or three classes that lie apart in every feature."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from eml.evaluate.datasets import Dataset

MakeDataset = Callable[..., Dataset]


@pytest.fixture
def make_dataset() -> MakeDataset:
    """A data set of `counts[c]` samples of class c; column j of row i is 1000 i + j, so each value tells its place."""

    def make(
        counts: tuple[int, ...] = (40, 40), split: tuple[int, int, int] = (2, 4, 2), total: int | None = None
    ) -> Dataset:
        labels = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
        samples = 1000.0 * np.arange(len(labels))[:, None] + np.arange(sum(split))
        return Dataset("made", samples, labels, split, total, (8,))

    return make


@pytest.fixture
def own_file(tmp_path: Path) -> Path:
    """A user's file: 3 classes by name, 40 samples each, 8 features; the classes lie apart."""
    random = np.random.default_rng(1)
    centres = 3.0 * random.normal(size=(3, 8))
    labels = np.repeat(["ash", "elm", "oak"], 40)
    samples = np.repeat(centres, 40, axis=0) + random.normal(size=(120, 8))
    path = tmp_path / "trees.npz"
    np.savez(path, X=samples, y=labels)
    return path
