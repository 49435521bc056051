"""OpenMOA's learners for changing features in the stream, with its defaults where nothing else is said.

Made by `peer`, in the peers' environment: the only module of the harness that imports OpenMOA. Its learners are plain
numpy, but its schema is a Java object, so a JVM is started (Java 17 must be on the path).

Missing features are encoded as OpenMOA's own `TrapezoidalStream` and `EvolvableStream` do: one vector over all
features, NaN where a record lacks one. Unlike there it covers the features there have been so far, not those to come;
its learners grow with it. FTRL and FESL take an exact 0 for absent, too, which adds nothing to a sum. FESL and OVFM
know two classes only: one per class, compared by the probability it gives.
"""

from typing import Any

import numpy as np
from openmoa.classifier import FESLClassifier, FTRLClassifier, OVFMClassifier
from openmoa.instance import Instance, LabeledInstance
from openmoa.stream import Schema

from eml.core import FeatureSpace
from eml.evaluate.datasets import Floats
from eml.evaluate.prequential.padded import OneVsRest, PaddedMethod

FEWEST_OUTPUTS = 3  # with two it is no softmax, but one output
FESL_STEP = 0.01


class OpenMoaLearner:
    """An OpenMOA classifier of two classes."""

    def __init__(self, schema: Any, classifier: Any) -> None:  # noqa: ANN401 (mypy does not read OpenMOA)
        self._schema, self._classifier = schema, classifier

    def score(self, row: Floats) -> float:
        """Return the probability of the own class."""
        return float(self._classifier.predict_proba(Instance.from_array(self._schema, row))[1])

    def learn(self, row: Floats, *, own: bool) -> None:
        """Train on the row."""
        self._classifier.train(LabeledInstance.from_array(self._schema, row, int(own)))


class OvfmLearner(OpenMoaLearner):
    """OVFM, whose batch may be half full when features come: 1.0.1 stops there, for the rows in it stay short."""

    def learn(self, row: Floats, *, own: bool) -> None:
        """Train on the row, the waiting ones made as wide as it is."""
        waiting = self._classifier._instance_buffer  # noqa: SLF001 (it has no other door)
        waiting[:] = [np.pad(old, (0, len(row) - len(old)), constant_values=np.nan) for old in waiting]
        super().learn(row, own=own)


class Softmax(PaddedMethod):
    """FTRL over all classes at once, in one model.

    Its schema wants the number of classes beforehand. It is given the fewest that make a softmax, and grows by one
    output, with what it would have begun with, when a class comes that it has none for.
    """

    def __init__(self, space: FeatureSpace, seed: int) -> None:
        super().__init__(space)
        self._schema = _schema(space, FEWEST_OUTPUTS)
        self._classifier = FTRLClassifier(self._schema, random_seed=seed)
        self._classes: list[int] = []  # by output

    def _answer(self, row: Floats) -> int | None:
        shares = self._classifier.predict_proba(Instance.from_array(self._schema, row))
        likely = zip(shares.tolist(), self._classes, strict=False)  # an output may have no class yet
        return max(likely, key=lambda pair: pair[0], default=(0.0, None))[1]

    def _take(self, row: Floats, label: int) -> None:
        if label not in self._classes:
            self._classes.append(label)
            if len(self._classes) > self._classifier.n_outputs:
                _add_output(self._classifier)
        self._classifier.train(LabeledInstance.from_array(self._schema, row, self._classes.index(label)))


def ftrl(space: FeatureSpace, seed: int, memory: int) -> Softmax:
    """Follow the regularised leader, a softmax; nothing in it is random or bounded.

    One model per class, as the others have it, gets 5 points less on Gas and 6 on DSADS.
    """
    del memory
    return Softmax(space, seed)


def fesl(space: FeatureSpace, seed: int, memory: int) -> OneVsRest:
    """Feature-evolvable streaming learning; it notices a switch by itself, from the features of two records.

    Its step is River's, 0.01; with its own default, 0.1, it gets more than 20 points less on DSADS and 2 on Gas.
    """
    del memory
    schema = _schema(space, 2)
    return OneVsRest(space, lambda: OpenMoaLearner(schema, FESLClassifier(schema, alpha=FESL_STEP, random_seed=seed)))


def ovfm(space: FeatureSpace, seed: int, memory: int) -> OneVsRest:
    """Online learning in variable feature spaces, in batches of 50; it remembers 200 values of each feature.

    Its pattern is `tds`, features that come: with the default, `vfs`, 1.0.1 fails when a vector becomes longer.
    """
    del memory
    schema = _schema(space, 2)
    return OneVsRest(
        space, lambda: OvfmLearner(schema, OVFMClassifier(schema, evolution_pattern="tds", random_seed=seed))
    )


def _schema(space: FeatureSpace, classes: int) -> Any:  # noqa: ANN401 (mypy does not read OpenMOA)
    labels = [str(number) for number in range(classes)]
    return Schema.from_custom(list(space.names), dataset_name="stream", values_for_class_label=labels)


def _add_output(classifier: Any) -> None:  # noqa: ANN401 (mypy does not read OpenMOA)
    for name in ("z", "n", "w"):
        setattr(classifier, name, np.pad(getattr(classifier, name), ((0, 0), (0, 1))))
    classifier.n_outputs += 1
    classifier.n_classes += 1
