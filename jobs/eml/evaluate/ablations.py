"""The learner's settings with one of its switches the other way round: most often a part turned off.

Called by the registries of methods; the names one can type, and the switch each stands for, are in `catalogue`.
"""

from dataclasses import fields, replace
from typing import Any

from eml.core import LearnerConfig
from eml.evaluate.errors import EvaluationError


def config_without(part: str | None, memory: int) -> LearnerConfig:
    """Return the defaults with a memory of `memory` exemplars and the switch `part` turned; None: the whole learner."""
    if part is not None and part not in {field.name for field in fields(LearnerConfig)}:
        raise EvaluationError(f"this learner has no part {part!r} that could be left out")
    usual = LearnerConfig()
    switches: dict[str, Any] = {} if part is None else {part: not getattr(usual, part)}
    return replace(usual, memory_size=memory, **switches)
