"""`eml watch` on the command line: what is wrong is told in a line, before anything is read."""

import sys

import pytest

from eml import cli
from eml.watch import command

UNREACHABLE = ["-S", "kafka.bootstrap_servers=127.0.0.1:9", "-S", "registry.url=http://127.0.0.1:9"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--since", "yesterday"], "a time is a number and s, m, h or d"),
        (["--port", "80x"], "a port is a number"),
        (["--port", "70000"], "a port is a number up to 65535"),
        (["-S", "kafka"], "SECTION.KEY=VALUE"),
    ],
)
def test_a_wrong_option_is_reported(arguments, told, capsys):
    try:
        status = cli.main(["watch", *arguments])
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status == 2
    assert told in capsys.readouterr().err


def test_the_extra_that_is_missing_is_named(monkeypatch, capsys):
    for name in ("dash", "eml.watch.page", "eml.watch.application"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "eml.watch.page")
    monkeypatch.delitem(sys.modules, "eml.watch.application")
    for name in [name for name in sys.modules if name.startswith("eml.watch.") and name != "eml.watch.command"]:
        monkeypatch.delitem(sys.modules, name)
    assert cli.main(["watch", *UNREACHABLE]) == 1
    assert "pip install 'eml[watch]'" in capsys.readouterr().err


def test_a_page_for_others_wants_a_token(capsys):
    assert cli.main(["watch", *UNREACHABLE, "--host", "0.0.0.0"]) == 1  # noqa: S104  it is refused
    assert "--token" in capsys.readouterr().err


@pytest.mark.slow
def test_a_broker_that_is_not_there_is_reported_and_nothing_is_saved(tmp_path, capsys):
    file = tmp_path / "fleet.html"
    assert cli.main(["watch", *UNREACHABLE, "--save", str(file)]) == 3
    assert "look at kafka.bootstrap_servers" in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.parametrize(
    ("text", "seconds"), [("all", None), ("90s", 90), ("30m", 1_800), ("6h", 21_600), ("7d", 604_800)]
)
def test_how_far_to_read_back(text, seconds):
    assert command._seconds(text) == seconds


def test_lines_on_the_page_name_the_settings_but_no_secret(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EML_SETTINGS", raising=False)
    given = ["-S", "kafka.start=latest", "-S", "registry.password=hunter2", "-S", "kafka.properties.sasl=x"]
    parsed = cli.build_parser().parse_args(["watch", "--settings", "my fleet.toml", *given])
    assert command._options(parsed) == "'--settings=my fleet.toml' --set=kafka.start=latest"
    assert command._options(cli.build_parser().parse_args(["watch"])) == ""
