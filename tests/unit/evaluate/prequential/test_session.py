"""`eml evaluate stream` from the command line to the table, with the real learner in real worker processes."""

import json

import pytest

from tests.unit.evaluate.test_command import evaluate, refusal


def stream(*arguments: object) -> int:
    return evaluate("stream", *arguments)


@pytest.mark.slow
def test_own_data_end_to_end_with_the_same_figures_however_many_processes(own_file, tmp_path, capsys):
    found = []
    for jobs in (1, 2):
        target = tmp_path / f"{jobs}.json"
        options = ("--split", "2,4,2", "--total", 100, "--switches", 2, "--runs", 2, "--seed", 5, "--memory", 60)
        methods = ("--methods", "eml,eml-announced,restart,drop-only", "--jobs", jobs, "--json", target)
        assert stream("--data", own_file, *options, *methods) == 0
        content = json.loads(target.read_text())
        for method in content["datasets"][0]["methods"].values():
            for figures in method["runs"]:
                del figures["seconds"]
        found.append(content)
    assert found[0] == found[1]
    methods_found = found[0]["datasets"][0]["methods"]
    assert list(methods_found) == ["eml", "eml-announced", "restart", "drop-only"]
    assert methods_found["restart"]["regret"]["mean"] == 0.0
    out = capsys.readouterr().out
    assert "trees.npz" in out
    assert f"{methods_found['eml']['summary']['early']['mean']:.2f}±" in out


@pytest.mark.slow
def test_own_data_as_recorded_with_sudden_features(own_file, tmp_path, capsys):
    target, kept = tmp_path / "out.json", tmp_path / "kept"
    options = ("--scheme", "sudden", "--order", "file", "--switches", 3, "--runs", 1, "--methods", "eml,drop-only")
    assert stream("--data", own_file, *options, "--jobs", 1, "--json", target, "--keep", kept) == 0
    assert "switches: 3, sudden features." in capsys.readouterr().out
    assert json.loads(target.read_text())["command"]["order"] == "file"
    assert evaluate("report", "--keep", kept) == 0
    assert "## Stream, 3 switches, all records, sudden features as recorded: " in capsys.readouterr().out


def test_what_cannot_be_run_is_refused_before_any_work(own_file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EML_PEERS_PYTHON", raising=False)
    data = ("--data", own_file, "--split", "2,4,2")
    ours = (*data, "--methods", "eml")
    assert "make .venv-peers/.ready" in refusal(capsys, "stream", *data)
    assert "no method 'river'; the nearest is" in refusal(capsys, "stream", *data, "--methods", "river")
    assert "--data needs --split" in refusal(capsys, "stream", "--data", own_file, "--methods", "eml")
    assert "--split goes with --data" in refusal(
        capsys, "stream", "--dataset", "Gas", "--split", "1,1,1", "--methods", "eml"
    )
    assert "--split goes with --scheme rotating" in refusal(capsys, "stream", *ours, "--scheme", "sudden")
    own = ("--data", own_file, "--methods", "eml", "--scheme")
    assert "needs --switches 2 at least" in refusal(capsys, "stream", *own, "reappearing")
    assert "too few for 9 chunks" in refusal(capsys, "stream", *own, "obsolete", "--switches", 8)
    assert "has 120 records" in refusal(capsys, "stream", *ours, "--total", "121")
    assert "a share above 0" in refusal(capsys, "stream", *ours, "--labelled", "0")
    assert "a share above 0" in refusal(capsys, "stream", *ours, "--notice", "much")
    assert "cannot be written" in refusal(capsys, "stream", *ours, "--json", tmp_path / "absent" / "out.json")
