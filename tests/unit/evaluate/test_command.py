"""`eml evaluate` from the command line to the table, with the real learner in real worker processes."""

import json
import os
import subprocess
import sys

import pytest

from eml import cli

OWN = ("--split", "2,4,2", "--batch", "12")


def evaluate(*arguments: object) -> int:
    return cli.main(["evaluate", *map(str, arguments)])


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Return what is said where a request is refused; nothing must have been printed as a result."""
    status: object
    try:
        status = evaluate(*arguments)
    except SystemExit as stop:  # argparse refuses so
        status = stop.code
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    return " ".join(err.split())


@pytest.mark.slow
def test_own_data_end_to_end(own_file, tmp_path, capsys):
    target = tmp_path / "out.json"
    options = (*OWN, "--runs", "2", "--seed", "5", "--memory", "60", "--methods", "eml,memory,restart", "--jobs", "2")
    assert evaluate("one-shot", "--data", own_file, *options, "--json", target) == 0
    out = capsys.readouterr().out
    content = json.loads(target.read_text())
    (row,) = content["cells"]
    for method in ("eml", "memory", "restart"):
        accuracies = row["methods"][method]["accuracies"]
        assert len(accuracies) == 2
        assert all(60.0 < accuracy <= 100.0 for accuracy in accuracies)  # chance is 33
        assert f"{row['methods'][method]['mean']:.2f}±" in out
    assert row["dataset"] == "trees.npz"
    assert content["command"]["seed"] == 5
    assert content["settings"]["memory"] == {"memory_size": 60}
    assert "A memory of 60 exemplars for every method." in out


@pytest.mark.slow
def test_figures_do_not_depend_on_the_number_of_processes(own_file, tmp_path):
    found = []
    for jobs in (1, 2):
        target = tmp_path / f"{jobs}.json"
        options = ("--task", "II", *OWN, "--runs", 2, "--methods", "eml,memory-batch", "--jobs", jobs, "--json", target)
        assert evaluate("multi-shot", "--data", own_file, *options) == 0
        content = json.loads(target.read_text())
        for method in content["cells"][0]["methods"].values():
            del method["cpu_seconds"]
        found.append(content)
    assert found[0] == found[1]


@pytest.mark.slow
def test_the_environment_is_left_as_it_was(own_file, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    assert evaluate("one-shot", "--data", own_file, *OWN, "--runs", 1, "--methods", "memory", "--jobs", 1) == 0
    assert os.environ["OMP_NUM_THREADS"] == "2"
    assert "MKL_NUM_THREADS" not in os.environ


def test_an_unknown_method_or_data_set_brings_the_nearest(own_file, capsys):
    text = refusal(capsys, "one-shot", "--data", own_file, *OWN, "--methods", "eml,memry")
    assert "no method 'memry'; the nearest is 'memory'" in text
    assert "no data set 'Splic'; the nearest is 'Splice'" in refusal(capsys, "one-shot", "--dataset", "Splic")


def test_what_is_missing_is_asked_for(own_file, capsys, monkeypatch):
    monkeypatch.delenv("EML_DATA", raising=False)
    assert "--dataset --data is required" in refusal(capsys, "one-shot")
    assert "--data needs --batch" in refusal(capsys, "one-shot", "--data", own_file, "--split", "2,4,2")
    assert "--data needs --split" in refusal(capsys, "one-shot", "--data", own_file, "--batch", "12")
    assert "set EML_DATA to the folder" in refusal(capsys, "multi-shot", "--dataset", "Gas")


def test_numbers_that_do_not_fit_are_refused(own_file, capsys):
    data = ("one-shot", "--data", own_file)
    assert "three numbers of columns" in refusal(capsys, *data, "--split", "2,4", "--batch", "12")
    assert "leaves a stage without features" in refusal(capsys, *data, "--split", "8,0,0", "--batch", "12")
    assert "adds up to 9, but X has 8" in refusal(capsys, *data, "--split", "2,4,3", "--batch", "12")
    assert "12 or 15 would fit" in refusal(capsys, *data, "--split", "2,4,2", "--batch", "13")
    assert "at most 39 would fit" in refusal(capsys, *data, "--split", "2,4,2", "--batch", "60")
    assert "positive whole number" in refusal(capsys, *data, *OWN, "--runs", "0")


def test_options_of_own_data_do_not_go_with_a_name(capsys):
    assert "--total goes with --data" in refusal(capsys, "one-shot", "--dataset", "Gas", "--total", "100")


def test_a_result_that_could_not_be_written_is_refused_before_the_work(own_file, tmp_path, capsys):
    text = refusal(capsys, "one-shot", "--data", own_file, *OWN, "--json", tmp_path / "absent" / "out.json")
    assert "cannot be written" in text


def fresh_python(code: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (our own code)


def test_without_rich_the_extra_to_install_is_named(own_file):
    code = "import sys; sys.modules['rich'] = None; from eml.cli import main; sys.exit(main(sys.argv[1:]))"
    done = fresh_python(code, "evaluate", "one-shot", "--data", own_file, *OWN)
    assert (done.returncode, done.stdout) == (1, "")
    assert "eml[evaluate]" in done.stderr
    assert fresh_python(code, "--version").returncode == 0


def test_the_command_line_loads_no_learner_to_show_its_help():
    code = (
        "import sys; from eml.cli import build_parser; build_parser(); "
        "print('parsed', *[name for name in ('numpy', 'ot', 'rich') if name in sys.modules])"
    )
    assert fresh_python(code).stdout.split() == ["parsed"]


@pytest.mark.data
@pytest.mark.slow
def test_a_named_data_set_stands_beside_the_paper_s_figure(tmp_path, capsys):
    options = ("--batch", 120, "--runs", 2, "--methods", "memory,memory-raw", "--json", tmp_path / "out.json")
    assert evaluate("one-shot", "--dataset", "usps0vs5", *options) == 0
    out = capsys.readouterr().out
    assert "97.23±1.64" in out
    (row,) = json.loads((tmp_path / "out.json").read_text())["cells"]
    means = [row["methods"][name]["mean"] for name in ("memory", "memory-raw")]
    assert min(means) > 90.0
    assert f"{max(means):.2f}±" in out
