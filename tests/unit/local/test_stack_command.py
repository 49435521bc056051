"""`eml local` where no stack runs: what it says and how it exits."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from eml import cli
from eml.local import broker, stack_command, state
from eml.local.state import ProcessId, State
from eml.settings import load


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    monkeypatch.setenv("EML_CACHE", str(tmp_path))
    monkeypatch.setattr(broker, "ANSWER_TIMEOUT_S", 0.3)


def test_status_of_nothing_is_1_and_says_how_to_start(capsys):
    assert cli.main(["local", "status"]) == 1
    assert "eml local up" in capsys.readouterr().out


def test_down_of_nothing_is_no_error(capsys):
    assert cli.main(["local", "down"]) == 0
    assert "Nothing runs" in capsys.readouterr().out


def test_a_state_of_processes_long_gone_counts_as_nothing(tmp_path, capsys):
    gone = ProcessId(2**22, "1")
    state.write(tmp_path, State("127.0.0.1:1", "http://127.0.0.1:1", (), gone, (gone,)))
    assert cli.main(["local", "status", "--folder", str(tmp_path)]) == 1
    assert cli.main(["local", "down", "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("Nothing runs") == 2
    assert not (tmp_path / state.FILE).exists()


def test_status_of_a_keeper_whose_parts_do_not_answer_is_1(tmp_path, capsys):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as keeper:
        known = State("127.0.0.1:1", "http://127.0.0.1:1", ("broker.log",), state.process_id(keeper.pid), ())
        state.write(tmp_path, known)
        assert cli.main(["local", "status", "--folder", str(tmp_path)]) == 1
        assert cli.main(["local", "up", "--folder", str(tmp_path)]) == 1
        out = capsys.readouterr().out
        assert out.count("broker    UNHEALTHY  127.0.0.1:1") == 2
        assert "runs already" in out
        assert "export" not in out
        keeper.kill()


def test_an_error_is_printed_without_a_traceback(tmp_path, capsys):
    (tmp_path / state.FILE).write_text("{")
    assert cli.main(["local", "down", "--folder", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert "is damaged" in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_up_with_a_registry_that_is_not_there_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("eml.local.jars.folder_of", lambda _: tmp_path)  # as if the jars were there
    url = "http://127.0.0.1:1"
    assert cli.main(["local", "up", "--folder", str(tmp_path / "stack"), "--registry", url]) == 3
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == f"eml local up: No registry answers at {url}/subjects. Start it, or leave the URL out."


def test_local_alone_asks_for_a_command(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["local"])
    assert stop.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


RUNNING = State("127.0.0.1:9092", "http://127.0.0.1:8085", (), ProcessId(1, "x"), ())


def test_the_settings_of_the_stack_are_written_once_and_can_be_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Next: `eml topics create`, then `python -m eml.job`" in stack_command._settings_for(RUNNING)
    settings = load(tmp_path / "eml.toml", {})
    assert settings == load(
        None, {}, {"kafka.bootstrap_servers": "127.0.0.1:9092", "registry.url": "http://127.0.0.1:8085"}
    )
    assert "stays as it is" in stack_command._settings_for(RUNNING)
    before = (tmp_path / "eml.toml").read_text()
    said = stack_command._settings_for(replace(RUNNING, bootstrap_servers="127.0.0.1:2"))
    assert "is for another broker; it stays as it is. For this one set kafka.bootstrap_servers to 127.0.0.1:2" in said
    assert (tmp_path / "eml.toml").read_text() == before


def test_status_as_json(capsys):
    assert cli.main(["local", "status", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"runs": False, "logs": []}
