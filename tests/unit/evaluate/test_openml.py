"""Data from OpenML: turned into the form of our files, kept beside them, never in their place. No network here."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eml import cli
from eml.evaluate import openml
from eml.evaluate.catalogue import DATASETS, HAPHAZARD_SETS
from eml.evaluate.datasets import SHA256, file_of, haphazard_file, load
from eml.evaluate.errors import EvaluationError
from eml.evaluate.openml import ORIGINS

LETTERS = np.array(list("AGCT"))


def on_openml(number: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """What each page holds, as far as it is known: the shape, the values' range and the classes' names."""
    (origin,) = [origin for origin in ORIGINS.values() if origin.number == number]
    rows, columns = origin.shape
    random = np.random.default_rng(number)
    if origin.name == "splice":
        letters = LETTERS[random.integers(4, size=origin.shape)]
        letters[:15, 3] = "N"  # ambiguous bases
        return letters.astype(object), np.array(["N", "EI", "IE"])[np.arange(rows) % 3]
    if origin.name == "satimage":
        bands = random.integers(27, 158, size=origin.shape).astype(float)
        return bands, np.array(["1.", "2.", "7."])[np.arange(rows) % 3]
    if origin.name == "USPS":
        return random.uniform(-1, 1, size=origin.shape), (1 + np.arange(rows) % 10).astype(str)
    return np.tile(np.arange(columns) % 256, (rows, 1)), (np.arange(rows) % 10).astype(str)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EML_DATA", str(tmp_path))
    monkeypatch.setattr(openml, "from_openml", on_openml)
    return tmp_path


def test_every_origin_takes_the_form_of_one_of_our_files():
    assert set(ORIGINS) <= set(SHA256)
    assert {origin.number for origin in ORIGINS.values()} == {554, 41082, 46, 182}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "rows", "labels", "low", "high"),
    [
        ("mnist_035.npz", 21000, {0, 3, 5}, 0, 255),
        ("usps_full.npz", 9298, set(range(10)), 0, 1),
        ("splice.npz", 3175, {-1, 1}, 1, 4),
        ("satimage.npz", 6430, {1, 2, 7}, 27, 157),
    ],
)
def test_arrays_are_as_in_our_files(folder, file, rows, labels, low, high):
    with np.load(openml.fetch(file, folder)) as arrays:
        samples, found = arrays["X"], arrays["y"]
    assert samples.shape == (rows, ORIGINS[file].shape[1])
    assert set(found.tolist()) == labels
    assert low <= samples.min() < samples.max() <= high


def test_classes_keep_their_samples(folder):
    with np.load(openml.fetch("splice.npz", folder)) as arrays:
        codes, signs = arrays["X"], arrays["y"]
    letters, names = on_openml(46)
    np.testing.assert_array_equal(LETTERS[codes - 1], letters[15:].astype(str))
    np.testing.assert_array_equal(signs == 1, names[15:] == "N")


def test_a_fetched_set_is_loaded_where_ours_is_not_there_and_says_so(folder):
    with pytest.raises(EvaluationError, match="or get OpenML's with eml evaluate data --fetch Satimage"):
        load("Satimage")
    openml.fetch("satimage.npz", folder)
    loaded = load("Satimage")
    assert "from OpenML" in loaded.note
    assert loaded.X.shape[1] == 36


def test_ours_comes_first(folder):
    openml.fetch("satimage.npz", folder)
    (folder / "satimage.npz").write_bytes(b"of another content")
    with pytest.raises(EvaluationError, match="is not the file these figures are made with"):
        load("Satimage")


def test_a_fetched_file_is_checked_too(folder):
    path = openml.fetch("satimage.npz", folder)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(EvaluationError, match="sha256"):
        load("Satimage")
    openml.recorded(path).unlink()  # of an interrupted fetch: as if it were not there
    with pytest.raises(EvaluationError, match="which is not there"):
        load("Satimage")


def test_another_version_is_refused_and_nothing_written(folder):
    def other(_: int) -> tuple[NDArray[Any], NDArray[Any]]:
        return np.zeros((6435, 36)), np.zeros(6435, dtype=str)

    with pytest.raises(EvaluationError, match=r"is \(6435, 36\), not \(6430, 36\)"):
        openml.fetch("satimage.npz", folder, other)
    assert list(folder.iterdir()) == []


def test_without_scikit_learn_the_environment_that_has_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(EvaluationError, match=r"eml\[evaluate\]"):
        openml.from_openml(182)


def test_no_network_is_said(monkeypatch):
    class Datasets:
        @staticmethod
        def fetch_openml(**_: object) -> None:
            raise OSError("no route to host")

    monkeypatch.setitem(sys.modules, "sklearn.datasets", Datasets)
    with pytest.raises(EvaluationError, match="OpenML 182 cannot be had now: no route to host"):
        openml.from_openml(182)


def listed(capsys, *options: str) -> dict[str, str]:
    """The lines of the list by data set."""
    assert cli.main(["evaluate", "data", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    return {line.split()[0]: line for line in lines}


def test_the_list_tells_state_checksum_origin_and_what_each_stands_for(folder, capsys):
    (folder / "splice.npz").write_bytes(b"not splice")
    openml.fetch("satimage.npz", folder)
    found = listed(capsys)
    files = {file_of(name) for name in found if name in DATASETS}
    assert set(SHA256) == files | {haphazard_file(name) for name in found if name in HAPHAZARD_SETS}
    assert "not there" in found["USPS0vs5"]
    assert SHA256["usps_full.npz"][:12] in found["USPS0vs5"]
    assert "another file" in found["Splice"]
    assert "from OpenML" in found["Satimage"]
    assert "satimage (182)" in found["Satimage"]
    assert "PAMAP2" in found["DSADS"]
    assert "nothing in the paper" in found["Gas"]
    assert "EV-Action" in "".join(found)


def test_fetched_by_name_from_the_command_line(folder, capsys):
    found = listed(capsys, "--fetch", "splice,satimage")
    assert all("from OpenML" in found[name] for name in ("Splice", "Satimage"))
    assert sorted(path.name for path in (folder / "openml").glob("*.npz")) == ["satimage.npz", "splice.npz"]


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_fetched_is_said(capsys, monkeypatch):
    assert cli.main(["evaluate", "data", "--fetch", "Gas"]) == 2
    assert "read from EML_DATA only" in capsys.readouterr().err
    monkeypatch.delenv("EML_DATA")
    assert cli.main(["evaluate", "data", "--fetch", "Splice"]) == 2
    assert "EML_DATA must name a folder" in capsys.readouterr().err


def test_the_list_needs_no_package_of_an_extra():
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('rich', 'matplotlib', 'sklearn')));"
        "from eml.cli import main; sys.exit(main(['evaluate', 'data']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stderr) == (0, "")
