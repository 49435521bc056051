"""What all commands share: how they end, which settings they take, what they print where."""

import argparse
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from eml import terminal
from eml.local.errors import LocalError
from eml.settings import SettingsError
from eml.stream.errors import RegistryRefusedError
from eml.terminal import CommandError


@pytest.fixture(autouse=True)
def _folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("EML_")]:
        monkeypatch.delenv(name)


def command(run, *arguments: str) -> int:
    """Run `eml try ARGUMENTS` with `run` behind it."""
    parser = terminal.Parser(prog="eml")
    commands = parser.add_subparsers()
    tried = commands.add_parser("try")
    terminal.add_settings(tried)
    terminal.set_run(tried, run, extra="watch")
    commands.add_parser("other")
    chosen = parser.parse_args(["try", *arguments])
    return int(chosen.run(chosen))


def raising(error):
    def run(_arguments):
        raise error

    return run


# -- ends --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (CommandError("set kafka.group_id"), 1, "set kafka.group_id"),
        (CommandError("set kafka.group_id", terminal.USAGE), 2, "set kafka.group_id"),
        (SettingsError("[kafka] start: wrong"), 2, "the settings cannot be used: [kafka] start: wrong"),
        (RegistryRefusedError("401: set registry.username"), 3, "401: set registry.username"),
        (ModuleNotFoundError("-", name="rich"), 1, "the package rich is not installed: pip install 'eml[watch]'"),
        (FileNotFoundError(2, "No such file or directory", "a.json"), 1, "a.json: No such file or directory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (KeyboardInterrupt("2 trials are kept"), 130, "interrupted; 2 trials are kept"),
        (LocalError("no stack: eml local up"), 1, "no stack: eml local up"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)  # fmt: skip
def test_an_error_is_one_line_and_its_status(error, status, message, capsys):
    assert command(raising(error)) == status
    assert capsys.readouterr() == ("", f"eml try: {message}\n")


def test_with_debug_the_traceback_comes_first(capsys):
    assert command(raising(CommandError("set it")), "--debug") == 1
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert err.endswith("\neml try: set it\n")


@pytest.mark.parametrize("fault", [ValueError("ours"), ModuleNotFoundError("no", name="eml.lost")])
def test_a_fault_of_our_own_is_not_hidden(fault):
    with pytest.raises(type(fault)):
        command(raising(fault))


def test_a_reader_that_has_enough_is_no_error():
    program = (
        "import sys; from eml import terminal; p = terminal.Parser(prog='x');"
        "terminal.set_run(p, lambda _: [print('line') for _ in range(100_000)] and 0);"
        "a = p.parse_args([]); sys.exit(a.run(a))"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert (process.stderr.read(), process.wait(30)) == (b"", 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tyr"], "there is no command 'tyr': did you mean try? (known: try, other)"),
        (["try", "--setings", "x"], "there is no option --setings: did you mean --settings?"),
        (["try", "--setings=x"], "there is no option --setings=x: did you mean --settings?"),
        (["try", "-q"], "there is no option -q"),
        (["other", "--flie", "x"], "there is no option --flie: did you mean --file?"),
    ],
)
def test_a_typo_is_answered_by_the_nearest_name(arguments, said, capsys):
    parser = terminal.Parser(prog="eml")
    commands = parser.add_subparsers()
    terminal.add_settings(commands.add_parser("try"))
    commands.add_parser("other").add_argument("--file", required=True)  # which argparse would miss first
    with pytest.raises(SystemExit) as stop:
        parser.parse_args(arguments)
    assert stop.value.code == terminal.USAGE
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_nothing_heavy_is_imported():
    heavy = "numpy|scipy|requests|kafka|rich|tomllib"
    program = (
        f"import sys, eml.terminal; print([m for m in sys.modules if m.partition('.')[0] in '{heavy}'.split('|')])"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert said.stdout == "[]\n"


# -- settings ----------------------------------------------------------------------------------------------------------

ADDRESSES = ["-S", "kafka.bootstrap_servers=there:9092", "-S", "registry.url=http://there:8081"]


def group(*arguments: str) -> str:
    """The group_id of the settings that a command with these arguments would take."""
    found = []

    def run(chosen: argparse.Namespace) -> int:
        found.append(terminal.load_settings(chosen).kafka.group_id)
        return 0

    assert command(run, *ADDRESSES, *arguments) == 0
    return found[0]


def test_the_named_file_wins_over_the_variable_over_the_folder_s(monkeypatch):
    assert group() == "eml"
    Path("eml.toml").write_text('[kafka]\ngroup_id = "folder"\n')
    assert group() == "folder"
    Path("variable.toml").write_text('[kafka]\ngroup_id = "variable"\n')
    monkeypatch.setenv("EML_SETTINGS", "variable.toml")
    assert group() == "variable"
    Path("named.toml").write_text('[kafka]\ngroup_id = "named"\n')
    assert group("--settings", "named.toml") == "named"
    assert group("--settings", "named.toml", "--set", "kafka.group_id=set") == "set"


def test_a_setting_without_its_section_is_refused(capsys):
    def run(chosen: argparse.Namespace) -> int:
        return len(terminal.load_settings(chosen).kafka.group_id)

    assert command(run, "-S", "group_id=x") == terminal.USAGE
    assert "-S wants SECTION.KEY=VALUE, as kafka.start=latest, not 'group_id=x'" in capsys.readouterr().err


# -- what is printed ---------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_that_want_them(monkeypatch, capsys):
    assert terminal.paint("well", "ok") == "well"
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.paint("well", "ok") == "\033[32mwell\033[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal.paint("well", "ok") == "well"
    capsys.readouterr()


@pytest.mark.parametrize(("quiet_s", "said"), [(60.0, "\r\033[K"), (0.0, "asking ...\r\033[K")])
def test_a_long_wait_is_reported_on_a_terminal(quiet_s, said, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(terminal, "QUIET_S", quiet_s)
    with terminal.progress("asking"):
        threading.Event().wait(0.2)
    assert stream.getvalue() == said


def test_a_pipe_hears_of_no_progress(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "QUIET_S", 0.0)
    with terminal.progress("asking"):
        threading.Event().wait(0.05)
    assert capsys.readouterr() == ("", "")


def test_json_is_for_programs(capsys):
    value = {"label": "müde", "count": 1}
    terminal.write_json(value)
    terminal.write_json(value, line=True)
    out = capsys.readouterr().out
    assert out.endswith('}\n{"label": "müde", "count": 1}\n')
    assert json.loads(out[: out.index("}") + 1]) == value
