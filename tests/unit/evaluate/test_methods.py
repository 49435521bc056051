"""The registry: the names of the catalogue, each with the settings its name says."""

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.evaluate.ablations import config_without
from eml.evaluate.catalogue import ABLATIONS, DEFAULT_METHODS, METHODS
from eml.evaluate.errors import EvaluationError
from eml.evaluate.methods import REGISTRY, settings


def test_the_registry_holds_the_names_one_can_type():
    assert tuple(REGISTRY) == METHODS
    assert set(DEFAULT_METHODS) <= set(METHODS)


def test_every_method_has_the_same_memory():
    assert {settings(name, 77)["memory_size"] for name in METHODS} == {77}


@pytest.mark.parametrize(("name", "part"), ABLATIONS.items())
def test_an_ablation_turns_its_switch_and_nothing_else(name, part):
    usual = settings("eml", 64)
    assert settings(name, 64) == {**usual, part: not usual[part]}


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
