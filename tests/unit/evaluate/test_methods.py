"""The registry: the names of the catalogue, each with the settings its name says."""

from dataclasses import fields

import numpy as np
import pytest

from eml.core import FeatureSpace, LearnerConfig
from eml.evaluate.ablations import config_without
from eml.evaluate.catalogue import ABLATIONS, DEFAULT_METHODS, METHODS
from eml.evaluate.errors import EvaluationError
from eml.evaluate.methods import REGISTRY, settings

SWITCHES = {field.name for field in fields(LearnerConfig)}
AT_HAND = [name for name in METHODS if ABLATIONS.get(name, "transform") in SWITCHES]


def test_the_registry_holds_the_names_one_can_type():
    assert tuple(REGISTRY) == METHODS
    assert set(DEFAULT_METHODS) <= set(METHODS)


def test_every_method_has_the_same_memory():
    assert {settings(name, 77)["memory_size"] for name in AT_HAND} == {77}


@pytest.mark.parametrize(("name", "part"), [pair for pair in ABLATIONS.items() if pair[0] in AT_HAND])
def test_an_ablation_turns_off_its_part_and_nothing_else(name, part):
    assert settings(name, 64) == {**settings("eml", 64), part: False}


def test_a_part_that_this_learner_does_not_have_cannot_be_left_out():
    with pytest.raises(EvaluationError, match="no part 'magic'"):
        config_without("magic", 64)


def test_a_cold_restart_remembers_nothing_of_the_time_before():
    old, new = FeatureSpace(("a", "b")), FeatureSpace(("b", "c"))
    rows = np.random.default_rng(0).normal(size=(20, 2))
    restart, fresh = REGISTRY["restart"](old, 3, 64), REGISTRY["eml"](new, 3, 64)
    restart.learn(rows, ["x", "y"] * 10)
    restart.announce(new)
    restart.evolve(new)
    assert restart.predict(rows) == [None] * 20
    for method in (restart, fresh):
        method.learn(rows, ["u", "v"] * 10)
    assert restart.predict(rows) == fresh.predict(rows)
