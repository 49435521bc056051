"""`--keep` from the command line: the real learner, real workers, a real interruption."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from eml import cli

OWN = ("--split", "2,4,2", "--batch", "12", "--memory", "60", "--jobs", "1")


def evaluate(*arguments: object) -> int:
    return cli.main(["evaluate", *map(str, arguments)])


def without_times(path):
    """A result file without what no two runs have in common."""
    content = json.loads(path.read_text())
    for name in ("runs", "seed"):
        content["command"].pop(name)
    for row in content["cells"]:
        for method in row["methods"].values():
            del method["cpu_seconds"]
    return content


@pytest.mark.slow
def test_a_table_made_in_two_runs_is_that_of_one(own_file, tmp_path, capsys):
    common = ("one-shot", "--data", own_file, *OWN, "--methods", "eml,memory")
    keep = ("--keep", tmp_path / "kept")
    assert evaluate(*common, "--runs", 3, "--json", tmp_path / "whole.json") == 0
    assert evaluate(*common, "--runs", 2, *keep) == 0
    assert "0 trials taken, 0 stale, 4 to run" in capsys.readouterr().err
    assert evaluate(*common, "--runs", 3, *keep, "--json", tmp_path / "broken.json") == 0
    assert "4 trials taken, 0 stale, 2 to run" in capsys.readouterr().err
    assert without_times(tmp_path / "broken.json") == without_times(tmp_path / "whole.json")


@pytest.mark.slow
def test_a_stream_is_kept_too(own_file, tmp_path, capsys):
    common = ("stream", "--data", own_file, "--split", "2,4,2", "--methods", "eml,restart", "--runs", 2, "--jobs", 1)
    tables = []
    for _ in range(2):
        assert evaluate(*common, "--keep", tmp_path / "kept") == 0
        out, err = capsys.readouterr()
        tables.append(out)
    assert tables[0] == tables[1]  # with the seconds of the first run
    assert "4 trials taken, 0 stale, 0 to run" in err
    assert evaluate(*common, "--labelled", 0.5, "--keep", tmp_path / "kept") == 0
    assert "0 trials taken, 0 stale, 4 to run" in capsys.readouterr().err


@pytest.mark.slow
def test_interrupted_what_is_finished_is_kept(own_file, tmp_path):
    kept = tmp_path / "kept"
    options = ["one-shot", "--data", str(own_file), *OWN, "--methods", "eml", "--runs", "500", "--keep", str(kept)]
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # where tests run in background
    main = f"{listen}; import sys; from eml.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", main]
    with subprocess.Popen([*command, "evaluate", *options], stderr=subprocess.PIPE, text=True) as run:  # noqa: S603
        file = kept / "one-shot--eml.jsonl"
        until = time.monotonic() + 60.0
        while not (file.is_file() and file.read_bytes().count(b"\n") >= 2) and time.monotonic() < until:
            time.sleep(0.05)
        os.kill(run.pid, signal.SIGINT)
        _, err = run.communicate(timeout=60)
    finished = file.read_bytes().count(b"\n")
    assert run.returncode == 130
    assert f"interrupted; {finished} of 500 trials were finished and are kept in {kept}" in err
    assert 2 <= finished < 500


def test_a_folder_that_cannot_be_is_refused_before_any_work(own_file, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert evaluate("one-shot", "--data", own_file, *OWN, "--keep", tmp_path / "file" / "kept") == 2
    assert "--keep" in capsys.readouterr().err
