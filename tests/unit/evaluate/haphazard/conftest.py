"""A made-up stream of the benchmark's form: two classes that a plane parts, and masks of what is there."""

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def masked_file(tmp_path: Path) -> Path:
    """80 records of 5 features, two classes by name; masks of 50 and 80 percent, at least one value a row."""
    random = np.random.default_rng(3)
    labels = random.permutation(np.repeat(["no", "yes"], [30, 50]))
    samples = random.normal(size=(80, 5)) + 3.0 * (labels == "yes")[:, None]
    samples[4, 2] = np.nan
    masks = {}
    for p in (50, 80):
        masks[f"mask{p}"] = random.random(samples.shape) < p / 100
        masks[f"mask{p}"][:, 0] |= ~masks[f"mask{p}"].any(axis=1)
    path = tmp_path / "made.npz"
    np.savez(path, X=samples, y=labels, **masks)
    return path
