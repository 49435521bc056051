"""Data sets by name: what is said where they are missing, and what they hold where they are not."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from eml.evaluate import datasets
from eml.evaluate.catalogue import DATASETS
from eml.evaluate.errors import EvaluationError

# From the paper's settings table; DSADS and Gas are ours. Vanished, survived, new, classes.
SETTINGS = {
    "Mnist0vs5": (114, 228, 113, 2),
    "Mnist0vs3vs5": (123, 245, 121, 3),
    "Splice": (10, 40, 10, 2),
    "USPS0vs5": (64, 128, 64, 2),
    "USPS0vs3vs5": (64, 128, 64, 3),
    "Satimage": (10, 18, 8, 3),
    "DSADS": (81, 162, 81, 18),
    "Gas": (32, 64, 32, 6),
}


def test_without_the_variable_the_error_says_what_to_set(monkeypatch):
    monkeypatch.delenv("EML_DATA", raising=False)
    with pytest.raises(EvaluationError, match=r"set EML_DATA to the folder that holds usps_full\.npz"):
        datasets.load("USPS0vs5")


def test_a_folder_without_the_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("EML_DATA", str(tmp_path))
    with pytest.raises(EvaluationError, match=f"{tmp_path}/splice.npz, which is not there"):
        datasets.load("Splice")


def test_another_file_of_that_name_is_refused(monkeypatch, tmp_path):
    np.savez(tmp_path / "splice.npz", X=np.zeros((2, 60)), y=np.zeros(2))
    monkeypatch.setenv("EML_DATA", str(tmp_path))
    with pytest.raises(EvaluationError, match="sha256"):
        datasets.load("Splice")


def test_an_unknown_name_brings_the_nearest():
    with pytest.raises(EvaluationError, match="no data set 'USPS05'; the nearest is 'USPS0vs5'"):
        datasets.load("USPS05")


def test_images_are_read_column_by_column(monkeypatch, tmp_path):
    image = np.arange(256).reshape(16, 16)
    path = tmp_path / "usps_full.npz"
    np.savez(path, X=np.stack([image.ravel()] * 3), y=np.array([0, 5, 7]))
    monkeypatch.setattr(datasets, "SHA256", {path.name: hashlib.sha256(path.read_bytes()).hexdigest()})
    monkeypatch.setenv("EML_DATA", str(tmp_path))
    loaded = datasets.load("USPS0vs5")
    assert loaded.y.tolist() == [0, 5]
    np.testing.assert_array_equal(loaded.X[0], image.T.ravel())


@pytest.mark.data
@pytest.mark.parametrize("name", DATASETS)
def test_each_named_set_has_the_settings_of_the_table(name):
    loaded = datasets.load(name)
    vanished, survived, new, classes = SETTINGS[name]
    assert loaded.split == (vanished, survived, new)
    assert loaded.X.shape == (len(loaded.y), vanished + survived + new)
    assert len(np.unique(loaded.y)) == classes
    assert np.isfinite(loaded.X).all()
    assert all(batch % classes == 0 for batch in loaded.batches)


@pytest.mark.data
def test_mnist_keeps_the_pixels_of_largest_variance_in_column_order():
    loaded = datasets.load("Mnist0vs5")
    with np.load(Path(os.environ["EML_DATA"]) / "mnist_035.npz") as arrays:
        images = arrays["X"][np.isin(arrays["y"], [0, 5])].reshape(-1, 28, 28).astype(float)
    by_column = images.transpose(0, 2, 1).reshape(len(images), -1)
    kept = by_column.var(axis=0) >= np.sort(by_column.var(axis=0))[-455]
    np.testing.assert_array_equal(loaded.X, by_column[:, kept])
