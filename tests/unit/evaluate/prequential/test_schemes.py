"""Which features a stage has: chunks that come, go, and come back."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.evaluate.catalogue import SCHEMES
from eml.evaluate.errors import EvaluationError
from eml.evaluate.prequential.measures import measure
from eml.evaluate.prequential.methods import REGISTRY
from eml.evaluate.prequential.play import play
from eml.evaluate.prequential.schemes import groups, stages

OURS = ("eml", "eml-announced", "restart", "drop-only")


def columns(scheme, switches, split=(2, 4, 2)):
    return [part.tolist() for part in stages(scheme, split, switches)]


@given(split=st.tuples(st.integers(0, 40), st.integers(1, 40), st.integers(1, 40)))
def test_groups_hold_every_column_once_and_begin_and_end_with_the_split(split):
    ring = groups(split)
    assert np.concatenate(ring).tolist() == list(range(sum(split)))
    assert (len(ring[0]), len(ring[-1])) == (split[0], split[2])


def test_sudden_features_come_chunk_after_chunk():
    assert columns("sudden", 3) == [[0, 1], [0, 1, 2, 3], [0, 1, 2, 3, 4, 5], list(range(8))]


def test_obsolete_features_go_chunk_after_chunk():
    assert columns("obsolete", 3) == [list(range(8)), [2, 3, 4, 5, 6, 7], [4, 5, 6, 7], [6, 7]]


def test_reappearing_features_go_and_come_back():
    absent = [sorted(set(range(8)) - set(stage)) for stage in columns("reappearing", 5)]
    assert absent == [[], [0, 1], [], [2, 3], [], [4, 5]]
    assert columns("reappearing", 2) == [list(range(8)), [4, 5, 6, 7], list(range(8))]


@given(scheme=st.sampled_from(SCHEMES), switches=st.integers(2, 6), split=st.tuples(*[st.integers(3, 9)] * 3))
def test_every_switch_changes_the_features_and_every_feature_comes(scheme, switches, split):
    found = stages(scheme, split, switches)
    assert len(found) == switches + 1
    assert all(len(part) and (np.diff(part) > 0).all() for part in found)
    assert all(set(before.tolist()) != set(after.tolist()) for before, after in pairwise(found))
    assert set(np.concatenate(found).tolist()) == set(range(sum(split)))


def test_what_makes_no_stream_is_refused():
    with pytest.raises(EvaluationError, match="--switches 2"):
        stages("reappearing", (2, 4, 2), 1)
    with pytest.raises(EvaluationError, match="8 columns are too few for 9 chunks"):
        stages("sudden", (2, 4, 2), 8)


@pytest.mark.parametrize("scheme", ["sudden", "obsolete", "reappearing"])
@pytest.mark.parametrize("name", OURS)
def test_every_method_gets_through_every_scheme(make_course, name, scheme):
    course = make_course(switches=3, scheme=scheme)
    figures = measure(course, play(course, REGISTRY[name](course.stages[0].space, 0, 64)), 0.0)
    assert figures.after > (40.0 if name == "restart" else 55.0)  # chance is 33, and a restart is silent at first
