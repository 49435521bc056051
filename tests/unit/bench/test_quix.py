"""The Quix Streams peer without Quix Streams: its models over a state like Quix's, and which Python it is run by."""

import io
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from eml.bench import beforehand, quix_python
from eml.bench.comparison import COPY, JOB, QUIX, Options
from eml.bench.load import Load
from eml.bench.quix_models import MODEL, Models
from eml.bench.running import run
from eml.core import EvolvingMetricLearner
from eml.evaluate.prequential.peers import VARIABLE
from eml.local.errors import ToolMissingError
from eml.settings import RecordSettings, Settings
from eml.stream.avro.reading_schema import compile_schema
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.records import NO_HEADERS, Position, Raw
from eml.stream.wire import HEADER_SIZE, SchemaId

LOAD = Load(keys=3, records=600, labelled=0.4, nulls=0.05)
SCHEMA = compile_schema(LOAD.schema, SchemaId(7), "readings-value", 1, RecordSettings())
SENT = list(LOAD.readings(SCHEMA.id))
STEP_MS = 100  # between two records: some windows are full, others are closed by their time


class State(dict[str, Any]):
    """A key's state in memory."""

    def set(self, key: str, value: Any) -> None:
        self[key] = value

    def get_bytes(self, key: str) -> bytes | None:
        return self.get(key)

    def set_bytes(self, key: str, value: bytes) -> None:
        self[key] = value


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> Settings:
    made = tmp_path_factory.mktemp("quix") / "first-model.emls"
    made.write_bytes(beforehand.snapshot(LOAD, 64))
    settings = Settings()
    learning = replace(settings.learning, first_model=str(made), window_records=8, window_ms=2_000)
    return replace(settings, learning=learning)


def serve(models, states, rows):
    """What the models say of these rows of what was sent."""
    said = []
    for row in rows:
        key, value = SENT[row]
        decoded = SCHEMA.decode([value], HEADER_SIZE)
        answer = models.serve(key, SCHEMA, decoded.values[0], decoded.labels[0], row * STEP_MS, states[key])
        said.append((answer.prediction.label, answer.prediction.scores, answer.prediction.novelty, answer.revision))
    return said


@pytest.fixture(scope="module")
def unbroken(settings):
    return serve(Models(settings), defaultdict(State), range(len(SENT)))


def test_it_says_and_learns_what_the_job_does(settings, unbroken):
    for number in range(LOAD.keys):
        rows = range(number, len(SENT), LOAD.keys)
        raws = [Raw(SENT[row][1], Position("readings", 0, row, row * STEP_MS), NO_HEADERS) for row in rows]
        job = KeyModel(KeyName(f"device-{number}"), settings).step(raws, lambda _: SCHEMA).predictions
        expected = [(one.label, one.scores, one.novelty, one.model_revision) for one in job]
        assert [unbroken[row] for row in rows] == expected
    assert unbroken[-1][-1] > unbroken[0][-1] + 5, "too few windows to tell anything"


@pytest.mark.parametrize("stop", [100, 333])
def test_a_restart_goes_on_from_the_state(settings, unbroken, stop):
    states: defaultdict[bytes, State] = defaultdict(State)
    before = serve(Models(settings), states, range(stop))
    after = serve(Models(settings), states, range(stop, len(SENT)))
    assert before + after == unbroken


def test_a_model_that_was_forgotten_goes_on_from_the_state(settings, unbroken):
    small = Models(replace(settings, limits=replace(settings.limits, cached_bytes=1)))
    assert serve(small, defaultdict(State), range(len(SENT))) == unbroken
    assert len(small._live) == 1


def test_a_model_that_another_process_taught_meanwhile_is_read_again(settings, unbroken):
    states: defaultdict[bytes, State] = defaultdict(State)
    one, other = Models(settings), Models(settings)
    said = serve(one, states, range(200)) + serve(other, states, range(200, 400))
    assert said + serve(one, states, range(400, len(SENT))) == unbroken


def test_only_what_changed_is_written(settings):
    state = State()
    models, values = Models(settings), LOAD.draw(np.random.default_rng(1), 9)[0]
    for number in range(9):
        models.serve(b"a", SCHEMA, values[number], None if number == 0 else "state-0", 0, state)
        assert (MODEL in state) == (number == 8)
        assert bool(state) == (number > 0)
    learner = EvolvingMetricLearner.restore(state[MODEL])
    assert learner.revision == models._first.revision + 1


# -- which Python ------------------------------------------------------------------------------------------------------


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(quix_python, "find_spec", lambda _: None)
    return tmp_path


@pytest.mark.usefixtures("nowhere")
def test_without_quix_streams_nothing_is_started_and_what_to_run_is_said():
    options = Options(10, (1,), 0.05, 1, 1, "exactly-once", 1000, (200,), peers=(QUIX,))
    with pytest.raises(ToolMissingError, match=r"needs Quix Streams.*no \.venv-peers.*`make \.venv-peers/\.ready`"):
        run(options, console=Console(file=io.StringIO()))


def test_a_python_without_it_is_named(nowhere, monkeypatch):
    monkeypatch.setenv(VARIABLE, "/absent/python")
    with pytest.raises(ToolMissingError, match="EML_PEERS_PYTHON is /absent/python"):
        quix_python.quix_python()
    without = nowhere / "python"
    without.write_text("#!/bin/sh\nexit 1\n")
    without.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(without))
    with pytest.raises(ToolMissingError, match=rf"{without} has no quixstreams.*eml\[quix\]"):
        quix_python.quix_python()


def test_the_variable_comes_first_then_this_python_then_the_folder(nowhere, monkeypatch):
    with_it = nowhere / ".venv-peers" / "bin" / "python"
    with_it.parent.mkdir(parents=True)
    with_it.write_text("#!/bin/sh\nexit 0\n")
    with_it.chmod(0o755)
    assert quix_python.quix_python() == with_it
    monkeypatch.setattr(quix_python, "find_spec", lambda _: object())
    assert quix_python.quix_python() == Path(sys.executable)
    monkeypatch.setenv(VARIABLE, str(with_it))
    assert quix_python.quix_python() == with_it


def test_it_takes_part_only_where_it_is_asked_for():
    options = Options(10, (1,), 0.05, 1, 1, "exactly-once", 1000, (200,))
    assert QUIX not in [rival.kind for rival in options.rivals()]
    asked = replace(options, peers=(COPY, QUIX))
    assert [rival.kind for rival in asked.rivals()] == [COPY, QUIX, JOB]
