"""The settings: bounded, and refused where they make no sense."""

from dataclasses import fields, replace
from typing import Any

import pytest

from eml.core import FeatureError, LearnerConfig
from eml.core.config import MAY_BE_ZERO
from tests.unit.core.helpers import SMALL

COUNTS = [field.name for field in fields(LearnerConfig) if field.type in {int, "int"}]


def with_count(name: str, value: int) -> LearnerConfig:
    settings: dict[str, Any] = {name: value}
    return replace(SMALL, **settings)


@pytest.mark.parametrize("name", COUNTS)
def test_a_count_that_makes_no_sense_is_refused_by_name(name):
    with pytest.raises(FeatureError, match=f"{name} must be positive, not -1"):
        with_count(name, -1)
    if name in MAY_BE_ZERO:
        assert getattr(with_count(name, 0), name) == 0
    else:
        with pytest.raises(FeatureError, match=name):
            with_count(name, 0)


def test_what_may_be_zero_is_a_setting():
    assert set(COUNTS) > MAY_BE_ZERO


def test_a_memory_too_small_for_its_neighbours_is_refused_with_the_least_size():
    with pytest.raises(FeatureError, match="at least 14"):
        LearnerConfig(memory_size=13, neighbours=7)
    assert LearnerConfig(memory_size=14, neighbours=7).memory_size == 14


def test_the_objective_has_the_weights_of_the_settings():
    config = LearnerConfig(sigma=0.2, margin=0.4, rho=0.5, lam=0.6, signature=3, wasserstein=False, low_rank=False)
    objective = config.objective
    for field in fields(objective):
        assert getattr(objective, field.name) == getattr(config, field.name)
