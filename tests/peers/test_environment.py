"""The peers environment: River with correct nearest neighbours, beside EML."""

from importlib.metadata import version

from river import neighbors

import eml


def test_river_is_new_enough_beside_eml():
    major, minor = (int(part) for part in version("river").split(".")[:2])
    assert (major, minor) >= (0, 26)
    assert version("eml") == eml.__version__


def test_nearest_neighbours_finds_the_exact_match():
    knn = neighbors.KNNClassifier(n_neighbors=1)
    for value in range(50):
        knn.learn_one({"a": float(value), "b": float(value % 7)}, value)
    assert all(knn.predict_one({"a": float(value), "b": float(value % 7)}) == value for value in range(50))
