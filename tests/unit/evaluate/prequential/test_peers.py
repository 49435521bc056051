"""Our side of the peers: the files between, where their Python is looked for, and what is said when it fails."""

import sys
from pathlib import Path

import numpy as np
import pytest

from eml.evaluate.catalogue import PEERS
from eml.evaluate.errors import EvaluationError
from eml.evaluate.haphazard import methods as haphazard
from eml.evaluate.prequential import parcel, peer, peers


def test_the_table_of_factories_has_every_peer():
    assert set(peer.FACTORIES) == {*PEERS, *haphazard.PEERS.values()}


def test_a_course_goes_through_its_file_unchanged(make_course, tmp_path):
    course = make_course(switches=2, labelled=0.5)
    parcel.write_course(tmp_path / "stream.npz", course)
    back = parcel.read_course(tmp_path / "stream.npz")
    for stage, again in zip(course.stages, back.stages, strict=True):
        assert (stage.space, stage.announced) == (again.space, again.announced)
        for name in ("X", "y", "labelled"):
            np.testing.assert_array_equal(getattr(stage, name), getattr(again, name))


def test_answers_go_through_their_file_unchanged(tmp_path):
    given = [np.array([0, -1, 2]), np.array([1])]
    parcel.write_answers(tmp_path / "answers.npz", given, 1.5)
    answers, seconds = parcel.read_answers(tmp_path / "answers.npz")
    assert [part.tolist() for part in answers] == [[0, -1, 2], [1]]
    assert seconds == 1.5


def test_an_absent_environment_is_reported_with_how_to_make_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(peers.VARIABLE, raising=False)
    with pytest.raises(EvaluationError, match=r"no \.venv-peers/bin/python in this folder.*make \.venv-peers/\.ready"):
        peers.python()
    monkeypatch.setenv(peers.VARIABLE, "/absent/python")
    with pytest.raises(EvaluationError, match="EML_PEERS_PYTHON is /absent/python"):
        peers.python()


def test_the_variable_comes_before_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    python = tmp_path / peers.DEFAULT_PYTHON
    python.parent.mkdir(parents=True)
    python.touch()
    monkeypatch.delenv(peers.VARIABLE, raising=False)
    assert peers.python() == python
    monkeypatch.setenv(peers.VARIABLE, sys.executable)
    assert peers.python() == Path(sys.executable)


@pytest.mark.slow
def test_a_peer_that_fails_is_reported_with_its_last_words(make_course, monkeypatch):
    monkeypatch.setenv(peers.VARIABLE, sys.executable)
    with pytest.raises(EvaluationError, match=r"(?s)the peer nobody failed.*KeyError: 'nobody'"):
        peers.answers(make_course(), "nobody", 0, 64)
