"""`eml demo` without a stack: its options, and how it ends. With one: tests/integration/test_demo.py."""

from types import SimpleNamespace

import pytest

from eml.cli import main
from eml.local import demo
from eml.local.topics import Topics
from eml.settings import describe, load


@pytest.fixture(autouse=True)
def threads(monkeypatch):
    """The command sets it for its own process."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def test_the_jobs_settings_can_be_loaded(tmp_path):
    stack = SimpleNamespace(bootstrap_servers="127.0.0.1:9092", registry_url="http://127.0.0.1:8081/api")
    wanted = demo.job_settings(stack, Topics.named("demo-1-"), tmp_path)  # type: ignore[arg-type]
    file = tmp_path / "eml.toml"
    file.write_text(describe(wanted), encoding="utf-8")
    assert load(file, environ={}) == wanted


@pytest.mark.parametrize("arguments", [["--machines", "0"], ["--records", "-5"], ["--records", "many"]])
def test_numbers_out_of_range_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(["demo", *arguments])
    assert left.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_a_picture_that_cannot_be_written_is_reported_before_anything_starts(tmp_path, capsys):
    assert main(["demo", "--picture", str(tmp_path / "missing" / "picture.png")]) == 1
    assert "missing" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_is_status_130_and_an_address_without_broker_is_an_error(monkeypatch, capsys):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    assert main(["demo", "--broker", "127.0.0.1:1", "--registry", "http://127.0.0.1:1"]) == 3
    assert "No Kafka broker answers at 127.0.0.1:1" in capsys.readouterr().err
    monkeypatch.setattr(demo, "run", interrupted)
    assert main(["demo"]) == 130
