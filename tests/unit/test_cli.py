"""The command line: what it prints and how it hands over to a subcommand."""

import argparse

import pytest

import eml
from eml import cli


def test_version_is_the_package_s(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"eml {eml.__version__}\n"


def test_without_a_command_the_help_goes_to_stderr(capsys):
    assert cli.main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: eml")


def test_an_unknown_command_is_refused_by_name(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["no-such-command"])
    assert stop.value.code == 2
    assert "no-such-command" in capsys.readouterr().err


def test_a_command_in_the_table_is_listed_and_run(monkeypatch, capsys):
    def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
        parser = subparsers.add_parser("count", help="return a number")
        parser.add_argument("number", type=int)
        parser.set_defaults(run=lambda arguments: arguments.number)

    monkeypatch.setattr(cli, "COMMANDS", (add_parser,))
    assert cli.main(["count", "7"]) == 7
    assert cli.main([]) == 2
    assert "return a number" in capsys.readouterr().err
