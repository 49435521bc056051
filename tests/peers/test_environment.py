"""The peers environment: River with correct nearest neighbours, and other people's libraries, beside EML."""

import sys
from importlib.metadata import PackageNotFoundError, version

import pytest
from river import neighbors

import eml
from eml.evaluate.catalogue import PEERS
from eml.evaluate.prequential import peers


def test_river_is_new_enough_beside_eml():
    major, minor = (int(part) for part in version("river").split(".")[:2])
    assert (major, minor) >= (0, 26)
    assert version("eml") == eml.__version__


def test_nearest_neighbours_finds_the_exact_match():
    knn = neighbors.KNNClassifier(n_neighbors=1)
    for value in range(50):
        knn.learn_one({"a": float(value), "b": float(value % 7)}, value)
    assert all(knn.predict_one({"a": float(value), "b": float(value % 7)}) == value for value in range(50))


@pytest.mark.parametrize("name", PEERS)
def test_a_peers_figures_name_the_version_of_its_own_library_and_of_no_other(name, monkeypatch):
    monkeypatch.setenv(peers.VARIABLE, sys.executable)
    libraries = [library for library in ("river", "openmoa", "haphazard", "metric-learn") if name.startswith(library)]
    found = dict(line.split() for line in peers.installed(name))
    assert found.keys() & {"river", "openmoa", "haphazard", "metric-learn"} == set(libraries)
    assert found["numpy"] == version("numpy")


def test_no_peer_has_brought_torch_along():
    with pytest.raises(PackageNotFoundError):
        version("torch")
