"""The command line: what it prints, how it hands over to a subcommand, and the manners that all commands share."""

import argparse
import os
import re
import shlex
import subprocess
import sys
import time

import pytest

import eml
from eml import cli, terminal

EVALUATE = "eml evaluate"  # its scenarios' examples stand together in its own help


def commands() -> list[argparse.ArgumentParser]:
    """The parsers of what can be run."""
    return [each for each in cli.parsers(cli.build_parser()) if each.get_default("run") and not each._subparsers]


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


def test_an_unknown_command_is_refused_in_one_line_with_the_nearest_name(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["evalute"])
    assert stop.value.code == 2
    err = capsys.readouterr().err
    assert "there is no command 'evalute': did you mean evaluate?" in err
    assert err.count("\n") == 1


def test_a_command_in_the_table_is_listed_and_run(monkeypatch, capsys):
    def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
        parser = subparsers.add_parser("count", help="return a number")
        parser.add_argument("number", type=int)
        parser.set_defaults(run=lambda arguments: arguments.number)

    monkeypatch.setattr(cli, "COMMANDS", (add_parser,))
    assert cli.main(["count", "7"]) == 7
    assert cli.main([]) == 2
    assert "return a number" in capsys.readouterr().err


# -- manners -----------------------------------------------------------------------------------------------------------


def example_lines(parser: argparse.ArgumentParser) -> list[list[str]]:
    """The words of the commands of ours in a help's examples, without what a pipe or the shell does with them."""
    lines = (parser.epilog or "").partition("examples:\n")[2].splitlines()
    found = (re.search(r"(?<![\w/])eml [^|)#]*", line) for line in lines)
    return [shlex.split(match[0]) for match in found if match]


@pytest.mark.parametrize("parser", commands(), ids=lambda parser: parser.prog)
def test_every_command_has_a_debug_option_and_examples_that_can_be_typed(parser):
    assert "--debug" in parser._option_string_actions
    examples = example_lines(parser)
    if not parser.prog.startswith(EVALUATE):
        assert any(example[: len(parser.prog.split())] == parser.prog.split() for example in examples)
    for example in examples:
        cli.build_parser().parse_args(example[1:])


def test_the_help_tells_every_exit_status(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    out = capsys.readouterr().out
    assert all(f"  {number:<5} {meaning}" in out for number, meaning in terminal.STATUSES.items())


@pytest.mark.parametrize("arguments", [["--help"], ["topics", "--help"], ["evaluat"], ["local", "stauts"]])
def test_help_and_typos_need_no_half_second(arguments):
    program = (
        "import sys, time; begun = time.process_time(); from eml.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "assert time.process_time() - begun < 0.5, 'quick'; assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True)  # noqa: S603


def test_wrong_settings_are_told_in_two_seconds(tmp_path):
    environ = {name: value for name, value in os.environ.items() if not name.startswith("EML_")}
    program = (
        "import sys, time; from eml.cli import main; status = main(sys.argv[1:])\n"
        "assert time.process_time() < 2; sys.exit(status)"
    )
    command = [sys.executable, "-c", program, "tail", "predictions", "-S", "kafka.bootstrap_servrs=x:1"]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 2
    assert "did you mean kafka.bootstrap_servers?" in done.stderr


# -- completion --------------------------------------------------------------------------------------------------------


def completed(words: str) -> set[str]:
    """What bash offers behind these words."""
    script = f"""
eval "$("$PYTHON" -c 'import sys; from eml.cli import main; sys.exit(main(["completion", "bash"]))')"
COMP_WORDS=({words} ""); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_shtab_eml
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    environ = os.environ | {"PYTHON": sys.executable}
    done = subprocess.run(["bash", "-c", script], env=environ, capture_output=True, text=True, check=True)  # noqa: S603, S607
    return set(done.stdout.split())


def test_bash_completes_commands_and_choices():
    assert {"local", "doctor", "init", "status", "tail", "watch"} <= completed("eml")
    assert {"up", "down", "status"} <= completed("eml local")
    assert {"predictions", "evolutions", "dead-letters", "scores"} <= completed("eml tail")


def test_zsh_has_a_script_too(capsys):
    assert cli.main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out.startswith("#compdef eml")


# -- a broker that does not answer -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    ["tail predictions", "topics list", "topics create", "capture out.jsonl", "dead-letters list", "init --topic x"],
)
def test_a_wrong_broker_is_one_line_and_status_3_soon(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("EML_")]:
        monkeypatch.delenv(name)
    begun = time.monotonic()
    addresses = ("-S", "kafka.bootstrap_servers=127.0.0.1:9", "-S", "registry.url=http://127.0.0.1:9")
    assert cli.main([*command.split(), *addresses]) == terminal.UNREACHABLE
    assert time.monotonic() - begun < 8, "two seconds on a machine that has nothing else to do"
    err = capsys.readouterr().err
    assert err.startswith(f"eml {command.split()[0]}")
    assert "correct kafka.bootstrap_servers" in err
    assert err.count("\n") == 1
