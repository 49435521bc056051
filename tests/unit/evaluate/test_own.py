"""A user's own file: read as asked, and refused with what would do."""

import numpy as np
import pytest

from eml.evaluate.errors import EvaluationError
from eml.evaluate.own import OwnFile


def own(path, split=(2, 4, 2), classes=()):
    return OwnFile(str(path), split, (6,), classes)


def test_samples_labels_and_classes_are_those_of_the_file(own_file):
    with np.load(own_file) as arrays:
        samples, labels = arrays["X"], arrays["y"]
    loaded = own(own_file, classes=("oak", "ash")).load()
    chosen = labels != "elm"
    assert loaded.name == "trees.npz"
    np.testing.assert_array_equal(loaded.X, samples[chosen])
    np.testing.assert_array_equal(loaded.y, labels[chosen])


def test_without_a_split_the_outer_quarters_vanish_and_are_new(own_file):
    assert own(own_file, split=None).load().split == (2, 4, 2)


def test_whole_numbers_stored_as_floats_are_labels(tmp_path):
    np.savez(tmp_path / "f.npz", X=np.zeros((4, 8)), y=np.array([0.0, 1.0, 0.0, 1.0]))
    assert own(tmp_path / "f.npz").load().y.tolist() == [0, 1, 0, 1]
    assert len(own(tmp_path / "f.npz", classes=("1",)).load().y) == 2


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"X": np.zeros((4, 8))}, r"no array y in it \(its arrays: X\)"),
        ({"X": np.zeros(4), "y": np.zeros(4)}, "samples in rows"),
        ({"X": np.array([["a"] * 8]), "y": np.zeros(1)}, "must be numbers"),
        ({"X": np.zeros((4, 8)), "y": np.zeros(3)}, "one label per row of X: 4"),
        ({"X": np.full((4, 8), np.nan), "y": np.zeros(4)}, "X holds no value"),
        ({"X": np.zeros((4, 8)), "y": np.full(4, 0.5)}, "whole numbers or strings"),
        ({"X": np.zeros((4, 9)), "y": np.zeros(4)}, "adds up to 8, but X has 9 columns; .* 2,5,2"),
        ({"X": np.zeros((4, 8)), "y": np.array([None] * 4)}, r"not an \.npz of plain arrays"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_the_reason(tmp_path, arrays, complaint):
    path = tmp_path / "f.npz"
    np.savez(path, **arrays)
    with pytest.raises(EvaluationError, match=complaint):
        own(path).load()


def test_missing_and_infinite_values_are_missing(tmp_path):
    samples = np.zeros((4, 8))
    samples[0, :3] = np.nan, np.inf, -np.inf
    np.savez(tmp_path / "f.npz", X=samples, y=np.array([0, 1, 0, 1]))
    loaded = own(tmp_path / "f.npz").load().X
    assert np.argwhere(np.isnan(loaded)).tolist() == [[0, 0], [0, 1], [0, 2]]
    assert np.isfinite(loaded).sum() == 29


def test_a_file_that_is_no_npz_is_refused(tmp_path):
    text, array = tmp_path / "f.txt", tmp_path / "f.npy"
    text.write_text("X,y\n1,2\n")
    np.save(array, np.zeros((4, 8)))
    for path in (text, array):
        with pytest.raises(EvaluationError, match=r"not an \.npz"):
            own(path).load()
    with pytest.raises(EvaluationError, match="no such file"):
        own(tmp_path / "absent.npz").load()


def test_a_class_that_is_not_there_is_named_with_those_that_are(own_file):
    with pytest.raises(EvaluationError, match=r"class fir \(classes in the file: ash, elm, oak\)"):
        own(own_file, classes=("ash", "fir")).load()
