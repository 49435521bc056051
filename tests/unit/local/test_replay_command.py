"""`eml replay` on the command line: what it prints, its exit status, and the settings it needs and does not need."""

import json
import os
import subprocess
import sys

import pytest

from eml import cli
from eml.local import replay_settings
from eml.settings import SettingsError
from tests.unit.local.replay_golden import KEYS, RECORDS

FILE = str(RECORDS)


@pytest.fixture(autouse=True)
def _no_settings_around(monkeypatch):
    for name in [name for name in os.environ if name.startswith("EML_")]:
        monkeypatch.delenv(name)


def test_every_line_is_an_object_with_one_field(capsys):
    assert cli.main(["replay", FILE, "--cut", "9"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {kind for line in lines for kind in line} == {"prediction", "score", "evolution", "dead_letter"}
    assert all(len(line) == 1 for line in lines)


def test_one_key_can_be_looked_at(capsys):
    assert cli.main(["replay", FILE, "--key", KEYS[1]]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {fields["key"] for line in lines for fields in line.values()} == {KEYS[1]}


def test_the_summary_has_a_line_for_each_key(capsys):
    assert cli.main(["replay", FILE, "--summary"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["key", *KEYS]


@pytest.mark.parametrize(
    ("arguments", "status", "advice"),
    [
        (["none.jsonl"], 1, "none.jsonl: cannot be read"),
        ([FILE, "--key", "pump-3"], 1, "no record of key 'pump-3': there are pump-1, pump-2"),
        ([FILE, "--settings", "none.toml"], 2, "none.toml: cannot be read"),
        ([FILE, "-S", "learning.windows=1"], 2, "did you mean learning.window_ms?"),
    ],
)
def test_mistakes_are_reported_in_a_line(capsys, arguments, status, advice):
    assert cli.main(["replay", *arguments]) == status
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("eml replay: ")
    assert advice in err


@pytest.mark.parametrize("cut", ["0", "-1", "x"])
def test_a_cut_is_a_positive_number(capsys, cut):
    with pytest.raises(SystemExit):
        cli.main(["replay", FILE, "--cut", cut])
    assert "--cut" in capsys.readouterr().err


@pytest.mark.slow
def test_a_reader_that_has_enough_ends_it_quietly():
    program = "import sys; from eml.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "replay", FILE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603  ours
        assert process.stdout is not None
        process.stdout.close()  # nobody reads
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


# -- settings ----------------------------------------------------------------------------------------------------------


def test_settings_need_no_addresses(tmp_path):
    file = tmp_path / "eml.toml"
    file.write_text("[learning]\nwindow_records = 16\n[record]\nlabel_field = 'state'\n")
    settings = replay_settings.load(file, {"EML_LEARNING_SEED": "7"})
    assert settings.learning.window_records == 16
    assert settings.learning.seed == 7
    assert settings.record.label_field == "state"


def test_what_only_a_running_job_needs_is_not_looked_at(tmp_path):
    file = tmp_path / "eml.toml"
    file.write_text(
        "[kafka]\nreadings_topic = 'plant'\nbootstrap_servers = 'broker:9092'\n"
        "[kafka.properties]\n'sasl.jaas.config' = 'secret'\n"
        "[registry]\nca_file = '/not/here.pem'\npassword_file = '/not/here'\n"
        "[job]\nconnector_jar = '/not/here.jar'\nparallelism = 500\n"
    )
    settings = replay_settings.load(file, {})
    assert settings.kafka.readings_topic == "plant"
    assert not settings.kafka.properties
    assert settings.registry.ca_file is None


def test_the_file_may_be_named_by_the_environment(tmp_path):
    file = tmp_path / "eml.toml"
    file.write_text("[learning]\nseed = 3\n")
    assert replay_settings.load(None, {"EML_SETTINGS": str(file)}).learning.seed == 3


def test_wrong_settings_are_reported_with_their_place(tmp_path):
    file = tmp_path / "eml.toml"
    file.write_text("[learning]\nwindow_records = 0\n")
    with pytest.raises(SettingsError) as told:
        replay_settings.load(file, {})
    (problem,) = told.value.problems
    assert "eml.toml: [learning] window_records: must be positive" in problem
