"""`eml evaluate haphazard` from the command line to the table, with the real learner in real worker processes."""

import json
from pathlib import Path

import numpy as np
import pytest

from eml.evaluate.catalogue import HAPHAZARD_SETS
from eml.evaluate.haphazard.streams import Source
from tests.unit.evaluate.test_command import evaluate, refusal

PEERS_PYTHON = Path(__file__).parents[4] / ".venv-peers" / "bin" / "python"
OURS = ("--methods", "eml,majority", "--jobs", 1)


@pytest.mark.slow
def test_own_data_end_to_end_kept_and_reported(masked_file, tmp_path, capsys):
    target, kept = tmp_path / "out.json", tmp_path / "kept"
    options = ("--data", masked_file, *OURS, "--runs", 2, "--seed", 4, "--memory", 64, "--keep", kept)
    assert evaluate("haphazard", *options, "--json", target) == 0
    out = capsys.readouterr().out
    content = json.loads(target.read_text())
    assert [(row["dataset"], row["p"]) for row in content["cells"]] == [("made.npz", 50), ("made.npz", 80)]
    for row in content["cells"]:
        assert row["published"] is None
        assert [len(row["methods"][name]["runs"]) for name in ("eml", "majority")] == [2, 1]
        assert row["methods"]["eml"]["mean"] > 75.0
        assert row["methods"]["majority"]["mean"] < 60.0
        assert row["first"] == ["eml"]
        assert f"{row['methods']['eml']['mean']:.2f}±" in out
    assert "Memory: 64 exemplars" in out
    assert evaluate("haphazard", *options) == 0
    again = capsys.readouterr()
    assert again.out == out
    assert "6 trials taken, 0 stale, 0 to run" in again.err
    assert evaluate("report", "--keep", kept) == 0
    report = capsys.readouterr().out
    assert f"| made.npz | 50 | **{content['cells'][0]['methods']['eml']['mean']:.2f}±" in report
    assert "other code" not in report


def test_what_cannot_be_run_is_refused_before_any_work(masked_file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EML_PEERS_PYTHON", raising=False)
    monkeypatch.setenv("EML_DATA", str(tmp_path))
    own = ("haphazard", "--data", masked_file, *OURS)
    assert "make .venv-peers/.ready" in refusal(capsys, "haphazard", "--data", masked_file)
    assert "has no mask of 25 % (its masks: 50, 80)" in refusal(capsys, *own, "--p", "50,25")
    assert "no method 'river'; the nearest is 'river-lr'" in refusal(capsys, *own, "--methods", "river")
    assert "no data set 'wpb'; the nearest is 'wpbc'" in refusal(capsys, "haphazard", "--dataset", "wpb", *OURS)
    absent = refusal(capsys, "haphazard", "--dataset", "ipd", *OURS)
    assert f"ipd needs {tmp_path / 'haphazard_ipd.npz'}, which is not there" in absent
    np.savez(tmp_path / "haphazard_ipd.npz", X=np.zeros((2, 2)), y=np.zeros(2))
    assert "is not the file these figures are made with" in refusal(capsys, "haphazard", "--dataset", "ipd", *OURS)


@pytest.mark.data
@pytest.mark.slow
def test_a_set_of_the_benchmark_stands_beside_its_published_figures(tmp_path, capsys, monkeypatch):
    methods = ["eml", "majority"]
    if PEERS_PYTHON.is_file():
        monkeypatch.setenv("EML_PEERS_PYTHON", str(PEERS_PYTHON))
        methods.append("river-lr")
    target = tmp_path / "out.json"
    options = ("--methods", ",".join(methods), "--runs", 1, "--json", target)
    assert evaluate("haphazard", "--dataset", "wpbc", *options) == 0
    out = capsys.readouterr().out
    assert "is above the published best" in out
    cells = json.loads(target.read_text())["cells"]
    assert [(row["p"], row["published"]["balanced"]) for row in cells] == [(25, 58.1), (50, 53.8), (75, 50.7)]
    assert all(40.0 < row["methods"]["eml"]["mean"] < 70.0 for row in cells)
    if "river-lr" in methods:
        assert [round(row["methods"]["river-lr"]["mean"], 1) for row in cells] == [44.3, 52.9, 56.8]  # PROVENANCE.md


@pytest.mark.data
def test_all_sets_are_at_hand_as_they_were_dealt():
    sizes = {name: Source(name).load().X.shape for name in HAPHAZARD_SETS}
    assert sizes == {
        "wpbc": (198, 33),
        "australian": (690, 14),
        "wbc": (699, 9),
        "diabetes_f": (768, 8),
        "ipd": (1096, 24),
        "svmguide3": (1243, 21),
    }
