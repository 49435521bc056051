"""Triplets: who is pulled to whom, and who is pushed away."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core.arrays import squared_distances
from eml.core.triplets import Triplets, local_triplets
from tests.unit.core.helpers import Values


def problem(counts: tuple[int, ...], seed: int = 0) -> tuple[Values, Values]:
    """Distances between samples of classes of these sizes, and their labels, mixed."""
    random = np.random.default_rng(seed)
    labels = random.permutation(np.repeat(np.arange(len(counts)), counts))
    X = random.normal(size=(len(labels), 3)) + labels[:, None]
    return squared_distances(X, X), labels


COUNTS = st.lists(st.integers(1, 12), min_size=2, max_size=4).map(tuple)


@given(counts=COUNTS, m=st.integers(1, 5), seed=st.integers(0, 1000))
def test_signatures_are_the_nearest_of_their_classes(counts, m, seed):
    D, labels = problem(counts, seed)
    anchors = np.random.default_rng(seed).permutation(len(labels))[: max(1, len(labels) // 2)]
    triplets = local_triplets(D[anchors], anchors, labels, m)
    able = [a for a in anchors if (labels == labels[a]).sum() > 1]
    assert sorted(triplets.P[:, 0].tolist()) == sorted(able)  # one each, and P starts with the anchor
    for P, Q, K in zip(triplets.P, triplets.Q, triplets.K, strict=True):
        anchor = P[0]
        order = np.argsort(D[anchor], kind="stable")
        fellows = [i for i in order if labels[i] == labels[anchor]][: 2 * m]
        others = [i for i in order if labels[i] != labels[anchor]][:m]
        half = min(m, (len(fellows) + 1) // 2)
        assert set(P) == set(fellows[:half])
        assert set(Q) == set(fellows[half:])
        assert set(K) == set(others)


def test_signatures_of_small_classes_repeat_what_there_is():
    labels = np.array([0, 0, 1])
    X = np.array([[0.0], [1.0], [5.0]])
    triplets = local_triplets(squared_distances(X, X), np.arange(3), labels, 4)
    assert triplets.P.tolist() == [[0] * 4, [1] * 4]
    assert triplets.Q.tolist() == [[1] * 4, [0] * 4]
    assert triplets.K.tolist() == [[2] * 4] * 2


def test_a_class_of_one_sample_opposes_others_but_has_no_triplet_of_its_own():
    D, labels = problem((1, 6))
    triplets = local_triplets(D, np.arange(7), labels, 2)
    assert len(triplets) == 6
    assert (labels[triplets.K] == 0).all()


@pytest.mark.parametrize("count", [1, 2, 9])
def test_one_class_alone_has_no_triplets(count):
    D, labels = problem((count,))
    triplets = local_triplets(D, np.arange(count), labels, 3)
    assert len(triplets) == 0
    assert triplets.P.shape == triplets.Q.shape == triplets.K.shape == (0, 3)


def test_an_anchor_is_in_its_own_signature_even_where_rounding_put_it_off():
    D, labels = problem((6, 6))
    D[np.arange(12), np.arange(12)] = 100.0
    before = D.copy()
    triplets = local_triplets(D, np.arange(12), labels, 2)
    assert sorted(triplets.P[:, 0].tolist()) == list(range(12))
    np.testing.assert_array_equal(D, before)  # the caller's distances are left alone


def test_compact_triplets_are_the_same_over_fewer_samples():
    D, labels = problem((30, 30, 30))
    anchors = np.array([4, 50, 71])
    triplets = local_triplets(D[anchors], anchors, labels, 4)
    compact, involved = triplets.compact()
    for mine, theirs in ((compact.P, triplets.P), (compact.Q, triplets.Q), (compact.K, triplets.K)):
        np.testing.assert_array_equal(involved[mine], theirs)
    assert len(np.unique(involved)) == len(involved) < 90
    assert np.array_equal(np.unique(np.stack([compact.P, compact.Q, compact.K])), np.arange(len(involved)))


def test_the_length_of_triplets_is_their_number():
    none = np.zeros((5, 2), dtype=np.intp)
    assert len(Triplets(none, none, none)) == 5
