"""A learner of the package `haphazard` in the stream; no restart at a switch.

Made by `peer`, in the peers' environment: the only module of the harness that uses haphazard, and of it only the file
with the algorithm, by its place. The package itself loads all of its models on import and with them torch: gigabytes
that this one has no use for.

Its OCDS is not here. In 1.2.8 it answers Gas by chance; and driven by hand on two classes that a line parts, it is
right in half of the cases over 96 settings and scales (median; the best: 72 %). By its source, nearly every weight of
its graph is multiplied by 1000 or divided by it at each record.
"""

import runpy
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

from eml.core import FeatureSpace
from eml.evaluate.datasets import Floats
from eml.evaluate.prequential.padded import OneVsRest

# haphazard has no defaults. Of the values its source lists, C = 1 is the best or level with it on DSADS and Gas, and
# B = 1 keeps every feature; C_bar and reg change nothing, for its feature weights begin at 0 and stay there.
SETTINGS = {"C": 1, "C_bar": 0.0001, "B": 1, "reg": 0.0001}


class OlvfLearner:
    """Online learning from varying features, of two classes.

    It wants to know how many features will ever come, "for ease of coding"; it is given those there have been, and its
    weights are made longer by zeros, which it begins with. A missing feature is 0, and False in the mask.
    """

    def __init__(self) -> None:
        self._model = _algorithm("olvf")(**SETTINGS, n_feat0=0)

    def score(self, row: Floats) -> float:
        """Return the score of its instance classifier, with the sign of its answer.

        haphazard's own wrapper for many classes compares scores without a sign, so that the surest "no" wins. And the
        model's `predict` would take the features of the row for learnt.
        """
        shared = self._model.featureSet.intersection(np.flatnonzero(~np.isnan(row)).tolist())
        answer, size = self._model.instanceClassifier.predict(sorted(shared), np.nan_to_num(row))
        return float(size if answer else -size)

    def learn(self, row: Floats, *, own: bool) -> None:
        """Update both of its classifiers."""
        spaces, instances = self._model.featureSpaceClassifier, self._model.instanceClassifier
        more = (0, len(row) - len(instances.w))
        spaces.w_bar, instances.w = np.pad(spaces.w_bar, more), np.pad(instances.w, more)
        self._model.partial_fit(np.nan_to_num(row), ~np.isnan(row), int(own))


def olvf(space: FeatureSpace, seed: int, memory: int) -> OneVsRest:
    """One OLVF per class; by chance only where it has met none of a record's features."""
    del memory
    np.random.seed(seed)  # noqa: NPY002 (it draws from there)
    return OneVsRest(space, OlvfLearner)


@cache
def _algorithm(name: str) -> Any:  # noqa: ANN401 (mypy does not read haphazard)
    """Return the class of an algorithm, from its file alone."""
    path = metadata.distribution("haphazard").locate_file(f"haphazard/models/model_zoo/{name}/{name}.py")
    return runpy.run_path(str(path))[name.upper()]
