"""A model made beforehand: every new key of its features begins with a copy of its own."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eml.core import EvolvingMetricLearner, FeatureSpace, bitpacking
from eml.core.arrays import Array32
from eml.settings import LearningSettings, Settings
from eml.stream.keys import KeyName
from eml.stream.models import state_codec
from eml.stream.models.first_model import first_model
from eml.stream.models.key_model import KeyModel
from tests.unit.stream.models.test_key_model import SCHEMAS, SETTINGS, look_up, records

SPACE = SCHEMAS[10].space
really = bitpacking.pack


@pytest.fixture(autouse=True)
def _read_anew():
    first_model.cache_clear()


def learner(space: FeatureSpace = SPACE) -> EvolvingMetricLearner:
    """One that has learnt two classes."""
    random = np.random.default_rng(0)
    y = random.integers(2, size=200)
    made = EvolvingMetricLearner(space)
    made.learn(random.normal(size=(200, len(space))) + 5.0 * y[:, None], [f"class-{c}" for c in y])
    return made


def settings(file: Path, made: EvolvingMetricLearner) -> Settings:
    file.write_bytes(made.snapshot())
    return replace(SETTINGS, learning=LearningSettings(first_model=str(file)))


def test_a_new_key_answers_from_its_first_reading(tmp_path):
    made = learner()
    new = KeyModel(KeyName("new"), settings(tmp_path / "first", made))
    (said,) = new.step(records([1]), look_up).predictions
    assert said.label in made.classes
    assert said.model_revision == made.revision


def test_every_key_has_a_copy_of_its_own(tmp_path):
    made = learner()
    chosen = settings(tmp_path / "first", made)
    one, other = KeyModel(KeyName("one"), chosen), KeyModel(KeyName("other"), chosen)
    other.step(records([1]), look_up)
    one.step(records([1] * 200, labelled=1.0), look_up)
    heads = [key.state.models.current.learner for key in (one, other) if key.state.models is not None]
    assert heads[0].revision > made.revision
    assert heads[1].snapshot() == made.snapshot()


def test_new_keys_are_cheap_until_they_learn_also_when_they_are_read_again(tmp_path, monkeypatch):
    chosen, packed = settings(tmp_path / "first", learner()), list[int]()

    def pack(X: Array32) -> bytes:
        packed.append(len(X))
        return really(X)

    monkeypatch.setattr(bitpacking, "pack", pack)
    parts, nbytes = [], []
    for number in range(20):
        new = KeyModel(KeyName(f"new-{number}"), chosen)
        new.step(records([1]), look_up)
        parts.append(state_codec.take_all(new))
        nbytes.append(state_codec.load(new.key, chosen, parts[-1]).nbytes)
    assert len(packed) == 1, "one packing for all"
    assert max(nbytes) < 20_000, "they share what they are"
    (one,) = {part.model for part in parts}
    taught = state_codec.load(KeyName("new"), chosen, parts[0])
    taught.step(records([1] * 60, labelled=1.0), look_up)
    assert taught.nbytes > 32_000
    assert state_codec.take_all(taught).model != one


def test_a_key_with_a_first_model_is_the_same_after_a_restart(tmp_path):
    chosen, raws = settings(tmp_path / "first", learner()), records([1] * 120, labelled=0.5)
    whole, cut = KeyModel(KeyName("key"), chosen), KeyModel(KeyName("key"), chosen)
    expected = whole.step(raws, look_up).predictions
    said = cut.step(raws[:50], look_up).predictions
    cut = state_codec.load(KeyName("key"), chosen, state_codec.take_all(cut))
    said += cut.step(raws[50:], look_up).predictions
    assert [(one.label, one.scores) for one in said] == [(one.label, one.scores) for one in expected]


def test_features_in_another_order_are_the_same_features(tmp_path):
    turned = FeatureSpace(tuple(reversed(SPACE.names)))
    new = KeyModel(KeyName("new"), settings(tmp_path / "first", learner(turned)))
    assert new.step(records([1]), look_up).predictions[0].label is not None
    assert new.state.models is not None
    assert new.state.models.current.space == SPACE


def test_other_features_begin_without_it_and_the_log_says_so_once(tmp_path, caplog):
    chosen = settings(tmp_path / "first", learner(FeatureSpace(("a", "b"))))
    with caplog.at_level(logging.WARNING):
        for key in ("one", "two"):
            assert KeyModel(KeyName(key), chosen).step(records([1]), look_up).predictions[0].label is None
    assert len(caplog.messages) == 1
    assert "other features" in caplog.messages[0]


def test_a_worker_that_cannot_read_the_file_says_so_once(tmp_path, caplog):
    chosen = replace(SETTINGS, learning=LearningSettings(first_model=str(tmp_path / "missing")))
    for key in ("one", "two"):
        assert KeyModel(KeyName(key), chosen).step(records([1]), look_up).predictions[0].label is None
    assert len(caplog.messages) == 1
    assert "cannot be read here" in caplog.messages[0]
