"""Other people's learners, run in an environment of their own: their side, `python -m eml.evaluate.prequential.peer`.

Started by `peers` with a name, a seed, a memory, the stream's file and the answers'. The loop is ours (`play`), so a
peer is handed a label only after its prediction. A library is imported by the module that its models are in, and by
no other: one that is absent hurts nobody else.
"""

import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import cast

from eml.core import FeatureSpace
from eml.evaluate.prequential import parcel
from eml.evaluate.prequential.play import StreamMethod, play

Factory = Callable[[FeatureSpace, int, int], StreamMethod]  # first space, seed, memory in exemplars

_HERE = "eml.evaluate.prequential"
FACTORIES: Mapping[str, tuple[str, str]] = MappingProxyType(  # name -> module and function
    {
        "river-lr": (f"{_HERE}.river_models", "logistic_regression"),
        "river-lr-restart": (f"{_HERE}.river_models", "restarted_regression"),
        "river-lr-two-classes": (f"{_HERE}.river_models", "two_class_regression"),  # of the haphazard benchmark
        "river-knn": (f"{_HERE}.river_models", "nearest_neighbours"),
        "river-arf": (f"{_HERE}.river_models", "adaptive_forest"),
        "openmoa-ftrl": (f"{_HERE}.openmoa_models", "ftrl"),
        "openmoa-fesl": (f"{_HERE}.openmoa_models", "fesl"),
        "openmoa-ovfm": (f"{_HERE}.openmoa_models", "ovfm"),
        "haphazard-olvf": (f"{_HERE}.haphazard_models", "olvf"),
        "metric-learn-nca": (f"{_HERE}.metric_learn_models", "nca"),
    }
)
PACKAGES: Mapping[str, tuple[str, ...]] = MappingProxyType(  # module -> what its figures depend on there
    {
        f"{_HERE}.river_models": ("numpy", "river"),
        f"{_HERE}.openmoa_models": ("numpy", "scipy", "openmoa"),
        f"{_HERE}.haphazard_models": ("numpy", "haphazard"),
        f"{_HERE}.metric_learn_models": ("numpy", "scipy", "scikit-learn", "metric-learn"),
    }
)
LOOK_AGAIN_S = 1.0  # how soon a peer notices that nobody waits for it


def factory(name: str) -> Factory:
    """Return what makes the peer `name`."""
    module, function = FACTORIES[name]
    return cast("Factory", getattr(importlib.import_module(module), function))


def packages(name: str) -> tuple[str, ...]:
    """Return the packages that the figures of the peer `name` depend on."""
    return PACKAGES[FACTORIES[name][0]]


def main(arguments: Sequence[str]) -> None:
    """Play the stream of one file and write the answers to another."""
    name, seed, memory, stream, told = arguments
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    course = parcel.read_course(Path(stream))
    method = factory(name)(course.stages[0].space, int(seed), int(memory))
    start = time.process_time()
    answers = play(course, method)
    parcel.write_answers(Path(told), answers, time.process_time() - start)


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_AGAIN_S)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
