"""Compiles the predictor and imports what the learner needs in Flink's Python worker, before its first record.

Called by the operator when it opens. It knows one thing that `core` should not: what PyFlink does to `print`.
"""

import logging
import sys
import time

from eml.core import predictor
from eml.core.later import import_now

log = logging.getLogger(__name__)

WORTH_TELLING_S = 2.0


def compile_predictor() -> None:
    """Compile the predictor, or read from the disk what was compiled before; import what the learner needs."""
    make_print_reachable()
    import_now("ot")
    begun = time.monotonic()
    if predictor.warm_up() and (took := time.monotonic() - begun) > WORTH_TELLING_S:
        log.info("compiled the predictor in %.0f s; later starts read it from the disk", took)


def make_print_reachable() -> None:
    """Give the module that `print` says it is from an attribute of that name.

    PyFlink's worker replaces `print` by a method that its module has no global name for. Numba asks each builtin
    that it knows for its module and looks it up there, and its import fails otherwise.
    """
    module = sys.modules[print.__module__]
    if not hasattr(module, "print"):
        setattr(module, "print", print)  # noqa: B010  mypy does not know the attribute
