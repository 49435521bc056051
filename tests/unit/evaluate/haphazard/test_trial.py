"""The benchmark's streams, its measure, and what a method is handed."""

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.evaluate.catalogue import HAPHAZARD_METHODS
from eml.evaluate.errors import EvaluationError
from eml.evaluate.haphazard.methods import PEERS, REGISTRY, Majority
from eml.evaluate.haphazard.streams import Source
from eml.evaluate.haphazard.trial import HaphazardTrial, measure, perform
from eml.evaluate.prequential.peer import FACTORIES
from eml.evaluate.prequential.play import play
from tests.unit.evaluate.prequential.conftest import Recorder


def test_the_catalogue_names_what_there_is():
    assert set(HAPHAZARD_METHODS) == {*REGISTRY, *PEERS}
    assert set(PEERS.values()) <= set(FACTORIES)


def test_a_stream_has_the_records_in_order_and_nan_for_what_is_not_there(masked_file):
    with np.load(masked_file) as arrays:
        samples, labels, mask = arrays["X"], arrays["y"], arrays["mask50"]
    (stage,) = Source.own(str(masked_file)).load().stream(50).stages
    there = mask & ~np.isnan(samples)
    np.testing.assert_array_equal(~np.isnan(stage.X), there)
    np.testing.assert_array_equal(stage.X[there], samples[there])
    assert [["no", "yes"][code] for code in stage.y] == labels.tolist()
    assert stage.labelled.all()


def test_each_record_is_predicted_before_its_label_is_given(masked_file):
    recorder = Recorder()
    play(Source.own(str(masked_file)).load().stream(80), recorder)
    assert [what for what, _ in recorder.received] == ["predict", "learn"] * 80


def test_no_answer_counts_as_class_0_and_every_class_alike():
    outcome = measure(np.array([0, 0, 1, 1, 1, 1]), np.array([-1, 1, -1, 1, 1, 1]), 2.0)
    assert (outcome.silent, outcome.seconds) == (2, 2.0)
    assert outcome.balanced == pytest.approx(62.5)
    assert outcome.accuracy == pytest.approx(100 * 4 / 6)


def test_the_majority_so_far():
    method = Majority(FeatureSpace(("a",)), 0, 0)
    row = np.zeros((1, 1))
    given = []
    for label in (1, 0, 0, 1, 1):
        given += method.predict(row)
        method.learn(row, [label])
    assert given == [None, 1, 0, 0, 0]


def test_a_trial_gives_the_same_again(masked_file):
    trial = HaphazardTrial(Source.own(str(masked_file)), 50, 0, "eml", 64)
    first, again = perform(trial), perform(trial)
    assert (first.balanced, first.silent) == (again.balanced, again.silent)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"y": np.arange(80)}, "80 classes; the benchmark's streams have two"),
        ({"mask50": np.ones((80, 4), dtype=bool)}, r"mask50 must have the shape of X, \(80, 5\)"),
        ({"mask50": None, "mask80": None}, "no masks in it"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_the_reason(masked_file, change, complaint):
    with np.load(masked_file) as arrays:
        content = {name: values for name, values in {**arrays, **change}.items() if values is not None}
    np.savez(masked_file, **content)
    with pytest.raises(EvaluationError, match=complaint):
        Source.own(str(masked_file)).load()
