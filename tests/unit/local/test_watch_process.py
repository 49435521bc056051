"""The live page beside the demonstration, without a stack. With one: tests/integration/test_demo.py."""

import pytest

from eml.cli import build_parser
from eml.local import watch_process
from eml.local.watch_process import WatchProcess


def test_it_runs_the_command_with_the_jobs_settings_and_no_others(tmp_path, monkeypatch):
    monkeypatch.setenv("EML_KAFKA_BOOTSTRAP_SERVERS", "elsewhere:9092")
    watch = WatchProcess(tmp_path / "eml.toml", tmp_path)
    command = watch.command()
    assert command[:3] == ["/usr/bin/env", "-u", "EML_KAFKA_BOOTSTRAP_SERVERS"]
    parsed = build_parser().parse_args(command[command.index("watch") :])
    assert (parsed.settings, parsed.port, parsed.since, parsed.host) == (
        tmp_path / "eml.toml",
        watch.port,
        None,
        "127.0.0.1",
    )
    assert watch.url == f"http://127.0.0.1:{watch.port}/"


def test_it_is_not_healthy_where_nobody_answers(tmp_path):
    assert not WatchProcess(tmp_path / "eml.toml", tmp_path).healthy()


@pytest.mark.parametrize(("needed", "installed"), [(("json", "dash"), True), (("json", "no_such_package"), False)])
def test_it_is_left_out_where_its_packages_are_missing(monkeypatch, needed, installed):
    monkeypatch.setattr(watch_process, "NEEDED", needed)
    assert WatchProcess.installed() is installed
